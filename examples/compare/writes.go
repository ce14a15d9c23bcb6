package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/examples/compare/cblosc"
	"github.com/goblosc/blosc2/ndarray"
)

// writes runs the cells that create, change, open and extend arrays.
func (c *config) writes() (rows []row, err error) {
	volume, _ := c.arrays()
	volume.codec = codec.LZ4
	for threads := 1; threads <= 2; threads++ {
		for _, f := range []func(*array, int) ([]row, error){c.create, c.patch} {
			more, err := f(volume, threads)
			if err != nil {
				return rows, err
			}
			rows = append(rows, more...)
		}
	}
	for _, f := range []func(*array) ([]row, error){c.open, c.appendFrames} {
		more, err := f(volume)
		if err != nil {
			return rows, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// same returns an error unless all items of two arrays are equal.
func same(name string, ours *ndarray.Array, theirs *cblosc.Array) error {
	b := whole(ours.Shape())
	_, n := b.shape()
	n *= int64(ours.DType().Size)
	x, y := make([]byte, n), make([]byte, n)
	if err := ours.ReadBytes(context.Background(), x); err != nil {
		return err
	}
	if err := theirs.Read(y, b.first, b.stop, b.stop); err != nil {
		return err
	}
	if !bytes.Equal(x, y) {
		return fmt.Errorf("%s: %w", name, errDiffer)
	}
	return nil
}

// create runs the cell that creates an array in memory.
func (c *config) create(a *array, threads int) ([]row, error) {
	name := fmt.Sprintf("create/%dt", threads)
	if !c.wants("write/" + name) {
		return nil, nil
	}
	var ours *ndarray.Array
	goSide := func() (err error) {
		ours, err = ndarray.CreateBytes(context.Background(), "", a.shape, a.dtype, a.items, a.options(threads, ""))
		return err
	}
	var theirs *cblosc.Array
	cSide := func() (err error) {
		if theirs != nil {
			theirs.Close()
		}
		theirs, err = a.create("", threads, a.items)
		return err
	}
	return c.sameRace(name, int64(len(a.items)), goSide, cSide, func() error { return same(name, ours, theirs) })
}

// sameRace runs both sides once and calls check before it times them.
func (c *config) sameRace(name string, n int64, goSide, cSide, check func() error) ([]row, error) {
	for _, f := range []func() error{goSide, cSide, check} {
		if err := f(); err != nil {
			return nil, err
		}
	}
	r, err := c.race("write", name, n, goSide, cSide)
	return []row{r}, err
}

// patch runs the cell that writes a cube, which covers chunks and blocks in part.
func (c *config) patch(a *array, threads int) ([]row, error) {
	name := fmt.Sprintf("patch/%dt", threads)
	if !c.wants("write/" + name) {
		return nil, nil
	}
	ctx, e := context.Background(), c.edge
	ours, err := ndarray.CreateBytes(ctx, "", a.shape, a.dtype, a.items, a.options(threads, ""))
	if err != nil {
		return nil, err
	}
	theirs, err := a.create("", threads, a.items)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	b := box{[]int64{0, e / 8, e / 2, e / 2}, []int64{1, e + e/8, e + e/2, e + e/2}}
	shape, n := b.shape()
	src, sel := a.items[:4*n], b.selection()
	goSide := func() error { return ours.WriteBytes(ctx, src, sel...) }
	cSide := func() error { return theirs.Write(src, b.first, b.stop, shape) }
	return c.sameRace(name, 4*n, goSide, cSide, func() error { return same(name, ours, theirs) })
}

// open runs the cells that open and close a file, without and with a read of a slice.
func (c *config) open(a *array) (rows []row, err error) {
	path, ctx := filepath.Join(c.dir, "open.b2nd"), context.Background()
	created, err := ndarray.CreateBytes(ctx, path, a.shape, a.dtype, a.items, a.options(0, path))
	if err != nil {
		return nil, err
	}
	created.Close()
	e := c.edge
	b := box{[]int64{0, e / 2, e, 0}, []int64{1, e/2 + 1, e + 1, 2 * e}}
	shape, n := b.shape()
	dst, cDst, sel := make([]byte, 4*n), make([]byte, 4*n), b.selection()
	o := &ndarray.OpenOptions{Concurrency: 1}
	for _, name := range []string{"open", "open and slice"} {
		if !c.wants("write/" + name) {
			continue
		}
		slice := name != "open"
		goSide := func() error {
			x, err := ndarray.Open(ctx, path, o)
			if err == nil && slice {
				err = x.ReadBytes(ctx, dst, sel...)
			}
			if err == nil {
				err = x.Close()
			}
			return err
		}
		cSide := func() error {
			x, err := cblosc.Open(path, 1)
			if err == nil && slice {
				err = x.Read(cDst, b.first, b.stop, shape)
			}
			if err == nil {
				x.Close()
			}
			return err
		}
		more, err := c.equalRace("write", name, 4*n, goSide, cSide, dst, cDst)
		if err != nil {
			return rows, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// appendFrames runs the cell that appends images to an array in a file, with one commit for each image.
func (c *config) appendFrames(*array) ([]row, error) {
	name := fmt.Sprintf("append %d frames", c.frames)
	if !c.wants("write/" + name) {
		return nil, nil
	}
	ctx := context.Background()
	a := &array{"frames", []int64{0, 256, 256}, []int32{1, 256, 256}, []int32{1, 64, 256}, "<u2", codec.LZ4, 1, nil}
	image := make([]byte, 2*256*256)
	sets[3].fill(image)
	ourPath, cPath := filepath.Join(c.dir, "ours.b2nd"), filepath.Join(c.dir, "theirs.b2nd")
	goSide := func() error {
		x, err := ndarray.Zeros(ctx, ourPath, a.shape, a.dtype, a.options(1, ourPath))
		for i := 0; i < c.frames && err == nil; i++ {
			err = x.AppendBytes(ctx, 0, image)
		}
		if err == nil {
			err = x.Close()
		}
		return err
	}
	cSide := func() error {
		x, err := a.create(cPath, 1, nil)
		for i := 0; i < c.frames && err == nil; i++ {
			err = x.Append(image)
		}
		if err == nil {
			x.Close()
		}
		return err
	}
	return c.sameRace(name, int64(c.frames*len(image)), goSide, cSide, func() error {
		x, err := ndarray.Open(ctx, ourPath, nil)
		if err != nil {
			return err
		}
		defer x.Close()
		y, err := cblosc.Open(cPath, 1)
		if err != nil {
			return err
		}
		defer y.Close()
		return same(name, x, y)
	})
}
