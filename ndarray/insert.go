package ndarray

import (
	"context"
	"fmt"
	"math"

	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// AppendBytes adds data at the end of an axis, in one commit. data holds items in C order, as they are stored, for a
// whole number of steps along the axis. A negative axis counts from the last.
//
// AppendBytes compresses each new chunk once. If the last chunks along the axis are not full, it rewrites them and
// compresses only the blocks that get items. To append often, use a chunk length that divides the number of steps of a
// call, or collect many calls in a Batch.
//
// The error wraps ErrShape or ErrBounds, or is an error of WriteBytes.
func (a *Array) AppendBytes(ctx context.Context, axis int, data []byte) error {
	return a.edit(ctx, func(b *Batch) error { return b.AppendBytes(ctx, axis, data) })
}

// AppendBytes adds items at the end of an axis. See Array.AppendBytes.
func (b *Batch) AppendBytes(ctx context.Context, axis int, data []byte) error {
	ctx = task.Context(ctx)
	axis, n, err := b.incoming(axis, data)
	if err != nil {
		return err
	}
	return b.insert(ctx, axis, b.st.rec.Shape[axis], n, data)
}

// InsertBytes inserts data before item at along an axis, in one commit. data holds items in C order, as they are
// stored, for a whole number of steps along the axis. Items at and after at move towards the end. at may be the length
// of the axis, which appends. A negative at counts from the end of the axis, and a negative axis counts from the last.
//
// If at and the number of steps are multiples of the chunk length, InsertBytes compresses only the inserted chunks and
// reads none. Otherwise it rewrites the chunks from the one that holds item at, a few at a time. If the number of steps
// is a multiple of the chunk length, it keeps the chunks after the inserted items as they are stored.
//
// The error wraps ErrShape or ErrBounds, or is an error of WriteBytes.
func (a *Array) InsertBytes(ctx context.Context, axis int, at int64, data []byte) error {
	return a.edit(ctx, func(b *Batch) error { return b.InsertBytes(ctx, axis, at, data) })
}

// InsertBytes inserts items before item at along an axis. See Array.InsertBytes.
func (b *Batch) InsertBytes(ctx context.Context, axis int, at int64, data []byte) error {
	ctx = task.Context(ctx)
	axis, n, err := b.incoming(axis, data)
	if err != nil {
		return err
	}
	if at, err = b.position(axis, at, 0); err != nil {
		return err
	}
	return b.insert(ctx, axis, at, n, data)
}

// Delete removes n items along an axis, starting at item at, in one commit. Later items shift towards the start. A
// negative at counts from the end of the axis, and a negative axis counts from the last.
//
// Delete compresses no chunk if the items are at the end of the axis, or if at and n are multiples of the chunk length.
// Otherwise it rewrites chunks like InsertBytes. The error wraps ErrBounds or is an error of WriteBytes.
func (a *Array) Delete(ctx context.Context, axis int, at, n int64) error {
	return a.edit(ctx, func(b *Batch) error { return b.Delete(ctx, axis, at, n) })
}

// Delete removes n items along an axis, starting at item at. See Array.Delete.
func (b *Batch) Delete(ctx context.Context, axis int, at, n int64) error {
	ctx = task.Context(ctx)
	if err := b.refresh(); err != nil {
		return err
	}
	axis, err := b.axis(axis)
	if err != nil {
		return err
	}
	if at, err = b.position(axis, at, n); err != nil {
		return err
	}
	length := b.st.rec.Shape[axis]
	switch {
	case n == 0:
		return nil
	case n < length-at:
		return b.fail(b.shift(ctx, axis, at, -n, nil))
	}
	shape := b.Shape()
	shape[axis] = at
	next, err := b.reshaped(shape)
	if err != nil {
		return err
	}
	return b.fail(b.resize(ctx, next))
}

// Append adds data at the end of an axis of an array, in one commit or in a batch. Append does not retain data. The
// error wraps ErrType or is an error of Array.AppendBytes.
func Append[T any](ctx context.Context, e Editor, axis int, data []T) error {
	ctx = task.Context(ctx)
	b, err := encodeItems(ctx, e.DType(), concurrencyOf(e), data)
	if err != nil {
		return err
	}
	return e.AppendBytes(ctx, axis, b)
}

// Insert inserts data before item at along an axis of an array, in one commit or in a batch. Insert does not retain
// data. The error wraps ErrType or is an error of Array.InsertBytes.
func Insert[T any](ctx context.Context, e Editor, axis int, at int64, data []T) error {
	ctx = task.Context(ctx)
	b, err := encodeItems(ctx, e.DType(), concurrencyOf(e), data)
	if err != nil {
		return err
	}
	return e.InsertBytes(ctx, axis, at, b)
}

// axis returns the number of an axis. A negative number counts from the last.
func (b *Batch) axis(axis int) (int, error) {
	ndim := b.st.geo.Ndim
	if axis < -ndim || axis >= ndim {
		return 0, fmt.Errorf("ndarray: %w: axis %d of an array of %d dimensions", ErrBounds, axis, ndim)
	}
	if axis < 0 {
		axis += ndim
	}
	return axis, nil
}

// position returns at, counted from the end of the axis if negative. It returns ErrBounds unless n items follow it.
func (b *Batch) position(axis int, at, n int64) (int64, error) {
	length := b.st.rec.Shape[axis]
	from := at
	if from < 0 {
		from += length
	}
	if from < 0 || from > length || n < 0 || n > length-from {
		return 0, fmt.Errorf("ndarray: %w: %d items at %d of axis %d of length %d", ErrBounds, n, at, axis, length)
	}
	return from, nil
}

// incoming returns the number of an axis and the number of steps along it that data holds.
func (b *Batch) incoming(axis int, data []byte) (ax int, n int64, err error) {
	if err := b.refresh(); err != nil {
		return 0, 0, err
	}
	if axis, err = b.axis(axis); err != nil {
		return 0, 0, err
	}
	step, shape := int64(b.a.itemSize), b.st.rec.Shape
	for i, length := range shape {
		var ok bool
		if i == axis {
			continue
		}
		if step, ok = grid.Multiply(step, length); !ok {
			return 0, 0, fmt.Errorf("ndarray: %w: shape %v", ErrTooLarge, shape)
		}
	}
	if step == 0 {
		return 0, 0, fmt.Errorf("ndarray: %w: shape %v has no items to add along axis %d", ErrShape, shape, axis)
	}
	if int64(len(data))%step != 0 {
		return 0, 0, fmt.Errorf("ndarray: %w: data has %d bytes, want a multiple of %d for axis %d of shape %v", ErrShape, len(data), step, axis, shape)
	}
	n = int64(len(data)) / step
	if n > math.MaxInt64-shape[axis] {
		return 0, 0, fmt.Errorf("ndarray: %w: %d more items along axis %d of shape %v", ErrTooLarge, n, axis, shape)
	}
	return axis, n, nil
}

// insert inserts n steps before item at along an axis.
func (b *Batch) insert(ctx context.Context, axis int, at, n int64, data []byte) error {
	shape := b.Shape()
	end := at == shape[axis]
	shape[axis] += n
	next, err := b.reshaped(shape)
	switch {
	case err != nil:
		return err
	case n == 0:
		return nil
	case end:
		return b.fail(b.extend(ctx, axis, next, data))
	}
	return b.fail(b.shift(ctx, axis, at, n, data))
}

// extend makes next, with a longer axis, the state of the batch and writes data to the new items.
func (b *Batch) extend(ctx context.Context, axis int, next *state, data []byte) error {
	was, g := b.st, next.geo
	// If the existing chunks keep their numbers, writing appends the new chunks.
	same := was.geo.Chunks > 0
	for i := range axis {
		same = same && g.Grid[i] == 1
	}
	if !same {
		if err := b.b.Engine().SelectChunks(g.Chunks, g.ChunkBytes, regrid(was.geo, g, nil)); err != nil {
			return err
		}
	}
	if err := b.publish(next); err != nil {
		return err
	}
	s := selection.WholeAxes(next.rec.Shape)
	s.Cut(axis, was.rec.Shape[axis], next.rec.Shape[axis])
	return b.a.write(ctx, b.b, next, &s, &writing{src: data})
}
