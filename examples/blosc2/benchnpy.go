package main

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

// npyChunks are the chunks that the array in a .npy file would have.
type npyChunks struct {
	in    *input
	array *ndarray.Array // in memory; only chunks that were read have items
}

// openNPYChunks opens a .npy file.
func openNPYChunks(e *env, path string) (*npyChunks, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	c := &npyChunks{}
	if c.in, err = newFileInput(f, size, path, false); err != nil {
		f.Close()
		return nil, err
	}
	c.in.file = f
	create := &createCmd{}
	d, err := create.itemType(c.in)
	var shape []int64
	var total int64
	if err == nil {
		shape, total, err = create.plan(e, c.in, d.Size)
	}
	if err == nil && c.in.size != total {
		err = wrongSize(c.in.size, total)
	}
	if err == nil {
		c.array, err = ndarray.Zeros(e.ctx, "", shape, d.String(), &ndarray.CreateOptions{Codec: codec.LZ4, Level: 1})
	}
	if err != nil {
		c.in.close()
		return nil, err
	}
	return c, nil
}

// close closes the file and the array.
func (c *npyChunks) close() {
	c.in.close()
	c.array.Close()
}

// read reads the items of chunk i from the file and returns the bytes of the chunk.
func (c *npyChunks) read(ctx context.Context, i int) ([]byte, error) {
	box := c.box(int64(i))
	items, err := c.items(ctx, box)
	if err != nil {
		return nil, err
	}
	if err := c.array.WriteBytes(ctx, items, box.Selection()...); err != nil {
		return nil, err
	}
	return c.array.Frame().ReadChunk(ctx, nil, i)
}

// box returns the items of chunk i.
func (c *npyChunks) box(i int64) ndarray.Box {
	shape, chunks := c.array.Shape(), c.array.Chunks()
	box := ndarray.Box{Start: make([]int64, len(shape)), Shape: make([]int64, len(shape))}
	for k := len(shape) - 1; k >= 0; k-- {
		n := (shape[k]-1)/chunks[k] + 1
		box.Start[k] = i % n * chunks[k]
		box.Shape[k] = min(chunks[k], shape[k]-box.Start[k])
		i /= n
	}
	return box
}

// items returns the items of a box in C order.
func (c *npyChunks) items(ctx context.Context, box ndarray.Box) ([]byte, error) {
	shape := c.array.Shape()
	if !c.in.npy.Fortran {
		return c.runs(ctx, shape, box)
	}
	// They are in C order if the axes are in reverse order.
	reversed := ndarray.Box{Start: slices.Clone(box.Start), Shape: slices.Clone(box.Shape)}
	for _, list := range [][]int64{shape, reversed.Start, reversed.Shape} {
		slices.Reverse(list)
	}
	b, err := c.runs(ctx, shape, reversed)
	if err != nil {
		return nil, err
	}
	a, err := npy.ReadItems(ctx, "", npy.Header{DType: c.in.npy.DType, Fortran: true, Shape: box.Shape}, bytes.NewReader(b), nil)
	if err != nil {
		return nil, err
	}
	return b, errors.Join(a.ReadBytes(ctx, b), a.Close())
}

// runs reads the items of a box from the file, which has the items of an array of a shape in C order.
func (c *npyChunks) runs(ctx context.Context, shape []int64, box ndarray.Box) ([]byte, error) {
	size := int64(c.in.npy.DType.Size)
	b := make([]byte, box.Size()*size)
	run := int64(1) // items that follow each other in the file and in the box
	for k := len(shape) - 1; k >= 0; k-- {
		if run *= box.Shape[k]; box.Shape[k] < shape[k] {
			break
		}
	}
	for i := int64(0); i < box.Size(); i += run {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		off := int64(0)
		for k, at := range position(box, i) {
			off = off*shape[k] + at
		}
		if _, err := c.in.at.ReadAt(b[i*size:][:run*size], c.in.off+off*size); err != nil {
			return nil, err
		}
	}
	return b, nil
}
