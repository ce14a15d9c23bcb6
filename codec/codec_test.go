package codec_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/goblosc/blosc2/codec"
)

func TestSmoke(t *testing.T) {
	for _, id := range []codec.ID{codec.BloscLZ, codec.LZ4, codec.LZ4HC, codec.Zlib, codec.Zstd} {
		c, err := codec.Set{}.ByID(id)
		if err != nil {
			t.Fatal(err)
		}
		for level := 1; level <= 9; level++ {
			e, err := c.NewEncoder(codec.Params{Level: level})
			if err != nil {
				t.Fatal(err)
			}
			d, err := c.NewDecoder(codec.Params{})
			if err != nil {
				t.Fatal(err)
			}
			src := bytes.Repeat([]byte("The quick brown fox. "), 10000)
			for i := 0; i < len(src); i += 97 {
				src[i] = byte(i * i >> 3)
			}
			for _, n := range []int{0, 1, 16, 100, 1000, 10000, 200000} {
				s := src[:n]
				dst := make([]byte, n)
				k, err := e.Encode(dst, s)
				if err != nil {
					if !errors.Is(err, codec.ErrIncompressible) {
						t.Fatal(err)
					}
					continue
				}
				got := make([]byte, n)
				if err := d.Decode(got, dst[:k]); err != nil {
					t.Fatal(id, level, n, err)
				}
				if !bytes.Equal(got, s) {
					t.Fatal(id, level, n, "differs")
				}
				if n == 200000 {
					t.Log(id, level, n, k)
				}
			}
		}
	}
}
