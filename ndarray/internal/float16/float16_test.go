package float16

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"testing"
)

// naiveFloat16 returns the number by its definition. h must not be a NaN.
func naiveFloat16(h Float16) float64 {
	sign, exponent, fraction := 1.0, int(h>>10&31), float64(h&1023)
	if h>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return math.Copysign(math.Ldexp(fraction, -24), sign)
	case 31:
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// naiveFloat16Of searches for the nearest of all finite numbers, with ties to even.
func naiveFloat16Of(x float64) Float16 {
	var sign Float16
	if math.Signbit(x) {
		sign, x = 0x8000, -x
	}
	lo, hi := Float16(0), Float16(0x7c00) // treats infinity as 65536, the number after the largest
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; naiveFloat16(mid) <= x {
			lo = mid
		} else {
			hi = mid
		}
	}
	above := naiveFloat16(hi)
	if hi == 0x7c00 {
		above = 65536
	}
	if down, up := x-naiveFloat16(lo), above-x; up < down || up == down && hi&1 == 0 || x > 65536 {
		lo = hi
	}
	return sign | lo
}

// TestFloat16 converts every number to floats and back, and floats near the middle between two numbers.
func TestFloat16(t *testing.T) {
	for i := range 1 << 16 {
		h := Float16(i)
		x, y := h.Float32(), h.Float64()
		if h&0x7c00 == 0x7c00 && h&0x3ff != 0 {
			b := math.Float32bits(x)
			if x == x || y == y || b>>31 != uint32(h>>15) || b<<9 != uint32(h)<<22 {
				t.Fatalf("%#x: NaN %#x", i, b)
			}
			if back := Of(x); back != h {
				t.Fatalf("NaN %#x, converted to float32 and back, is %#x", i, uint16(back))
			}
			if back := Of(y); back|0x200 != h|0x200 {
				t.Fatalf("NaN %#x, converted to float64 and back, is %#x", i, uint16(back))
			}
			continue
		}
		if want := naiveFloat16(h); float64(x) != want || y != want || math.Signbit(y) != math.Signbit(want) {
			t.Fatalf("%#x: %v and %v, want %v", i, x, y, want)
		}
		if a, b := Of(x), Of(y); a != h || b != h {
			t.Fatalf("%#x, converted to float32 and float64 and back, is %#x and %#x", i, uint16(a), uint16(b))
		}
		if h&0x7fff >= 0x7c00 {
			continue
		}
		middle := (y + naiveFloat16(h+1)) / 2
		if h&0x7fff == 0x7bff {
			middle = math.Copysign(65520, y)
		}
		for _, m := range []float64{middle, math.Nextafter(middle, 0), math.Nextafter(middle, 2*middle)} {
			if got, want := Of(m), naiveFloat16Of(m); got != want {
				t.Fatalf("%v: %#x, want %#x", m, uint16(got), uint16(want))
			}
			n := float32(m)
			if got, want := Of(n), naiveFloat16Of(float64(n)); got != want {
				t.Fatalf("float32 %v: %#x, want %#x", n, uint16(got), uint16(want))
			}
		}
	}
}

// TestFloat16NumPy compares conversions of all numbers, and of float32s between them, with NumPy. The checksums are
// crc32(h.astype('<f4')), crc32(h.astype('<f8')) without NaNs, and crc32(x.astype('<f2')). h holds all 65536 numbers. x
// holds the float32s whose upper 19 bits are i and whose lower 13 bits are 0, 1, 0xfff, 0x1000, 0x1001 and 0x1fff, for
// i from 0 to 2^19-1.
func TestFloat16NumPy(t *testing.T) {
	var single, double, half []byte
	for i := range 1 << 16 {
		h := Float16(i)
		single = binary.LittleEndian.AppendUint32(single, math.Float32bits(h.Float32()))
		if x := h.Float64(); x == x {
			double = binary.LittleEndian.AppendUint64(double, math.Float64bits(x))
		}
	}
	for i := range uint32(1 << 19) {
		for _, low := range []uint32{0, 1, 0xfff, 0x1000, 0x1001, 0x1fff} {
			half = binary.LittleEndian.AppendUint16(half, uint16(Of(math.Float32frombits(i<<13|low))))
		}
	}
	for _, c := range []struct {
		what string
		b    []byte
		want uint32
	}{{"to float32", single, 0xe0c069f3}, {"to float64", double, 0xbb560c3d}, {"from float32", half, 0x5e6dcd89}} {
		if got := crc32.ChecksumIEEE(c.b); got != c.want {
			t.Errorf("%s: checksum %#x, want %#x", c.what, got, c.want)
		}
	}
}

// TestFloat16Text checks the String method.
func TestFloat16Text(t *testing.T) {
	for x, want := range map[float64]string{
		0.1: "0.1", 0x1p-6: "0.01563", -0x1p-6: "-0.01563", 65504: "65500", 1.0 / 3: "0.3333", 1e-7: "1e-07", 2049: "2048", 0.25: "0.25", -1: "-1",
		math.Inf(1): "+Inf", math.NaN(): "NaN", math.Copysign(0, -1): "-0",
	} {
		if got := fmt.Sprint(Of(x)); got != want {
			t.Errorf("%v prints as %s, want %s", x, got, want)
		}
	}
	for i := range 1 << 16 {
		if text := Float16(i).String(); len(text) > 12 {
			t.Fatalf("%#x prints as %s", i, text)
		}
	}
}

// FuzzFloat16 compares the rounding of any float64 with a search.
func FuzzFloat16(f *testing.F) {
	f.Add(uint64(0x3ff0000000000000))
	f.Add(math.Float64bits(65520))
	f.Add(math.Float64bits(1.0 / (1 << 25)))
	f.Add(uint64(0x7ff0000000000001))
	f.Fuzz(func(t *testing.T, b uint64) {
		x := math.Float64frombits(b)
		if x != x {
			if h := Of(x); h&0x7c00 != 0x7c00 || h&0x3ff == 0 || uint64(h>>15) != b>>63 {
				t.Fatalf("NaN %#x: %#x", b, uint16(h))
			}
			return
		}
		if got, want := Of(x), naiveFloat16Of(x); got != want {
			t.Fatalf("%v: %#x, want %#x", x, uint16(got), uint16(want))
		}
	})
}

func BenchmarkFloat16(b *testing.B) {
	halves, singles := make([]Float16, 1<<16), make([]float32, 1<<16)
	for i := range halves {
		halves[i] = Float16(i)
	}
	b.Run("to float32", func(b *testing.B) {
		b.SetBytes(int64(2 * len(halves)))
		b.ReportAllocs()
		for b.Loop() {
			for i, h := range halves {
				singles[i] = h.Float32()
			}
		}
	})
	b.Run("from float32", func(b *testing.B) {
		b.SetBytes(int64(4 * len(singles)))
		b.ReportAllocs()
		for b.Loop() {
			for i, x := range singles {
				halves[i] = Of(x)
			}
		}
	})
}
