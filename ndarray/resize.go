package ndarray

import (
	"context"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// Resize changes the shape, in one commit: each axis grows or shrinks at its end. The number of dimensions must stay
// the same. New items are zeros. Chunks outside the new shape are deleted. Other chunks are copied as stored, unless
// they hold items of an earlier, larger shape that would appear again. The error wraps ErrShape, ErrTooLarge,
// ErrReadOnly, ErrCorrupt or fs.ErrClosed, or is the error of ctx. After an error the array is unchanged.
//
// New items are zeros, however the array was created:
//
//	created by        kept items    new items in kept chunks   items in new chunks
//	Zeros             zeros         zeros                      zeros
//	Full              the item      zeros                      zeros
//	Full of NaN       NaNs          zeros                      zeros
//	Create, ...       as written    zeros                      zeros
//	any, then shrunk  as written    zeros                      zeros
//
// C-Blosc2 differs in the third column: it shows the padding of kept chunks. The padding holds NaNs in arrays created
// by nans, the repeated item in arrays created by full, and old items in arrays that were larger before.
func (a *Array) Resize(ctx context.Context, shape ...int64) error {
	return a.edit(ctx, func(b *Batch) error { return b.Resize(ctx, shape...) })
}

// Resize changes the shape at the end of each axis. See Array.Resize.
func (b *Batch) Resize(ctx context.Context, shape ...int64) error {
	ctx = task.Context(ctx)
	if err := b.refresh(); err != nil {
		return err
	}
	if len(shape) != b.st.geo.Ndim {
		return fmt.Errorf("ndarray: %w: shape %v for an array of shape %v", ErrShape, shape, b.st.rec.Shape)
	}
	next, err := b.reshaped(slices.Clone(shape))
	if err != nil {
		return err
	}
	return b.fail(b.resize(ctx, next))
}

// resize makes next, with another shape, the state of the batch.
func (b *Batch) resize(ctx context.Context, next *state) error {
	if slices.Equal(next.rec.Shape, b.st.rec.Shape) {
		return nil
	}
	if err := clearOld(ctx, b.a, b.b, b.st, next); err != nil {
		return err
	}
	if err := b.b.Engine().SelectChunks(next.geo.Chunks, next.geo.ChunkBytes, regrid(b.st.geo, next.geo, nil)); err != nil {
		return err
	}
	return b.publish(next)
}

// regrid returns a function that maps the number of a chunk in a new grid to its number in the old grid, or to -1 if
// the chunk is new. row maps rows of chunks along an axis in the same way; nil means that all rows keep their numbers.
func regrid(from, to *grid.Geometry, row func(axis int, at int64) int64) func(i int64) int64 {
	return func(i int64) int64 {
		old := int64(0)
		for axis := range to.Ndim {
			at := i / to.GridStride[axis]
			i -= at * to.GridStride[axis]
			if row != nil {
				at = row(axis, at)
			}
			if at < 0 || at >= from.Grid[axis] {
				return -1
			}
			old += at * from.GridStride[axis]
		}
		return old
	}
}

// clearOld sets the padding of kept chunks to zero where it becomes part of the new shape. It decodes the chunks at the
// old border and writes only those whose padding is not zero.
func clearOld(ctx context.Context, a *Array, b *frame.Batch, st, next *state) error {
	for axis := range st.geo.Ndim {
		was, is := st.rec.Shape[axis], next.rec.Shape[axis]
		chunk := int64(st.rec.ChunkShape[axis])
		if is <= was || was == 0 || was%chunk == 0 {
			continue
		}
		// padded is the old shape with the padding of its chunks that the new shape can show.
		padded := make([]int64, st.geo.Ndim)
		sel := make([]Index, st.geo.Ndim)
		for i := range padded {
			padded[i] = min(st.geo.Grid[i]*st.geo.ChunkShape[i], max(st.rec.Shape[i], next.rec.Shape[i]))
			sel[i] = Span(0, min(padded[i], next.rec.Shape[i]))
		}
		sel[axis] = Span(was, min(padded[axis], is))
		geo, err := grid.NewGeometry(padded, st.rec.ChunkShape, st.rec.BlockShape, int64(a.itemSize))
		if err != nil {
			return err
		}
		if geo.Grid != st.geo.Grid {
			return fmt.Errorf("ndarray: %w: shape %v has a grid of %v, want %v", ErrShape, padded, geo.Grid, st.geo.Grid)
		}
		s, err := selection.Resolve(padded, sel)
		if err != nil {
			return err
		}
		wide := &state{rec: st.rec, geo: geo}
		if zero, err := a.isZero(ctx, b, wide, &s); err != nil || zero {
			if err != nil {
				return err
			}
			continue
		}
		if err := a.write(ctx, b, wide, &s, &writing{src: make([]byte, a.itemSize), one: true}); err != nil {
			return err
		}
	}
	return nil
}
