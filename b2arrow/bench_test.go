package b2arrow

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/goblosc/blosc2/internal/tabletest"
	"github.com/goblosc/blosc2/ndarray"
)

// BenchmarkFloat64 reads a column of 10 million rows: as an Arrow array, in batches, and, to compare, as a slice.
func BenchmarkFloat64(b *testing.B) {
	const n = 10_000_000
	ctx := context.Background()
	data := make([]float64, n)
	for i := range data {
		data[i] = float64(i%1000) * 0.25
	}
	builder := build(b, `{"name": "x", "kind": "float64"}`, tabletest.AllLive(n))
	write(builder, "_cols/x", []int64{n}, data)
	tab := builder.open()
	c, err := tab.Column(ctx, "x")
	if err != nil {
		b.Fatal(err)
	}
	run := func(name string, read func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(8 * n)
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("slice", func() error {
		_, err := ndarray.Read[float64](ctx, c.Array())
		return err
	})
	run("column", func() error {
		a, err := Column(ctx, c, 0, n, nil)
		if err == nil {
			a.Release()
		}
		return err
	})
	mem := memory.NewGoAllocator()
	for _, rows := range []int64{1 << 16, 1 << 20} {
		run(map[int64]string{1 << 16: "batches of 65536", 1 << 20: "batches of 1048576"}[rows], func() error {
			for _, err := range Batches(ctx, tab, &Options{Rows: rows, Allocator: mem}) {
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
}
