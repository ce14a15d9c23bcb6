package main

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/goblosc/blosc2/ndarray"
)

// The numbers that NumPy uses for abbreviated arrays.
const (
	fullItems = 1000 // largest array that is printed completely
	edgeItems = 3    // items at each end of an axis in other arrays
)

// printArray prints a selection of an array as NumPy does. It reads only the items that it prints.
func printArray(e *env, a *ndarray.Array, sel []ndarray.Index) error {
	r, err := reader(e, a, sel)
	if err != nil {
		return err
	}
	shape := r.Shape()
	p := &arrayPrinter{w: e.out, width: e.width, shape: slices.Clone(shape), cut: make([]bool, len(shape))}
	abbreviate := r.Size() > fullItems
	edge := int64(edgeItems)
	if len(shape) > 4 {
		edge = 1
	}
	for i, n := range shape {
		if abbreviate && n > 2*edge {
			p.shape[i], p.cut[i] = 2*edge, true
		}
	}
	d := r.DType()
	n, ok := byteCount(p.shape, d.Size)
	if !ok {
		return ndarray.ErrTooLarge
	}
	data := make([]byte, n)
	if err := readEdges(e, r, p.shape, data, d.Size); err != nil {
		return err
	}
	if len(shape) > 0 {
		p.texts = alignedTexts(d, data)
	}
	switch {
	case len(shape) == 0:
		fmt.Fprintln(e.out, e.cell(scalarText(d, data)))
	case r.Size() == 0:
		fmt.Fprintf(e.out, "[] # shape %s\n", pyTuple(shape))
	default:
		p.print(0, 0, 0)
		fmt.Fprintln(e.out)
	}
	if abbreviate {
		fmt.Fprintf(e.out, "shape %s, dtype %s\n", pyTuple(shape), d)
	}
	return nil
}

// selected returns the items of a selection with index arrays, as an array in memory.
func selected(e *env, a *ndarray.Array, sel []ndarray.Index) (*ndarray.Array, error) {
	shape, err := a.SelectionShape(sel...)
	if err != nil {
		return nil, err
	}
	n, ok := byteCount(shape, a.DType().Size)
	if !ok {
		return nil, ndarray.ErrTooLarge
	}
	data := make([]byte, n)
	if err := a.ReadBytes(e.ctx, data, sel...); err != nil {
		return nil, err
	}
	return ndarray.CreateBytes(e.ctx, "", shape, a.DType().String(), data, nil)
}

// readEdges reads the first and last items of each axis that is shorter in shape, and all of the others. Each part with
// the same end of each axis is a box.
func readEdges(e *env, r ndarray.Reader, shape []int64, data []byte, size int) error {
	full := r.Shape()
	part := make([]ndarray.Index, len(shape))
	starts, lens := make([]int64, len(shape)), make([]int64, len(shape))
	var read func(axis int) error
	read = func(axis int) error {
		if axis == len(shape) {
			n, _ := byteCount(lens, size)
			box := make([]byte, n)
			if err := r.ReadBytes(e.ctx, box, part...); err != nil {
				return err
			}
			place(data, box, shape, starts, lens, size)
			return nil
		}
		if shape[axis] == full[axis] {
			part[axis], starts[axis], lens[axis] = ndarray.All, 0, shape[axis]
			return read(axis + 1)
		}
		edge := shape[axis] / 2
		part[axis], starts[axis], lens[axis] = ndarray.Span(0, edge), 0, edge
		if err := read(axis + 1); err != nil {
			return err
		}
		part[axis], starts[axis] = ndarray.Span(full[axis]-edge, full[axis]), edge
		return read(axis + 1)
	}
	return read(0)
}

// place copies a box of items in C order to its place in an array of a shape.
func place(dst, box []byte, shape, starts, lens []int64, size int) {
	if len(box) == 0 {
		return
	}
	last := len(shape) - 1
	if last < 0 {
		copy(dst, box)
		return
	}
	row := int(lens[last]) * size
	at := make([]int64, len(shape))
	for from := 0; from < len(box); from += row {
		flat := int64(0)
		for i := range shape {
			flat = flat*shape[i] + starts[i] + at[i]
		}
		copy(dst[int(flat)*size:], box[from:from+row])
		for i := last - 1; i >= 0; i-- {
			if at[i]++; at[i] < lens[i] {
				break
			}
			at[i] = 0
		}
	}
}

// arrayPrinter prints the items that are left of an array.
type arrayPrinter struct {
	w     *bufio.Writer
	width int // of the terminal in columns
	shape []int64
	cut   []bool // whether items are missing in the middle of an axis
	texts []string
}

// print prints the part of the array that begins with item at, from an axis on.
func (p *arrayPrinter) print(axis, at, indent int) {
	if axis == len(p.shape)-1 {
		p.row(at, indent)
		return
	}
	step := 1
	for _, n := range p.shape[axis+1:] {
		step *= int(n)
	}
	p.w.WriteByte('[')
	n := int(p.shape[axis])
	gap := strings.Repeat("\n", len(p.shape)-1-axis) + strings.Repeat(" ", indent+1)
	for i := range n {
		if i > 0 {
			p.w.WriteString(gap)
		}
		if p.cut[axis] && i == n/2 {
			p.w.WriteString("..." + gap)
		}
		p.print(axis+1, at+i*step, indent+1)
	}
	p.w.WriteByte(']')
}

// row prints the items of the last axis, in as many lines as they need.
func (p *arrayPrinter) row(at, indent int) {
	p.w.WriteByte('[')
	n := int(p.shape[len(p.shape)-1])
	column := indent + 1
	put := func(text string, first bool) {
		need := len([]rune(text))
		if !first && column+1+need >= p.width {
			p.w.WriteString("\n" + strings.Repeat(" ", indent+1))
			column = indent + 1
		} else if !first {
			p.w.WriteByte(' ')
			column++
		}
		p.w.WriteString(text)
		column += need
	}
	for i := range n {
		if p.cut[len(p.shape)-1] && i == n/2 {
			put("...", false)
		}
		put(p.texts[at+i], i == 0)
	}
	p.w.WriteByte(']')
}
