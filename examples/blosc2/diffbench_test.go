package main

import (
	"bufio"
	"bytes"
	"io"
	"testing"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// BenchmarkDiff compares items that are within the tolerance but not equal.
func BenchmarkDiff(b *testing.B) {
	const items = 1 << 16
	for _, dtype := range []string{"<f4", "<f8", "<c16", "<i8"} {
		b.Run(dtype, func(b *testing.B) {
			t, err := meta.ParseDType(dtype)
			if err != nil {
				b.Fatal(err)
			}
			d := &differ{e: &env{out: bufio.NewWriter(io.Discard)}, options: &diffCmd{Tolerance: 1, Relative: 1e-6}, a: t, b: t}
			one := bytes.Repeat([]byte{0x3f}, items*t.Size) // the floats are about 0.7 and 5e-4
			two := bytes.Clone(one)
			for i := 0; i < len(two); i += t.Size {
				two[i]++
			}
			box := ndarray.Box{Start: []int64{0}, Shape: []int64{items}}
			b.SetBytes(int64(len(one)))
			for b.Loop() {
				d.box(box, one, two)
			}
			if d.differ {
				b.Error("they differ")
			}
		})
	}
}
