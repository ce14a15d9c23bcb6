package lz4

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// encode runs Encode with guard bytes around its output.
func encode(t testing.TB, e *Encoder, src []byte, room, acceleration int) []byte {
	t.Helper()
	all := bytes.Repeat([]byte{0x5a}, room+80)
	n := e.Encode(all[40:40+room], src, acceleration)
	if guard := strings.Repeat("\x5a", 40); string(all[:40]) != guard || string(all[40+room:]) != guard {
		t.Fatalf("%d bytes into %d: wrote outside", len(src), room)
	}
	return all[40 : 40+n]
}

// want is the block that another port of the C library's encoder gives.
func want(src []byte, room, acceleration int) []byte {
	c := lz4.CompressorCCompat{Acceleration: acceleration}
	dst := make([]byte, room)
	n, err := c.CompressBlock(src, dst)
	if err != nil {
		return nil
	}
	return dst[:n]
}

// check compares with the other encoder, and decodes.
func check(t testing.TB, e *Encoder, src []byte, room, acceleration int) int {
	t.Helper()
	got := encode(t, e, src, room, acceleration)
	if want := want(src, room, acceleration); !bytes.Equal(got, want) {
		t.Fatalf("%d bytes into %d, acceleration %d: %d bytes, want %d", len(src), room, acceleration, len(got), len(want))
	}
	if len(got) > 0 {
		back := make([]byte, len(src))
		if n, err := lz4.UncompressBlock(got, back); err != nil || n != len(src) || !bytes.Equal(back, src) {
			t.Fatalf("%d bytes, acceleration %d: does not decode, %v", len(src), acceleration, err)
		}
	}
	return len(got)
}

// contents are the kinds of content.
var contents = []string{"zeros", "noise", "letters", "words", "sine", "ramp", "runs", "mixed"}

// content makes n bytes of a kind.
func content(kind string, n int, r *rand.Rand) []byte {
	b := make([]byte, 0, n+4096)
	for len(b) < n {
		switch kind {
		case "zeros":
			b = append(b, make([]byte, 1000)...)
		case "noise":
			b = binary.LittleEndian.AppendUint64(b, r.Uint64())
		case "letters":
			b = append(b, "ACGT"[r.IntN(4)])
		case "words":
			b = append(b, "the of chunk block frame array super 0123456789 distance"[r.IntN(40):][:1+r.IntN(15)]...)
		case "sine": // the bytes of one place of floats
			b = append(b, byte(math.Float32bits(float32(math.Sin(float64(len(b))/1000)))>>(8*(n%4))))
		case "ramp":
			b = binary.LittleEndian.AppendUint32(b, uint32(len(b)/4))
		case "runs":
			b = append(b, bytes.Repeat([]byte{byte(r.Uint32())}, 1+r.IntN(1<<r.IntN(12)))...)
		case "mixed":
			b = append(b, content(contents[r.IntN(len(contents)-1)], 1+r.IntN(3000), r)...)
			if back := r.IntN(len(b)); r.IntN(2) == 0 { // come back to something from before
				b = append(b, b[back:min(len(b), back+r.IntN(400))]...)
			}
		}
	}
	return b[:n]
}

func TestEncode(t *testing.T) {
	r, e := rand.New(rand.NewPCG(1, 1)), new(Encoder)
	sizes := []int{1, 2, 5, 12, 13, 14, 15, 16, 17, 20, 24, 31, 32, 33, 63, 64, 65, 100, 255, 256, 270, 271, 500, 1000, 4096,
		30_000, 65535, 65536, 65546, 65547, 65548, 70_000, 100_000, 131_072, 200_001}
	blocks := 0
	for _, kind := range contents {
		for _, n := range sizes {
			if testing.Short() && n > 70_000 {
				continue
			}
			src := content(kind, n, r)
			for _, acceleration := range []int{1, 2, 5, 9} {
				bound := n + n/255 + 16
				k := check(t, e, src, bound, acceleration)
				for _, room := range []int{0, 1, k / 2, k - 20, k - 9, k - 2, k - 1, k, k + 1, k + 2, k + 6, k + 20, n - 1, n, bound - 1} {
					if room >= 0 && check(t, e, src, room, acceleration) > 0 {
						blocks++
					}
				}
			}
		}
	}
	if blocks < 2000 {
		t.Errorf("%d blocks only", blocks)
	}
}

// TestEncodeRandom takes many short inputs of all kinds, in rooms of all sizes.
func TestEncodeRandom(t *testing.T) {
	r, e := rand.New(rand.NewPCG(2, 2)), new(Encoder)
	for range 3000 {
		n := r.IntN(1 << r.IntN(15))
		if n == 0 {
			continue
		}
		check(t, e, content(contents[r.IntN(len(contents))], n, r), r.IntN(n+n/100+20), 1+r.IntN(9))
	}
}

func TestEncodeEmpty(t *testing.T) {
	var e Encoder
	if n := e.Encode(nil, nil, 1); n != 0 {
		t.Errorf("%d bytes", n)
	}
	dst := []byte{1}
	if n := e.Encode(dst, nil, 1); n != 1 || dst[0] != 0 {
		t.Errorf("%d bytes, %x", n, dst)
	}
}

func FuzzEncode(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 3))
	for i, kind := range contents {
		f.Add(content(kind, 3000, r), 2000, 1+i)
	}
	f.Add(content("mixed", 70_000, r), 70_000, 5)
	f.Add(content("words", 66_000, r), 40_000, 5)
	var e Encoder
	f.Fuzz(func(t *testing.T, src []byte, room, acceleration int) {
		if len(src) > 0 {
			check(t, &e, src, max(0, min(room, 1<<18)), 1+max(0, acceleration)%9)
		}
	})
}

// BenchmarkEncode compresses blocks beside the other encoder.
func BenchmarkEncode(b *testing.B) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, kind := range contents {
		for _, n := range []int{64 << 10, 128 << 10} {
			src := content(kind, n, r)
			dst := make([]byte, n)
			var e Encoder
			b.Run(fmt.Sprintf("%s/%dK", kind, n>>10), func(b *testing.B) {
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					e.Encode(dst, src, 5)
				}
			})
			c := lz4.CompressorCCompat{Acceleration: 5}
			b.Run(fmt.Sprintf("%s/%dK/other", kind, n>>10), func(b *testing.B) {
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					c.CompressBlock(src, dst)
				}
			})
		}
	}
}
