package ndarray

import (
	"context"
	"testing"

	"github.com/goblosc/blosc2/codec"
)

// BenchmarkViews reads through views what a plain read gives in another order: a plane across the last axis, turned,
// the whole cube, turned and backwards, and a field of items of 16 bytes.
func BenchmarkViews(b *testing.B) {
	ctx := context.Background()
	data := benchData()
	a, err := Create(ctx, "", benchShape, data, benchOptions(codec.LZ4, 5))
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	items, err := CreateBytes(ctx, "", []int64{160, 256, 64}, "[('a', '<f4'), ('b', '<f4'), ('c', '<f8')]", bytesOf(data), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer items.Close()
	must := func(v *View, err error) *View {
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
	dst := make([]float32, len(data))
	for _, c := range []struct {
		name string
		r    Reader
		sel  []Index
	}{
		{"plane", a, []Index{All, All, At(80)}},
		{"plane-transposed", must(Transpose(a, 2, 1, 0)), []Index{At(80)}},
		{"cube", a, nil},
		{"cube-transposed", must(Transpose(a)), nil},
		{"cube-swapped", must(Transpose(a, 1, 0, 2)), nil},
		{"cube-flipped", must(Flip(a)), nil},
		{"field", must(Field(items, "b")), nil},
		{"repeated", must(BroadcastTo(must(Slice(a, At(3), NewAxis)), 160, 256, 256)), nil},
	} {
		shape, err := c.r.SelectionShape(c.sel...)
		if err != nil {
			b.Fatal(err)
		}
		n, _ := product(shape)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(4 * n)
			b.ReportAllocs()
			for b.Loop() {
				if err := ReadInto(ctx, c.r, dst[:n], c.sel...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCopies makes new arrays of an old one.
func BenchmarkCopies(b *testing.B) {
	ctx := context.Background()
	data := benchData()
	o := benchOptions(codec.LZ4, 5)
	a, err := Create(ctx, "", benchShape, data, o)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	v, err := Transpose(a)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		run  func() (*Array, error)
	}{
		{"as-stored", func() (*Array, error) { return Copy(ctx, a, "", nil) }},
		{"transposed", func() (*Array, error) { return Copy(ctx, v, "", nil) }},
		{"reshape", func() (*Array, error) { return Reshape(ctx, a, "", []int64{256, -1}, nil) }},
		{"astype-f8", func() (*Array, error) { return AsType(ctx, a, "", "<f8", nil) }},
		{"astype-i2", func() (*Array, error) { return AsType(ctx, a, "", "<i2", nil) }},
		{"concat", func() (*Array, error) { return Concat(ctx, "", 1, nil, a, a) }},
		{"concat-streamed", func() (*Array, error) { return Concat(ctx, "", 0, nil, a, a) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(4 * len(data)))
			b.ReportAllocs()
			for b.Loop() {
				x, err := c.run()
				if err != nil {
					b.Fatal(err)
				}
				x.Close()
			}
		})
	}
}
