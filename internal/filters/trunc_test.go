package filters

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

// TestTruncLimits walks through every type size and every value of the parameter byte.
func TestTruncLimits(t *testing.T) {
	mantissa := map[int]int{4: 23, 8: 52}
	ints := map[int]int{1: 8, 2: 16, 4: 32, 8: 64}
	for size := -1; size <= 17; size++ {
		for b := -128; b <= 127; b++ {
			bits := int8(b)
			// The rules: b > 0 keeps the b highest bits, b < 0 clears the -b lowest bits. At least one bit is kept, and
			// b is not larger than the number of bits. b = 0 keeps no bit, so it is invalid.
			cleared := func(width int) (int, bool) {
				if b > 0 {
					return width - b, b <= width
				}
				return -b, b < 0 && -b < width
			}
			var wantPrec, wantInt error = errUnsupported, errUnsupported
			z, zInt := 0, 0
			if m, ok := mantissa[size]; ok {
				wantPrec = errParam
				if z, ok = cleared(m); ok {
					wantPrec = nil
				}
			}
			if m, ok := ints[size]; ok {
				wantInt = errParam
				if zInt, ok = cleared(m); ok {
					wantInt = nil
				}
			}
			check := func(name string, f func(dst, src []byte, typeSize int, bits int8) error, check error, want error, z int) {
				src := bytes.Repeat([]byte{0xff}, 47)
				dst := make([]byte, 48)
				dst[47] = 0xA5
				err := f(dst, src, size, bits)
				if !errors.Is(err, want) || !errors.Is(check, want) {
					t.Fatalf("%s of type size %d, %d bits: %v and %v, want %v", name, size, bits, err, check, want)
				}
				if err != nil {
					return
				}
				for i := 0; i < 47; i++ {
					in := i % size * 8 // bits of the word below this byte
					w := byte(0xff)
					for k := range 8 {
						if in+k < z && i < 47/size*size {
							w &^= 1 << k
						}
					}
					if dst[i] != w {
						t.Fatalf("%s of type size %d, %d bits: byte %d is %08b, want %08b", name, size, bits, i, dst[i], w)
					}
				}
				if dst[47] != 0xA5 {
					t.Fatalf("%s wrote past the end of dst", name)
				}
				if err := f(src, src, size, bits); err != nil || !bytes.Equal(src, dst[:47]) {
					t.Fatalf("%s of type size %d, %d bits: wrong in place (%v)", name, size, bits, err)
				}
			}
			check("TruncPrec", TruncPrec, CheckTruncPrec(size, bits), wantPrec, z)
			check("IntTrunc", IntTrunc, CheckIntTrunc(size, bits), wantInt, zInt)
		}
	}
}

func TestTruncPrecValues(t *testing.T) {
	src := make([]byte, 16)
	binary.LittleEndian.PutUint64(src, math.Float64bits(math.Pi))
	binary.LittleEndian.PutUint64(src[8:], math.Float64bits(-math.E))
	if err := TruncPrec(src, src, 8, 10); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{3.140625, -2.716796875} {
		if got := math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:])); got != want {
			t.Errorf("value %d: %v, want %v", i, got, want)
		}
	}
}
