package filters

import (
	"bytes"
	"testing"

	"github.com/goblosc/blosc2/internal/cpu/cputest"
)

// FuzzFilters compares every filter without a block shape with its reference, on all kernels.
func FuzzFilters(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef!?"), uint16(4), 3)
	f.Add(randomBytes(1000, 1), uint16(8), 500)
	f.Add(randomBytes(700, 2), uint16(3), 0)
	f.Add(randomBytes(4099, 3), uint16(1), -1)
	f.Add([]byte{}, uint16(1), -1)
	f.Fuzz(func(t *testing.T, src []byte, size16 uint16, refLen int) {
		size := int(size16)%300 + 1
		var ref []byte
		if refLen >= 0 {
			ref = bytes.Repeat([]byte{1, 0x80, 0xff}, refLen%(len(src)+9))
		}
		deltaSize := []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 255}[size%10]
		pairs := []struct {
			name           string
			encode, decode filter
			want           []byte
		}{
			{"shuffle", Shuffle, Unshuffle, naiveShuffle(src, size)},
			{"bitshuffle", BitShuffle, BitUnshuffle, naiveBitShuffle(src, size)},
			{"bytedelta", ByteDeltaEncode, ByteDeltaDecode, naiveByteDelta(src, size)},
			{
				"delta",
				func(dst, src []byte, _ int) { DeltaEncode(dst, src, ref, deltaSize) },
				func(dst, src []byte, _ int) { DeltaDecode(dst, src, ref, deltaSize) },
				naiveDelta(src, ref, deltaSize),
			},
		}
		for _, l := range cputest.Available(levels...) {
			with(l, func() {
				for _, p := range pairs {
					if got := run(t, p.encode, src, size, len(src)%8); !bytes.Equal(got, p.want) {
						t.Errorf("%s: %s of size %d: encoded wrong", l, p.name, size)
					}
					if got := run(t, p.decode, p.want, size, size%8); !bytes.Equal(got, src) {
						t.Errorf("%s: %s of size %d: decoded wrong", l, p.name, size)
					}
				}
			})
		}
	})
}

// FuzzCells takes shapes as they could come from a file: an error, or a permutation that decoding undoes.
func FuzzCells(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), []byte{2, 2}, 4, 2)
	f.Add(make([]byte, 5*7*3), []byte{5, 7, 3}, 1, 3)
	f.Add(make([]byte, 8), []byte{0, 255}, 0, 300)
	f.Fuzz(func(t *testing.T, src, dims []byte, itemSize, edge int) {
		shape := make([]int32, 0, len(dims))
		for _, d := range dims {
			n := int32(d)
			if d >= 0xf0 {
				n = -1 << 31 >> (d & 15) // large and negative
			}
			shape = append(shape, n)
		}
		enc, dec := make([]byte, len(src)), make([]byte, len(src))
		errEnc, errDec := CellEncode(enc, src, itemSize, edge, shape), CellDecode(dec, enc, itemSize, edge, shape)
		if (errEnc == nil) != (errDec == nil) {
			t.Fatalf("encoding: %v, decoding: %v", errEnc, errDec)
		}
		if errEnc == nil && !bytes.Equal(dec, src) {
			t.Fatal("decoding did not undo encoding")
		}
		if MeanEncode(enc, src, itemSize, edge, shape) == nil {
			if err := MeanDecode(dec, enc, itemSize, edge, shape); err != nil {
				t.Fatalf("means written, but not read: %v", err)
			}
		}
	})
}
