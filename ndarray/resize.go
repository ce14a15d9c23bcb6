package ndarray

import (
	"context"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// Resize changes the shape, in one commit: each axis grows or shrinks at its end. Items that come in are zeros, also
// where C-Blosc2 would let items of an earlier, larger shape appear again. The number of dimensions stays. Chunks
// that leave the array are deleted; no other chunk is compressed again unless it holds such old items. Errors are
// ErrShape, ErrTooLarge, ErrReadOnly, ErrCorrupt, ErrClosed, or that of ctx; the array is then as it was.
func (a *Array) Resize(ctx context.Context, shape ...int64) error {
	return a.edit(func(b *frame.Batch, st *state) error {
		_, err := a.resize(ctx, b, st, shape)
		return err
	})
}

// resize changes the shape in a batch and returns the state that it leads to.
func (a *Array) resize(ctx context.Context, b *frame.Batch, st *state, shape []int64) (*state, error) {
	if len(shape) != st.geo.ndim {
		return nil, fmt.Errorf("ndarray: %w: %v for an array of shape %v", ErrShape, shape, st.rec.Shape)
	}
	if slices.Equal(shape, st.rec.Shape) {
		return st, nil
	}
	rec := *st.rec
	rec.Shape = slices.Clone(shape)
	geo, err := newGeometry(shape, rec.ChunkShape, rec.BlockShape, int64(a.itemSize))
	if err != nil {
		return nil, err
	}
	next := &state{rec: &rec, geo: geo}
	if err := clearOld(ctx, a, b, st, next); err != nil {
		return nil, err
	}
	if err := b.SelectChunks(geo.chunks, geo.chunkBytes, regrid(st.geo, geo)); err != nil {
		return nil, err
	}
	content, err := a.record(b, &rec)
	if err != nil {
		return nil, err
	}
	next.content = content
	return next, b.ReplaceMeta(a.layer, content)
}

// record returns the bytes of a changed record, in the form of the one that is there.
func (a *Array) record(b *frame.Batch, rec *meta.Array) ([]byte, error) {
	old, _ := b.View().MetaLayer(a.layer)
	content, err := meta.UpdateShape(old, rec.Shape)
	if err != nil {
		return nil, a.corrupt("%v", err)
	}
	return content, nil
}

// regrid returns, for the number of a chunk in a new grid, its number in the old one, or -1 when it is new.
func regrid(from, to *geometry) func(i int64) int64 {
	return func(i int64) int64 {
		old := int64(0)
		for axis := range to.ndim {
			at := i / to.gridStride[axis]
			i -= at * to.gridStride[axis]
			if at >= from.grid[axis] {
				return -1
			}
			old += at * from.gridStride[axis]
		}
		return old
	}
}

// clearOld sets to zero what stands in kept chunks behind the old shape and inside the new one. It decodes the chunks
// at the old border and writes those that are not zero there.
func clearOld(ctx context.Context, a *Array, b *frame.Batch, st, next *state) error {
	for axis := range st.geo.ndim {
		was, is := st.rec.Shape[axis], next.rec.Shape[axis]
		chunk := int64(st.rec.ChunkShape[axis])
		if is <= was || was == 0 || was%chunk == 0 {
			continue
		}
		// The grid of the old shape, rounded up to whole chunks, and cut to what the new shape has of it.
		room := make([]int64, st.geo.ndim)
		sel := make([]Index, st.geo.ndim)
		for i := range room {
			room[i] = min(st.geo.grid[i]*st.geo.chunkShape[i], max(st.rec.Shape[i], next.rec.Shape[i]))
			sel[i] = Until(min(room[i], next.rec.Shape[i]))
		}
		sel[axis] = Span(was, min(room[axis], is))
		geo, err := newGeometry(room, st.rec.ChunkShape, st.rec.BlockShape, int64(a.itemSize))
		if err != nil {
			return err
		}
		if geo.grid != st.geo.grid {
			return fmt.Errorf("ndarray: %w: grid of %v for a room of %v", ErrShape, st.geo.grid, room)
		}
		s, err := resolve(room, sel)
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
		if err := a.write(ctx, b, wide, &s, &writing{item: make([]byte, a.itemSize)}); err != nil {
			return err
		}
	}
	return nil
}

// Append adds data behind the end of an axis, in one commit: items in C order, as they are stored, a multiple of the
// items in one step along the axis. Errors are ErrShape, ErrBounds and those of WriteBytes.
func (a *Array) Append(ctx context.Context, axis int, data []byte) error {
	return a.edit(func(b *frame.Batch, st *state) error {
		if axis < 0 || axis >= st.geo.ndim {
			return fmt.Errorf("ndarray: %w: axis %d of %d", ErrBounds, axis, st.geo.ndim)
		}
		step := int64(a.itemSize)
		for i, n := range st.rec.Shape {
			var ok bool
			if i == axis {
				continue
			}
			if step, ok = multiply(step, n); !ok {
				return fmt.Errorf("ndarray: %w: shape %v", ErrTooLarge, st.rec.Shape)
			}
		}
		if step == 0 || int64(len(data))%step != 0 {
			return fmt.Errorf("ndarray: %w: %d bytes to append along axis %d of shape %v with items of %d bytes", ErrShape, len(data), axis, st.rec.Shape, a.itemSize)
		}
		shape := slices.Clone(st.rec.Shape)
		sel := make([]Index, len(shape))
		for i := range sel {
			sel[i] = All
		}
		sel[axis] = From(shape[axis])
		shape[axis] += int64(len(data)) / step
		next, err := a.resize(ctx, b, st, shape)
		if err != nil {
			return err
		}
		s, err := resolve(shape, sel)
		if err != nil {
			return err
		}
		return a.write(ctx, b, next, &s, &writing{src: data})
	})
}
