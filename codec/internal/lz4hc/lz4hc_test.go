package lz4hc

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/lz4block"
)

// expand decodes a block byte by byte, and checks the rules about its end.
func expand(t *testing.T, src []byte) []byte {
	t.Helper()
	out := []byte{}
	next := func() int {
		c := int(src[0])
		src = src[1:]
		return c
	}
	long := func(n int) int {
		if n == 15 {
			for c := 255; c == 255; n += c {
				c = next()
			}
		}
		return n
	}
	lastMatch := 0
	for {
		token := next()
		literals := long(token >> 4)
		out = append(out, src[:literals]...)
		src = src[literals:]
		if len(src) == 0 {
			if lastMatch > 0 && (literals < lz4block.LastBytes || len(out)-lastMatch < lz4block.TailLength) {
				t.Fatalf("%d literals at the end, last match %d bytes before", literals, len(out)-lastMatch)
			}
			return out
		}
		lastMatch = len(out)
		distance := next()
		distance += next() << 8
		if distance == 0 || distance > len(out) {
			t.Fatalf("distance %d after %d bytes", distance, len(out))
		}
		for range long(token&15) + lz4block.MinMatch {
			out = append(out, out[len(out)-distance])
		}
	}
}

// contents are inputs of n bytes that lead to different matches.
func contents(n int) map[string][]byte {
	r := rand.New(rand.NewSource(int64(n)))
	noise, few, runs, far := make([]byte, n), make([]byte, n), make([]byte, n), make([]byte, n)
	r.Read(noise)
	for i := range few {
		few[i] = byte(r.Intn(3))
	}
	for i := 0; i < n; {
		c := byte(r.Intn(4))
		for run := r.Intn(100); run >= 0 && i < n; run-- {
			runs[i] = c
			i++
		}
	}
	copy(far, noise)
	for i := 65540; i < n; i++ { // matches around the largest distance
		far[i] = far[i-65530-i/1000%10]
	}
	return map[string][]byte{"zeros": make([]byte, n), "noise": noise, "few": few, "runs": runs, "far": far}
}

func TestEncode(t *testing.T) {
	for level := 1; level <= 9; level++ {
		e := NewEncoder(level)
		for _, n := range []int{0, 1, 4, 5, 11, 12, 13, 14, 15, 16, 17, 20, 31, 64, 100, 269, 270, 271, 1000, 4096, 20000, 70000} {
			if n > 20000 && level%4 != 1 || n > 4096 && testing.Short() {
				continue
			}
			for name, src := range contents(n) {
				bound := n + n/255 + 16
				for _, room := range []int{bound, bound - 1, n, n / 2, n / 10} {
					dst := bytes.Repeat([]byte{0x5a}, room+20)
					k := e.Encode(dst[:room], src)
					if string(dst[room:]) != strings.Repeat("\x5a", 20) {
						t.Fatalf("level %d, %s: %d bytes into %d: wrote outside", level, name, n, room)
					}
					if k == 0 {
						if room == bound {
							t.Fatalf("level %d, %s: %d bytes do not fit into the bound", level, name, n)
						}
						continue
					}
					if !bytes.Equal(expand(t, dst[:k]), src) {
						t.Fatalf("level %d, %s: %d bytes into %d: does not decode", level, name, n, room)
					}
				}
			}
		}
	}
}

func TestEncodeKnown(t *testing.T) {
	src := []byte("abcdefgh-abcdefgh-abcdefgh-0123456789")
	for level := 1; level <= 9; level++ {
		dst := make([]byte, 100)
		n := NewEncoder(level).Encode(dst, src)
		// 9 literals, a match of 18 at distance 9, 10 literals.
		if got, want := fmt.Sprintf("%q", dst[:n]), `"\x9eabcdefgh-\t\x00\xa00123456789"`; got != want {
			t.Errorf("level %d: %s, want %s", level, got, want)
		}
	}
}

// TestManyBlocks runs an encoder until its indexes start over, and compares with new ones.
func TestManyBlocks(t *testing.T) {
	for _, level := range []int{1, 3, 9} {
		e := NewEncoder(level)
		for i, end := range []uint32{0, 5000, 1 << 20, 1<<30 - 3000, 1<<30 - 1, 1 << 30, 1<<30 + 1, 1 << 31} {
			for name, src := range contents(3000 + i) {
				e.end = max(e.end, end)
				dst, want := make([]byte, 5000), make([]byte, 5000)
				n := e.Encode(dst, src)
				k := NewEncoder(level).Encode(want, src)
				if !bytes.Equal(dst[:n], want[:k]) {
					t.Errorf("level %d, %s: indexes from %d: %d bytes, %d in a new encoder", level, name, end, n, k)
				}
			}
		}
	}
}

func FuzzEncode(f *testing.F) {
	f.Add([]byte("hello hello hello hello hello hello hello"), 100, 5)
	f.Add(bytes.Repeat([]byte("0123456789abcdefghijklm"), 300), 70, 9)
	f.Add(bytes.Repeat([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), 30), 700, 2)
	encoders := [10]*Encoder{}
	for level := 1; level <= 9; level++ {
		encoders[level] = NewEncoder(level)
	}
	f.Fuzz(func(t *testing.T, src []byte, room, level int) {
		room, level = max(0, min(room, 1<<16)), 1+max(0, level)%9
		all := bytes.Repeat([]byte{0x5a}, room+40)
		n := encoders[level].Encode(all[:room], src)
		if string(all[room:]) != strings.Repeat("\x5a", 40) {
			t.Fatal("wrote outside")
		}
		if n > 0 && !bytes.Equal(expand(t, all[:n]), src) {
			t.Fatalf("%d bytes into %d at level %d: does not decode", len(src), room, level)
		}
	})
}
