package shuffle_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/shuffle"
)

// TestPairs checks that each function calls the filter of its name. The tests of the filters are in internal/filters.
func TestPairs(t *testing.T) {
	src := make([]byte, 8*37+5)
	for i := range src {
		src[i] = byte(i * i >> 2)
	}
	type filter = func(dst, src []byte, size int)
	outputs := map[string]string{}
	for name, f := range map[string][2]filter{
		"shuffle":    {shuffle.Shuffle, shuffle.Unshuffle},
		"bitshuffle": {shuffle.BitShuffle, shuffle.BitUnshuffle},
		"bytedelta":  {shuffle.ByteDeltaEncode, shuffle.ByteDeltaDecode},
		"delta": {func(dst, src []byte, size int) { shuffle.DeltaEncode(dst, src, nil, size) },
			func(dst, src []byte, size int) { shuffle.DeltaDecode(dst, src, nil, size) }},
		"delta of a second block": {func(dst, src []byte, size int) { shuffle.DeltaEncode(dst, src, []byte("12345678"), size) },
			func(dst, src []byte, size int) { shuffle.DeltaDecode(dst, src, []byte("12345678"), size) }},
	} {
		dst, back := make([]byte, len(src)), make([]byte, len(src))
		f[0](dst, src, 8)
		if f[1](back, dst, 8); !bytes.Equal(back, src) {
			t.Errorf("%s: other bytes", name)
		}
		if other := outputs[string(dst)]; other != "" || bytes.Equal(dst, src) {
			t.Errorf("%s: the output is that of %q", name, other)
		}
		outputs[string(dst)] = name
	}
}

func TestTrunc(t *testing.T) {
	dst := make([]byte, 4)
	if err := shuffle.TruncPrec(dst, []byte{0xff, 0xff, 0x7f, 0x3f}, 4, 7); err != nil || !bytes.Equal(dst, []byte{0, 0, 0x7f, 0x3f}) {
		t.Errorf("TruncPrec: %x, %v", dst, err)
	}
	if err := shuffle.IntTrunc(dst, []byte{0xff, 0xff, 0xff, 0x7f}, 4, 8); err != nil || !bytes.Equal(dst, []byte{0, 0, 0, 0x7f}) {
		t.Errorf("IntTrunc: %x, %v", dst, err)
	}
	if err := shuffle.TruncPrec(dst, dst, 3, 7); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("TruncPrec of 3 bytes: %v", err)
	}
	if err := shuffle.IntTrunc(dst, dst, 4, 0); !errors.Is(err, shuffle.ErrParam) || shuffle.ErrParam != errs.ErrParam {
		t.Errorf("IntTrunc to 0 bits: %v", err)
	}
}
