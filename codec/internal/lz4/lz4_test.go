package lz4

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// oracle compresses with a port of the C library.
func oracle(src []byte, room, acceleration int) []byte {
	dst := make([]byte, room)
	c := lz4.CompressorCCompat{Acceleration: acceleration}
	n, err := c.CompressBlock(src, dst)
	if err != nil {
		return nil
	}
	return dst[:n]
}

// contents are inputs of n bytes that lead to different matches.
func contents(n int, seed int64) map[string][]byte {
	r := rand.New(rand.NewSource(int64(n) + seed<<32))
	noise, few, runs, far, mixed := make([]byte, n), make([]byte, n), make([]byte, n), make([]byte, n), make([]byte, n)
	r.Read(noise)
	for i := range few {
		few[i] = byte(r.Intn(3))
	}
	for i := 0; i < n; {
		c := byte(r.Intn(4))
		for run := r.Intn(1 << r.Intn(12)); run >= 0 && i < n; run-- {
			runs[i] = c
			i++
		}
	}
	copy(far, noise)
	for i := 65540; i < n; i++ { // matches around the largest distance
		far[i] = far[i-65530-i/1000%10]
	}
	for i := 0; i < n; {
		from := r.Intn(i + 1)
		k := 1 + r.Intn(1<<r.Intn(10))
		if r.Intn(3) == 0 {
			i += copy(mixed[i:min(n, i+k)], noise[i:])
			continue
		}
		for ; k > 0 && i < n; i, from, k = i+1, from+1, k-1 {
			mixed[i] = mixed[from]
		}
	}
	return map[string][]byte{"zeros": make([]byte, n), "noise": noise, "few": few, "runs": runs, "far": far, "mixed": mixed}
}

var lengths = []int{
	0, 1, 4, 5, 11, 12, 13, 14, 15, 16, 17, 20, 31, 32, 33, 47, 64, 100, 269, 270, 271, 1000, 4095, 20000,
	65535, 65536, 65537, 65546, 65547, 65548, 70000, 131072, 200003,
}

// TestEncode compares with the oracle, with one encoder for all inputs.
func TestEncode(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		var e Encoder
		for i, n := range lengths {
			if n > 20000 && testing.Short() && i%3 > 0 {
				continue
			}
			for name, src := range contents(n, 0) {
				for _, acceleration := range []int{1, 2, 5, 9} {
					if testing.Short() && acceleration != 1 && n > 1000 {
						continue
					}
					bound := n + n/255 + 16
					size := len(oracle(src, bound, acceleration))
					for _, room := range []int{bound, bound - 1, n, size + 30, size + 8, size + 1, size, size - 1, size / 2, size - 70} {
						if room < 0 {
							continue
						}
						dst := bytes.Repeat([]byte{0x5a}, room+80)
						k := e.Encode(dst[:room], src, acceleration)
						if string(dst[room:]) != strings.Repeat("\x5a", 80) {
							t.Fatalf("%s: %d bytes into %d: wrote outside", name, n, room)
						}
						if !bytes.Equal(dst[:k], oracle(src, room, acceleration)) {
							t.Fatalf("%s: %d bytes into %d, acceleration %d: %d bytes, differ", name, n, room, acceleration, k)
						}
					}
				}
			}
		}
	})
}

func TestEncodeKnown(t *testing.T) {
	src := []byte("abcdefgh-abcdefgh-abcdefgh-0123456789")
	forEachKernel(t, func(t *testing.T) {
		dst := make([]byte, 100)
		n := new(Encoder).Encode(dst, src, 1)
		// 9 literals, a match of 18 at distance 9, 10 literals.
		if got, want := fmt.Sprintf("%q", dst[:n]), `"\x9eabcdefgh-\t\x00\xa00123456789"`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// TestManyBlocks runs an encoder over blocks of all lengths, so that its indexes start over in all ways.
func TestManyBlocks(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		var e Encoder
		r := rand.New(rand.NewSource(1))
		rounds := int64(300)
		if testing.Short() {
			rounds = 50
		}
		for seed := range rounds {
			n := r.Intn(1 << (4 + r.Intn(14)))
			for name, src := range contents(n, seed) {
				acceleration := 1 + r.Intn(9)
				dst := make([]byte, n)
				k := e.Encode(dst, src, acceleration)
				if !bytes.Equal(dst[:k], oracle(src, n, acceleration)) {
					t.Fatalf("seed %d, %s: %d bytes, acceleration %d: %d bytes, differ", seed, name, n, acceleration, k)
				}
			}
		}
	})
}

// TestAllocs checks that an encoder allocates nothing.
func TestAllocs(t *testing.T) {
	var e Encoder
	src, dst := contents(70000, 0)["mixed"], make([]byte, 70000)
	if n := testing.AllocsPerRun(10, func() {
		e.Encode(dst, src, 5)
		e.Encode(dst, src[:5000], 5)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzEncode(f *testing.F) {
	f.Add([]byte("hello hello hello hello hello hello hello"), 100, 5)
	f.Add(bytes.Repeat([]byte("0123456789abcdefghijklm"), 300), 70, 9)
	f.Add(bytes.Repeat([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), 30), 700, 2)
	f.Fuzz(func(t *testing.T, src []byte, room, acceleration int) {
		room, acceleration = max(0, min(room, 1<<16)), 1+max(0, acceleration)%9
		want := oracle(src, room, acceleration)
		forEachKernel(t, func(t *testing.T) {
			var e Encoder
			for range 2 { // with a clear table, and with one that is in use
				all := bytes.Repeat([]byte{0x5a}, room+80)
				n := e.Encode(all[:room], src, acceleration)
				if string(all[room:]) != strings.Repeat("\x5a", 80) {
					t.Fatal("wrote outside")
				}
				if len(src) > 0 && !bytes.Equal(all[:n], want) {
					t.Fatalf("%d bytes into %d, acceleration %d: differ", len(src), room, acceleration)
				}
			}
		})
	})
}
