package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/examples/compare/cblosc"
	"github.com/goblosc/blosc2/ndarray"
)

// array describes an array that both sides create.
type array struct {
	name           string
	shape          []int64
	chunks, blocks []int32
	dtype          string
	codec          codec.ID
	level          int
	items          []byte
}

// options returns the options for this library.
func (a *array) options(threads int, path string) *ndarray.CreateOptions {
	return &ndarray.CreateOptions{
		Codec: a.codec, Level: a.level, Chunks: widen(a.chunks), Blocks: widen(a.blocks),
		Concurrency: threads, NoSync: true, Overwrite: path != "",
	}
}

// widen returns lengths as 64-bit numbers.
func widen(list []int32) []int64 {
	out := make([]int64, len(list))
	for i, n := range list {
		out[i] = int64(n)
	}
	return out
}

// create creates the array with the C library.
func (a *array) create(path string, threads int, items []byte) (*cblosc.Array, error) {
	size := 4
	if a.dtype == "<u2" {
		size = 2
	}
	_, q := params(a.codec, a.level, []chunk.Filter{chunk.Shuffle}, size)
	q.Threads = threads
	return cblosc.Create(q, path, a.shape, a.chunks, a.blocks, a.dtype, items)
}

// box is a part of an array.
type box struct{ first, stop []int64 }

// shape returns the shape of the box and its number of items.
func (b box) shape() (shape []int64, n int64) {
	n = 1
	for i := range b.first {
		shape = append(shape, b.stop[i]-b.first[i])
		n *= shape[i]
	}
	return shape, n
}

// selection returns the indexes that select the box.
func (b box) selection() (sel []ndarray.Index) {
	for i := range b.first {
		sel = append(sel, ndarray.Span(b.first[i], b.stop[i]))
	}
	return sel
}

// whole returns the box of all items of an array.
func whole(shape []int64) box { return box{make([]int64, len(shape)), shape} }

// arrays returns a volume, whose lengths are multiples of c.edge, and a series of maps.
func (c *config) arrays() (volume, series *array) {
	e := c.edge
	volume = &array{"volume", []int64{1, e + e/4, 2 * e, 2 * e}, []int32{1, int32(e * 3 / 4), int32(e), int32(e)},
		[]int32{1, int32(e / 4), int32(e / 4), int32(e / 4)}, "<f4", codec.LZ4HC, 5, nil}
	volume.items = field(volume.shape)
	days := 15 * e / 8
	series = &array{"series", []int64{days, 181, 360}, []int32{int32(days / 4), 91, 180}, []int32{int32(days / 16), 23, 45},
		"<f4", codec.Zstd, 5, nil}
	series.items = field(series.shape)
	return volume, series
}

// reads runs the cells that read boxes and points, from files in the page cache of the operating system. A plane is at
// the beginning of its blocks, and an inner plane is in the middle: decoding of a block stops after the last selected
// item.
func (c *config) reads() (rows []row, err error) {
	volume, series := c.arrays()
	e := c.edge
	days := series.shape[0]
	for _, a := range []struct {
		*array
		boxes map[string]box
		names []string
	}{
		{volume, map[string]box{
			"patch":       {[]int64{0, e / 8, e / 2, e / 2}, []int64{1, e + e/8, e + e/2, e + e/2}},
			"plane":       {[]int64{0, e / 2, 0, 0}, []int64{1, e/2 + 1, 2 * e, 2 * e}},
			"inner plane": {[]int64{0, e/2 + e/8, 0, 0}, []int64{1, e/2 + e/8 + 1, 2 * e, 2 * e}},
			"item":        {[]int64{0, e / 2, e, e}, []int64{1, e/2 + 1, e + 1, e + 1}},
			"whole":       whole(volume.shape),
		}, []string{"patch", "plane", "inner plane", "item", "whole"}},
		{series, map[string]box{
			"plane":       {[]int64{days / 2, 0, 0}, []int64{days/2 + 1, 181, 360}},
			"inner plane": {[]int64{days/2 + days/32, 0, 0}, []int64{days/2 + days/32 + 1, 181, 360}},
			"time series": {[]int64{0, 100, 200}, []int64{days, 101, 201}},
		}, []string{"plane", "inner plane", "time series"}},
	} {
		path := filepath.Join(c.dir, a.name+".b2nd")
		created, err := ndarray.CreateBytes(context.Background(), path, a.shape, a.dtype, a.items, a.options(0, path))
		if err != nil {
			return rows, err
		}
		created.Close()
		for threads := 1; threads <= 2; threads++ {
			ours, err := ndarray.Open(context.Background(), path, &ndarray.OpenOptions{Concurrency: threads})
			if err != nil {
				return rows, err
			}
			theirs, err := cblosc.Open(path, threads)
			if err != nil {
				return rows, err
			}
			for _, name := range a.names {
				r, err := c.readBox(fmt.Sprintf("%s/%s", a.name, name), threads, a.boxes[name], ours, theirs)
				if err != nil {
					return rows, err
				}
				rows = append(rows, r...)
			}
			if a.array == series {
				r, err := c.readPoints(threads, a.shape, ours, theirs)
				if err != nil {
					return rows, err
				}
				rows = append(rows, r...)
			}
			ours.Close()
			theirs.Close()
		}
	}
	return rows, nil
}

// readBox runs the cell that reads a box.
func (c *config) readBox(name string, threads int, b box, ours *ndarray.Array, theirs *cblosc.Array) ([]row, error) {
	group := fmt.Sprintf("read-%d", threads)
	if !c.wants(group + "/" + name) {
		return nil, nil
	}
	shape, n := b.shape()
	n *= int64(ours.DType().Size)
	dst, cDst, sel, ctx := make([]byte, n), make([]byte, n), b.selection(), context.Background()
	goSide := func() error { return ours.ReadBytes(ctx, dst, sel...) }
	cSide := func() error { return theirs.Read(cDst, b.first, b.stop, shape) }
	return c.equalRace(group, name, n, goSide, cSide, dst, cDst)
}

// equalRace runs both sides once and compares their results before it times them.
func (c *config) equalRace(group, name string, n int64, goSide, cSide func() error, dst, cDst []byte) ([]row, error) {
	if err := goSide(); err != nil {
		return nil, err
	}
	if err := cSide(); err != nil {
		return nil, err
	}
	if !bytes.Equal(dst, cDst) {
		return nil, fmt.Errorf("%s/%s: %w", group, name, errDiffer)
	}
	r, err := c.race(group, name, n, goSide, cSide)
	return []row{r}, err
}

// readPoints runs the cell that reads items at random positions.
func (c *config) readPoints(threads int, shape []int64, ours *ndarray.Array, theirs *cblosc.Array) ([]row, error) {
	group, name := fmt.Sprintf("read-%d", threads), fmt.Sprintf("series/%d points", c.points)
	if !c.wants(group + "/" + name) {
		return nil, nil
	}
	r := rand.New(rand.NewPCG(6, 6))
	_, n := whole(shape).shape()
	at := make([]int64, c.points)
	for i := range at {
		at[i] = r.Int64N(n)
	}
	sel := ndarray.Flat(at...)
	dst, cDst, ctx := make([]byte, 4*c.points), make([]byte, 4*c.points), context.Background()
	goSide := func() error { return ours.ReadBytes(ctx, dst, sel) }
	cSide := func() error { return theirs.Points(cDst, at) }
	return c.equalRace(group, name, int64(4*c.points), goSide, cSide, dst, cDst)
}
