package numbers

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/cpu/cputest"
)

// allTypes returns all number types, in both byte orders.
func allTypes() []Type {
	var list []Type
	for _, big := range []bool{false, true} {
		for _, x := range []struct {
			kind  byte
			sizes []int
		}{{'b', []int{1}}, {'i', []int{1, 2, 4, 8}}, {'u', []int{1, 2, 4, 8}}, {'f', []int{2, 4, 8}}} {
			for _, n := range x.sizes {
				list = append(list, Type{x.kind, n, big, n})
			}
		}
	}
	return list
}

// TestConversion compares the loops with convertNumbers, for all types, lengths around a piece, and memory that is not
// aligned. NaNs stay NaNs, but their bits may differ.
func TestConversion(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	fused := 0
	for _, from := range allTypes() {
		for _, to := range allTypes() {
			if to.kind == from.kind && to.size == from.size {
				continue
			}
			if from.foreign() && !to.foreign() && swappedLoopFor(to, from) != nil {
				fused++
			}
			f := Conversion(to, from)
			for _, n := range []int{0, 1, 7, piece, piece + 1, 3 * piece} {
				for shift := range 2 {
					src := make([]byte, shift+n*from.size)[shift:]
					for i := range src {
						src[i] = byte(rng.Uint32())
					}
					got, want := make([]byte, shift+n*to.size)[shift:], make([]byte, n*to.size)
					f.Run(got, src)
					convertNumbers(want, src, to, from)
					if !bytes.Equal(quietNaNs(to, got), quietNaNs(to, want)) {
						t.Fatalf("%+v to %+v, %d numbers at %d: the loop and convertNumbers differ", from, to, n, shift)
					}
				}
			}
		}
	}
	// float32; float16; 16 bits to floats of 4 and 8 bytes and integers of 4 and 8; 32 bits to float64 and integers of
	// 8; 16 and 32 bits to smaller integers.
	if want := fusedPairs(); fused != want {
		t.Errorf("%d pairs of types have a loop that also reverses bytes, want %d", fused, want)
	}
}

// fusedPairs returns the number of pairs of types with a loop that reverses bytes. Numbers of one byte have two types,
// one for each byte order.
func fusedPairs() int {
	const float32s, float16s, from16, from32, narrower = 1, 2, 2 * (2 + 4), 2 * (1 + 2), 8 + 8 + 4
	return float32s + float16s + from16 + from32 + narrower
}

// quietNaNs returns numbers with the same bits for every NaN.
func quietNaNs(d Type, b []byte) []byte {
	if d.kind != 'f' {
		return b
	}
	out := bytes.Clone(b)
	var w [1]uint64
	for i := 0; i < len(out); i += d.size {
		d.load(w[:], out[i:])
		if w[0]&(1<<63-1) > 0x7ff<<52 {
			clear(out[i : i+d.size])
			out[i] = 0x7f
		}
	}
	return out
}

// TestConversionAllocations checks that the most common conversions are found without allocating.
func TestConversionAllocations(t *testing.T) {
	if !anyAddress() {
		return // each conversion is a closure that compares addresses
	}
	src, dst := make([]byte, 4), make([]byte, 8)
	for _, big := range []bool{false, true} {
		native := Type{'f', 8, !Type{'f', 8, true, 8}.foreign(), 8}
		got := testing.AllocsPerRun(20, func() {
			float := Conversion(native, Type{'f', 4, big, 4})
			float.Run(dst, src)
			swapped := Conversion(native, Type{'i', 2, !native.big, 2})
			swapped.Run(dst, src[:2])
			order := Conversion(native, Type{'f', 8, !native.big, 8})
			order.Run(dst, dst[:8:8])
		})
		if got > 0 {
			t.Errorf("big-endian %v: %v allocations", big, got)
		}
	}
}

// BenchmarkConversion converts one block of numbers.
func BenchmarkConversion(b *testing.B) {
	big := binary.NativeEndian.Uint16([]byte{0, 1}) == 1
	for _, x := range []struct{ to, from Type }{
		{Type{'f', 8, big, 8}, Type{'f', 4, big, 4}},
		{Type{'f', 8, big, 8}, Type{'f', 4, !big, 4}},
		{Type{'f', 8, big, 8}, Type{'i', 2, !big, 2}},
		{Type{'i', 8, big, 8}, Type{'i', 4, !big, 4}},
		{Type{'f', 4, big, 4}, Type{'f', 4, !big, 4}},
		{Type{'f', 4, big, 4}, Type{'i', 2, big, 2}},
		{Type{'f', 8, big, 8}, Type{'i', 4, big, 4}},
		{Type{'f', 8, big, 8}, Type{'u', 4, big, 4}},
		{Type{'f', 4, big, 4}, Type{'u', 1, big, 1}},
		{Type{'f', 4, big, 4}, Type{'f', 2, big, 2}},
		{Type{'f', 8, big, 8}, Type{'f', 2, big, 2}},
		{Type{'f', 4, big, 4}, Type{'f', 8, big, 8}},
		{Type{'b', 1, big, 1}, Type{'b', 1, big, 1}},
	} {
		b.Run(fmt.Sprintf("%c%d-%c%d-%v", x.from.kind, x.from.size, x.to.kind, x.to.size, x.from.foreign()), func(b *testing.B) {
			cputest.EachBenchmark(b, func(b *testing.B) {
				const n = 2 << 10
				src, dst := make([]byte, n*x.from.size), make([]byte, n*x.to.size)
				f := Conversion(x.to, x.from)
				b.SetBytes(int64(len(dst)))
				for b.Loop() {
					f.Run(dst, src)
				}
			}, cpu.AVX2)
		})
	}
}
