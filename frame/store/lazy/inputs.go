package lazy

import (
	"context"

	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// itemSize is the size in bytes of an item of a vec.
const itemSize = 8

// input is an operand of an expression. Terms for the same array share it.
type input struct {
	array ndarray.Reader
	view  ndarray.Reader // array, broadcast to the shape of the result
	d     meta.DType
}

// chunkInputs reads the operands for the blocks of a chunk of the result.
type chunkInputs struct {
	inputs []*input
	chunk  ndarray.Box
	all    []func() (vec, error) // for each operand that is read ahead, its items of the chunk; otherwise nil
}

// newChunkInputs returns the operands for a chunk. ahead has the readers that are read ahead; see ndarray.FromReaders.
func newChunkInputs(ctx context.Context, inputs []*input, chunk ndarray.Box, ahead []ndarray.Reader) *chunkInputs {
	c := &chunkInputs{inputs: inputs, chunk: chunk, all: make([]func() (vec, error), len(inputs))}
	for i, r := range ahead {
		if r != nil {
			var once task.Once
			var v vec
			var err error
			c.all[i] = func() (vec, error) {
				once.Do(func() { v, err = read(ctx, r, new(scratch).newVec(inputs[i].d, int(chunk.Size())), chunk) })
				return v, err
			}
		}
	}
	return c
}

// read reads the n items of operand i in a box, which is a part of the chunk.
func (c *chunkInputs) read(ctx context.Context, s *scratch, i int, box ndarray.Box, n int) (vec, error) {
	in := c.inputs[i]
	v := s.newVec(in.d, n)
	if c.all[i] == nil {
		return read(ctx, in.view, v, box)
	}
	all, err := c.all[i]()
	if err != nil {
		return vec{}, err
	}
	copyBox(v.i, box, all.i, c.chunk)
	copyBox(v.f, box, all.f, c.chunk)
	return v, nil
}

// copyBox copies the items of a box from those of a box around it.
func copyBox[T any](dst []T, box ndarray.Box, src []T, around ndarray.Box) {
	for at, row := range (ndarray.Tile[T]{Box: box, Items: dst}).Rows() {
		k := int64(0)
		for i, x := range at {
			k = k*around.Shape[i] + x - around.Start[i]
		}
		copy(row, src[k:])
	}
}

// read sets the items of v to those of a box, and returns v.
func read(ctx context.Context, r ndarray.Reader, v vec, box ndarray.Box) (vec, error) {
	if isFloat(v.d) {
		return v, ndarray.ReadInto(ctx, r, v.f, box.Selection()...)
	}
	as, err := ndarray.AsType(r, "<i8")
	if err != nil {
		return v, err
	}
	return v, ndarray.ReadInto(ctx, as, v.i, box.Selection()...)
}
