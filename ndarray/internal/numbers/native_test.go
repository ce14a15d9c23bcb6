package numbers

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/ndarray/internal/float16"
)

// edges are floats near the limits of integers and of float16, and halfway between two float16 numbers.
func edges() []float64 {
	list := []float64{0, 0.5, 1, 0x1p-14, 0x1p-15, 0x1p-24, 0x1p-25, 0x3p-25, 65504, 65519, 65520, math.MaxFloat32,
		math.Inf(1), math.NaN()}
	for _, n := range []int{7, 8, 15, 16, 31, 32, 53, 63, 64} {
		list = append(list, math.Ldexp(1, n))
	}
	for e := -25; e < 16; e++ {
		list = append(list, math.Ldexp(1+1.0/2048, e), math.Ldexp(1+3.0/2048, e), math.Ldexp(2-1.0/2048, e))
	}
	for _, x := range list {
		up, down := math.Inf(1), math.Inf(-1)
		up32, down32 := float32(up), float32(down)
		list = append(list, math.Nextafter(x, up), math.Nextafter(x, down), x-1, x+1, x-0.5,
			float64(math.Nextafter32(float32(x), up32)), float64(math.Nextafter32(float32(x), down32)))
	}
	for _, x := range list {
		list = append(list, -x)
	}
	return list
}

// withComplex returns all number types, in both byte orders.
func withComplex() []Type {
	list := allTypes()
	for _, big := range []bool{false, true} {
		list = append(list, Type{'c', 4, big, 8}, Type{'c', 8, big, 16})
	}
	return list
}

// storeNumber stores a float as a number of a type.
func storeNumber(d Type, item []byte, x float64) {
	w := [1]uint64{math.Float64bits(x)}
	switch d.kind {
	case 'f', 'c':
		d.fromAny(w[:], 'f')
	default:
		d.fromFloats(w[:], 8)
	}
	d.store(item, w[:])
}

// checkConversion compares a conversion with convertNumbers. The memory of dst and src begins shift bytes after that of
// a slice. NaNs stay NaNs, but their bits may differ.
func checkConversion(t *testing.T, to, from Type, src []byte, shift int) {
	n := len(src) / from.bytes
	got, want := make([]byte, shift+n*to.bytes)[shift:], make([]byte, n*to.bytes)
	l := Conversion(to, from)
	l.Run(got, append(make([]byte, shift), src...)[shift:])
	convertNumbers(want, src, to, from)
	part := to
	if to.kind == 'c' {
		part = to.part()
	}
	got, want = quietNaNs(part, got), quietNaNs(part, want)
	for i := range n {
		if x, y := got[i*to.bytes:][:to.bytes], want[i*to.bytes:][:to.bytes]; !bytes.Equal(x, y) {
			t.Fatalf("%+v to %+v, number %d of %d, %x: %x, want %x", from, to, i, n, src[i*from.bytes:][:from.bytes], x, y)
		}
	}
}

// TestConvert compares all conversions with convertNumbers, also of complex numbers, for edges, special and random
// numbers.
func TestConvert(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	list := edges()
	for _, from := range withComplex() {
		at := make([]byte, from.bytes*len(list))
		random := make([]byte, from.bytes*(3*piece+5))
		part := from
		if part.kind == 'c' {
			part = part.part()
		}
		for i, x := range list {
			storeNumber(from, at[i*from.bytes:], x)
		}
		randomNumbers(rng, random, part)
		for _, to := range withComplex() {
			if to.kind == from.kind && to.size == from.size {
				continue
			}
			checkConversion(t, to, from, at, 0)
			checkConversion(t, to, from, random, rng.IntN(9))
		}
	}
}

// FuzzConvert does the same for any bytes.
func FuzzConvert(f *testing.F) {
	f.Add(uint8(0), uint8(5), uint8(0), []byte("0123456789abcdef"))
	f.Add(uint8(13), uint8(25), uint8(1), bytes.Repeat([]byte{0xc7, 0x7f, 0, 0x80}, 200))
	list := withComplex()
	f.Fuzz(func(t *testing.T, to, from, shift uint8, src []byte) {
		d, s := list[int(to)%len(list)], list[int(from)%len(list)]
		if d.kind != s.kind || d.size != s.size {
			checkConversion(t, d, s, src[:len(src)/s.bytes*s.bytes], int(shift)%64)
		}
	})
}

// TestHalfOf compares the conversions to float16 with float16.Of, bit for bit: one float32 of 1000, and edges.
func TestHalfOf(t *testing.T) {
	check := func(b uint32) {
		x := math.Float32frombits(b)
		if got, want := halfOf32(b), uint16(float16.Of(x)); got != want {
			t.Fatalf("float32 %#x: %#x, want %#x", b, got, want)
		}
	}
	check64 := func(b uint64) {
		if got, want := halfOf64(b), uint16(float16.Of(math.Float64frombits(b))); got != want {
			t.Fatalf("float64 %#x: %#x, want %#x", b, got, want)
		}
	}
	for i := uint64(0); i < 1<<32; i += 997 {
		check(uint32(i))
		check64(i<<32 | i*i&math.MaxUint32)
		check64(math.Float64bits(float64(math.Float32frombits(uint32(i)))))
	}
	for i := range uint32(1 << 16) { // all float16, the middles between them, and their neighbors
		x := half32(uint16(i))
		for d := range uint32(3) {
			check(x + d - 1)
			check(x + 1<<12 + d - 1)
			y := half64(uint16(i)) + uint64(d) - 1
			check64(y)
			check64(y + 1<<41)
		}
	}
	for _, x := range specials {
		check(uint32(x))
		check64(x)
	}
}

// TestConvertAllocations checks that conversions to smaller types allocate nothing.
func TestConvertAllocations(t *testing.T) {
	if !anyAddress() {
		return // each conversion is a closure that compares addresses
	}
	src, dst := make([]byte, 64*16), make([]byte, 64*2)
	for _, from := range withComplex() {
		if from.kind == 'b' || from.size < 4 {
			continue
		}
		for _, to := range []Type{{'i', 2, from.big, 2}, {'u', 1, from.big, 1}, {'b', 1, from.big, 1}} {
			if got := testing.AllocsPerRun(10, func() {
				l := Conversion(to, from)
				l.Run(dst[:64*to.size], src[:64*from.bytes])
			}); got > 0 {
				t.Errorf("%+v to %+v: %v allocations", from, to, got)
			}
		}
	}
}
