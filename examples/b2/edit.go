package main

import (
	"context"
	"fmt"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// runAppend adds items to an array or a chunk to a super-chunk.
func runAppend(e *env, args []string) error {
	fs := newFlags("append")
	axis := fs.Int("axis", 0, "")
	args, err := parseArgs(fs, args, 1, 2)
	if err != nil {
		return err
	}
	f, err := openEdit(e.ctx, args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	a, arrayErr := ndarray.OpenFrame(f)
	if arrayErr != nil && isArrayFrame(f) {
		return arrayErr
	}
	in, err := openInput(e, append(args, "")[1])
	if err != nil {
		return err
	}
	defer in.close()
	if arrayErr != nil {
		if *axis != 0 {
			return fmt.Errorf("%s: %w: a super-chunk has no axes", args[0], ndarray.ErrNotArray)
		}
		data, err := in.readAll(-1)
		if err == nil && len(data) == 0 {
			err = fmt.Errorf("the input is empty")
		}
		if err != nil {
			return err
		}
		return f.Append(context.Background(), data)
	}
	shape := a.Shape()
	n := int64(-1)
	if in.npy != nil {
		if len(shape) != len(in.npy.Shape) || *axis < 0 || *axis >= len(shape) {
			return fmt.Errorf("the .npy file has shape %s and the array %s, which do not match along axis %d",
				pyTuple(in.npy.Shape), pyTuple(shape), *axis)
		}
		shape[*axis] = in.npy.Shape[*axis]
		var ok bool
		if n, ok = byteCount(shape, a.DType().Size); !ok {
			return ndarray.ErrTooLarge
		}
	}
	data, err := in.items(e.ctx, a.DType(), shape, n)
	if err != nil {
		return err
	}
	return a.AppendBytes(e.ctx, *axis, data)
}

// isArrayFrame reports whether a frame has the metalayer of an array.
func isArrayFrame(f *frame.Frame) bool {
	for _, l := range f.Meta() {
		if l.Name == "b2nd" || l.Name == "caterva" {
			return true
		}
	}
	return false
}

// runResize changes the shape of an array.
func runResize(e *env, args []string) error {
	args, err := parseArgs(newFlags("resize"), args, 2, 2)
	if err != nil {
		return err
	}
	shape, err := parseInts(args[1], 64)
	if err != nil {
		return err
	}
	a, err := openArray(e.ctx, args[0], true)
	if err != nil {
		return err
	}
	defer a.Close()
	return a.Resize(e.ctx, shape...)
}

// runSet writes to a selection.
func runSet(e *env, args []string) error {
	fs := newFlags("set")
	var value *string
	fs.Func("value", "", func(s string) error {
		value = &s
		return nil
	})
	args, err := parseArgs(fs, args, 2, 3)
	if err != nil {
		return err
	}
	if value != nil && len(args) == 3 {
		return usagef("IN and -value exclude each other")
	}
	sel, err := ndarray.ParseSelection(args[1])
	if err != nil {
		return err
	}
	a, err := openArray(e.ctx, args[0], true)
	if err != nil {
		return err
	}
	defer a.Close()
	shape, err := a.SelectionShape(sel...)
	if err != nil {
		return err
	}
	if value != nil {
		item, err := parseItem(a.DType(), *value)
		if err != nil {
			return err
		}
		return a.FillBytes(e.ctx, item, sel...)
	}
	n, ok := byteCount(shape, a.DType().Size)
	if !ok {
		return ndarray.ErrTooLarge
	}
	in, err := openInput(e, append(args, "")[2])
	if err != nil {
		return err
	}
	defer in.close()
	data, err := in.items(e.ctx, a.DType(), shape, n)
	if err != nil {
		return err
	}
	return a.WriteBytes(e.ctx, data, sel...)
}
