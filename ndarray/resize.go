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

// Resize changes the shape, in one commit: each axis grows or shrinks at its end. Items that come in are zeros, also
// where C-Blosc2 would let items of an earlier, larger shape appear again. The number of dimensions stays. Chunks
// that leave the array are deleted; no other chunk is compressed again unless it holds such old items. Errors are
// ErrShape, ErrTooLarge, ErrReadOnly, ErrCorrupt, ErrClosed, or that of ctx; the array is then as it was.
//
// New items are zeros however the array was made:
//
//	made by       items that stay   new items in kept chunks   new chunks
//	Zeros         zeros             zeros                      zeros
//	Uninit        zeros             zeros                      zeros
//	NaNs          NaNs              zeros                      zeros
//	Full, Ones    the item          zeros                      zeros
//	Create, ...   as written        zeros                      zeros
//
// C-Blosc2 differs in the third column: what a kept chunk holds outside the old shape appears, which is NaN or the item
// for arrays made by nans and full, and old items for an array that was larger before. In new chunks it has zeros, too.
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

// ResizeAt changes the shape, in one commit, at a place of each axis: an axis that grows gets zeros before item start,
// one that shrinks loses the items from start on, and what stands behind moves. start has a number for each axis, from
// 0 to its length; it does not matter where the length stays. As in C-Blosc2, no chunk is compressed again where start
// and the change are multiples of the chunk length, or at the end of an axis. Elsewhere C-Blosc2 gives an error; here
// the chunks behind start are then made anew, see Insert. Errors are ErrBounds and those of Resize.
func (a *Array) ResizeAt(ctx context.Context, start, shape []int64) error {
	return a.edit(ctx, func(b *Batch) error { return b.ResizeAt(ctx, start, shape) })
}

// ResizeAt changes the shape at any place of each axis. See Array.ResizeAt.
func (b *Batch) ResizeAt(ctx context.Context, start, shape []int64) error {
	ctx = task.Context(ctx)
	if err := b.refresh(); err != nil {
		return err
	}
	if len(shape) != b.st.geo.Ndim || len(start) != len(shape) {
		return fmt.Errorf("ndarray: %w: shape %v at %v for an array of shape %v", ErrShape, shape, start, b.st.rec.Shape)
	}
	if _, err := b.reshaped(slices.Clone(shape)); err != nil {
		return err
	}
	inner := make([]int64, len(shape)) // how much comes in or leaves before the end
	ends := slices.Clone(b.st.rec.Shape)
	for i, n := range b.st.rec.Shape {
		if start[i] < 0 || start[i] > n || start[i] > shape[i] && shape[i] < n {
			return fmt.Errorf("ndarray: %w: axis %d from %d to %d items, at item %d", ErrBounds, i, n, shape[i], start[i])
		}
		if start[i] == min(n, shape[i]) {
			ends[i] = shape[i]
		} else {
			inner[i] = shape[i] - n
		}
	}
	return b.fail(b.resizeAt(ctx, start, inner, ends))
}

// resizeAt deletes before it inserts, so that the array never has more items than the larger of its old and new shape.
func (b *Batch) resizeAt(ctx context.Context, start, inner, ends []int64) error {
	for i, n := range inner {
		if n < 0 {
			ends[i] += n
			if err := b.shift(ctx, i, start[i], n, nil); err != nil {
				return err
			}
		}
	}
	next, err := b.reshaped(ends)
	if err == nil {
		err = b.resize(ctx, next)
	}
	for i, n := range inner {
		if err == nil && n > 0 {
			err = b.shift(ctx, i, start[i], n, nil)
		}
	}
	return err
}

// resize makes the state next, with another shape, that of the batch.
func (b *Batch) resize(ctx context.Context, next *state) error {
	if slices.Equal(next.rec.Shape, b.st.rec.Shape) {
		return nil
	}
	if err := clearOld(ctx, b.a, b.b, b.st, next); err != nil {
		return err
	}
	if err := b.b.SelectChunks(next.geo.Chunks, next.geo.ChunkBytes, regrid(b.st.geo, next.geo, nil)); err != nil {
		return err
	}
	return b.publish(next)
}

// regrid returns, for the number of a chunk in a new grid, its number in the old one, or -1 when it is new. row says
// what row of old chunks a new one is along an axis, or -1; nil leaves each where it is.
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

// clearOld sets to zero what stands in kept chunks behind the old shape and inside the new one. It decodes the chunks
// at the old border and writes those that are not zero there.
func clearOld(ctx context.Context, a *Array, b *frame.Batch, st, next *state) error {
	for axis := range st.geo.Ndim {
		was, is := st.rec.Shape[axis], next.rec.Shape[axis]
		chunk := int64(st.rec.ChunkShape[axis])
		if is <= was || was == 0 || was%chunk == 0 {
			continue
		}
		// The grid of the old shape, rounded up to whole chunks, and cut to what the new shape has of it.
		room := make([]int64, st.geo.Ndim)
		sel := make([]Index, st.geo.Ndim)
		for i := range room {
			room[i] = min(st.geo.Grid[i]*st.geo.ChunkShape[i], max(st.rec.Shape[i], next.rec.Shape[i]))
			sel[i] = Until(min(room[i], next.rec.Shape[i]))
		}
		sel[axis] = Span(was, min(room[axis], is))
		geo, err := grid.NewGeometry(room, st.rec.ChunkShape, st.rec.BlockShape, int64(a.itemSize))
		if err != nil {
			return err
		}
		if geo.Grid != st.geo.Grid {
			return fmt.Errorf("ndarray: %w: grid of %v for a room of %v", ErrShape, st.geo.Grid, room)
		}
		s, err := selection.Resolve(room, sel)
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
