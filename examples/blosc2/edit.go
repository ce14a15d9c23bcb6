package main

import (
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/ndarray"
)

// appendCmd adds items to an array or a chunk to a super-chunk.
type appendCmd struct {
	progressOption
	rawInput
	Axis int    `placeholder:"N" help:"the axis (default 0); -1 is the last one"`
	Path string `arg:"" name:"PATH"`
	In   string `arg:"" optional:"" name:"IN"`
}

// Help describes the verb.
func (appendCmd) Help() string {
	return `
Appends the items of IN or standard input at the end of an axis of an array, in one commit. The input is a .npy file
with the dtype of the array, or with -raw raw bytes in C order. If PATH is a super-chunk, the input is appended as one chunk. The
input is held in memory. If PATH has a lock file, append waits until no other process reads or edits PATH.
`
}

// Run runs the verb.
func (v *appendCmd) Run(e *env) error {
	name, err := holdInput(e, v.In, v.Path, v.Raw)
	if err != nil {
		return err
	}
	f, err := openEdit(e, v.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	a, arrayErr := ndarray.OpenFrame(f)
	if arrayErr != nil && isArrayFrame(f) {
		return arrayErr
	}
	if entry, err := store.Describe(e.ctx, f); err == nil && arrayErr != nil && entry.Kind != store.KindFrame {
		return fmt.Errorf("%s: %v: append adds raw bytes to a super-chunk, or items to an array", v.Path, entry.Kind)
	}
	in, err := openShown(e, name, v.Raw, v.progressOption)
	if err != nil {
		return err
	}
	defer in.close()
	if arrayErr != nil {
		return v.appendChunk(e, f, in)
	}
	return v.appendItems(e, a, in)
}

// appendChunk appends the input as one chunk of a super-chunk.
func (v *appendCmd) appendChunk(e *env, f *frame.Frame, in *input) error {
	if v.Axis != 0 {
		return fmt.Errorf("%s: %w: a super-chunk has no axes", v.Path, ndarray.ErrNotArray)
	}
	err := v.checkBytes(in)
	if err != nil {
		return err
	}
	n := int64(-1)
	if in.npy != nil {
		if n, err = in.npySize(); err != nil {
			return err
		}
	}
	data, err := in.readAll(e.ctx, n)
	if err == nil && len(data) == 0 {
		err = fmt.Errorf("the input is empty")
	}
	if err != nil {
		return err
	}
	return f.Append(e.ctx, data)
}

// appendItems appends the items of the input along an axis of an array.
func (v *appendCmd) appendItems(e *env, a *ndarray.Array, in *input) error {
	shape, axis := a.Shape(), v.Axis
	if axis < 0 {
		axis += len(shape)
	}
	if axis < 0 || axis >= len(shape) {
		return fmt.Errorf("-axis %d: an array of shape %s has no such axis: %w", v.Axis, pyTuple(shape), ndarray.ErrBounds)
	}
	if err := v.check(in, a.DType()); err != nil {
		return err
	}
	in.p.expect(max(in.size, 0)) // the data is read, and then written
	n := int64(-1)
	if in.npy != nil {
		if !alike(shape, in.npy.Shape, axis) {
			return fmt.Errorf("the .npy file has shape %s and the array %s, which do not match along axis %d",
				pyTuple(in.npy.Shape), pyTuple(shape), v.Axis)
		}
		shape[axis] = in.npy.Shape[axis]
		var ok bool
		if n, ok = byteCount(shape, a.DType().Size); !ok {
			return ndarray.ErrTooLarge
		}
	}
	data, err := in.items(e.ctx, a.DType(), shape, n)
	if err != nil {
		return err
	}
	if in.npy != nil && len(data) == 0 { // AppendBytes computes the number of steps from the items
		b, err := a.Begin(e.ctx)
		if err != nil {
			return err
		}
		defer b.Rollback()
		grown := b.Shape() // another process may have changed it
		grown[axis] += in.npy.Shape[axis]
		if err := b.Resize(e.ctx, grown...); err != nil {
			return err
		}
		return b.Commit()
	}
	if axis == 0 {
		return appendSlabs(e, a, data, in.p)
	}
	return a.AppendBytes(e.ctx, axis, data)
}

// checkBytes returns an error if the input or the options do not fit a super-chunk, which has bytes and no items.
func (v *appendCmd) checkBytes(in *input) error {
	switch {
	case v.DType != "":
		return fmt.Errorf("%s: %w: a super-chunk has no dtype for -dtype; use -raw", shownPath(v.Path), ndarray.ErrNotArray)
	case in.npy != nil && in.npy.Fortran:
		return fmt.Errorf("cannot append a .npy file in Fortran order to a super-chunk")
	case in.npy != nil && in.npy.DType.Kind == 'O':
		return fmt.Errorf("cannot store the Python objects of the .npy file")
	}
	return nil
}

// alike reports whether shapes differ at most along an axis.
func alike(a, b []int64, axis int) bool {
	return len(a) == len(b) && slices.Equal(a[:axis], b[:axis]) && slices.Equal(a[axis+1:], b[axis+1:])
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

// resizeCmd changes the shape of an array.
type resizeCmd struct {
	progressOption
	Path  string  `arg:"" name:"PATH"`
	Shape lengths `arg:"" name:"SHAPE"`
}

// Help describes the verb.
func (resizeCmd) Help() string {
	return `
Changes the shape of an array to SHAPE, for example 3,4. Each axis grows or shrinks at its end. New items are zeros.
If PATH has a lock file, resize waits until no other process reads or edits PATH.
`
}

// Run runs the verb.
func (v *resizeCmd) Run(e *env) error {
	p := e.startProgress(v.progressOption, "bytes", 0)
	defer p.end()
	a, err := editArray(e, v.Path)
	if err != nil {
		return err
	}
	defer a.Close()
	if len(v.Shape) != len(a.Shape()) {
		return fmt.Errorf("SHAPE has %s, but the array has shape %s", plural(len(v.Shape), "length"), pyTuple(a.Shape()))
	}
	if i := slices.IndexFunc(v.Shape, func(n int64) bool { return n < 0 }); i >= 0 {
		return fmt.Errorf("SHAPE: the length %d of axis %d is negative: %w", v.Shape[i], i, ndarray.ErrShape)
	}
	p.followReads(0)
	return a.Resize(e.ctx, v.Shape...)
}

// setCmd writes to a selection.
type setCmd struct {
	progressOption
	rawInput
	Value *string `placeholder:"X" help:"write X to all selected items. X is a number (1 -2.5e3 nan inf 1+2j), true or false, a string (padded with zeros), a count of units or NaT for dates and timedeltas, or for raw bytes, structures and long doubles (<f16 <c32) the bytes of an item in hexadecimal"`
	Path  string  `arg:"" name:"PATH"`
	Sel   string  `arg:"" name:"SEL"`
	In    string  `arg:"" optional:"" name:"IN"`
}

// Help describes the verb.
func (setCmd) Help() string {
	return `
Writes to the selection SEL (see "blosc2 help slice") in one commit. IN or standard input is a .npy file with the shape
of the selection and the dtype of the array, or with -raw raw bytes in C order. The input is held in memory.
If PATH has a lock file, set waits until no other process reads or edits PATH.

Examples:
  blosc2 set a.b2nd '0, :' row.npy
  blosc2 set a.b2nd '2:5, 3' -value nan
`
}

// Run runs the verb.
func (v *setCmd) Run(e *env) error {
	switch {
	case v.Value != nil && v.In != "":
		return usagef("IN and -value exclude each other")
	case v.Value != nil && (v.Raw || v.DType != ""):
		return usagef("-value excludes -raw and -dtype, which are for IN")
	}
	sel, err := parseSelection(v.Sel)
	if err != nil {
		return err
	}
	name := ""
	if v.Value == nil {
		if name, err = holdInput(e, v.In, v.Path, v.Raw); err != nil {
			return err
		}
	}
	a, err := editArray(e, v.Path)
	if err != nil {
		return err
	}
	defer a.Close()
	shape, err := selectionShape(a, v.Sel, sel)
	if err != nil {
		return err
	}
	if v.Value != nil {
		item, err := parseItem(a.DType(), *v.Value)
		if err != nil {
			return err
		}
		p := e.startProgress(v.progressOption, "bytes", 0)
		defer p.end()
		return writeSlabs(e, a, v.Sel, sel, shape, p, func(b *ndarray.Batch, _, _ int64, sel []ndarray.Index) error {
			return b.FillBytes(e.ctx, item, sel...)
		})
	}
	n, ok := byteCount(shape, a.DType().Size)
	if !ok {
		return ndarray.ErrTooLarge
	}
	in, err := openShown(e, name, v.Raw, v.progressOption)
	if err != nil {
		return err
	}
	defer in.close()
	if err := v.check(in, a.DType()); err != nil {
		return err
	}
	in.p.remains(2 * n) // they are read, and then written
	data, err := in.items(e.ctx, a.DType(), shape, n)
	if err != nil {
		return err
	}
	return writeSlabs(e, a, v.Sel, sel, shape, in.p, func(b *ndarray.Batch, i, j int64, sel []ndarray.Index) error {
		part := data
		if j >= 0 {
			n := int64(len(data)) / shape[0]
			part = data[i*n : j*n]
		}
		return b.WriteBytes(e.ctx, part, sel...)
	})
}
