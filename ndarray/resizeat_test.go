package ndarray

import (
	"context"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/internal/task"
)

// ResizeAt changes the shape, in one commit, at any position of each axis. An axis that grows gets zeros before item
// start. An axis that shrinks loses items from item start. Later items move. start has a number for each axis, from 0
// to its length. The number has no effect if the length stays the same.
//
// As in C-Blosc2, no chunk is compressed again at the end of an axis, or where start and the change are multiples of
// the chunk length. Otherwise C-Blosc2 returns an error, and ResizeAt rewrites the chunks from start; see Insert. The
// error wraps ErrBounds or is an error of Resize.
func (a *Array) ResizeAt(ctx context.Context, start, shape []int64) error {
	return a.edit(ctx, func(b *Batch) error { return b.ResizeAt(ctx, start, shape) })
}

// ResizeAt changes the shape at any position of each axis. See Array.ResizeAt.
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
	inner := make([]int64, len(shape)) // change of each length before the end of the axis
	ends := slices.Clone(b.st.rec.Shape)
	for i, n := range b.st.rec.Shape {
		if start[i] < 0 || start[i] > n || start[i] > shape[i] && shape[i] < n {
			return fmt.Errorf("ndarray: %w: cannot change axis %d from %d to %d items at item %d", ErrBounds, i, n, shape[i], start[i])
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
