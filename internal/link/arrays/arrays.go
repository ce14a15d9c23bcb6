// Package arrays has the arrays of docs/PERFORMANCE.md that tests read over a link.
package arrays

import (
	"bytes"
	"context"
	"math"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
)

// Array is an array of <f4 with three axes, and a box of its items.
type Array struct {
	Codec                 codec.ID
	Shape, Chunks, Blocks []int64
	Start, Stop           []int64 // of the box
}

// Series returns an array and a time series of one item.
func Series() Array {
	return Array{codec.Zstd, []int64{365, 180, 360}, []int64{16, 180, 360}, []int64{1, 45, 360}, []int64{0, 45, 90}, []int64{365, 46, 91}}
}

// Plane returns an array and a plane across its blocks.
func Plane() Array {
	return Array{codec.Zstd, []int64{64, 512, 512}, []int64{16, 256, 256}, []int64{2, 64, 64}, []int64{0, 0, 100}, []int64{64, 512, 101}}
}

// Box returns an array with the partition of 512³ items, and a box of 128³ items.
func Box() Array {
	return Array{codec.LZ4HC, []int64{132, 512, 512}, []int64{4, 512, 512}, []int64{1, 32, 512}, []int64{2, 200, 200}, []int64{130, 328, 328}}
}

// Sel returns the selection of the box.
func (a Array) Sel() []ndarray.Index {
	var sel []ndarray.Index
	for i := range a.Start {
		sel = append(sel, ndarray.Span(a.Start[i], a.Stop[i]))
	}
	return sel
}

// Frame returns the array as a contiguous frame, with a block table on request: smooth values with some noise.
func (a Array) Frame(ctx context.Context, blockTable bool) ([]byte, error) {
	n := int64(1)
	for _, x := range a.Shape {
		n *= x
	}
	data := make([]float32, n)
	seed := uint32(1)
	for i := range data {
		seed = seed*1664525 + 1013904223
		data[i] = float32(math.Floor(float64(i%int(a.Shape[2]))*0.3)) + float32(seed>>29)/8
	}
	x, err := ndarray.Create(ctx, "", a.Shape, data, &ndarray.CreateOptions{
		Codec: a.Codec, Chunks: a.Chunks, Blocks: a.Blocks, Concurrency: 2, BlockTable: blockTable,
	})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	var b bytes.Buffer
	_, err = x.Save(ctx, &b)
	return b.Bytes(), err
}
