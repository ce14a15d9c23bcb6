package ndarray

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
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
// With lossy codecs and filters, blocks that are written again lose precision again, and zeros next to other items are
// not exact.
//
// C-Blosc2 differs in the third column: there, new items are the padding of kept chunks. The padding holds NaNs in
// arrays created by nans, the repeated item in arrays created by full, and old items in arrays that were larger before.
func (a *Array) Resize(ctx context.Context, shape ...int64) error {
	return a.edit(ctx, func(b *Batch) error { return b.Resize(ctx, shape...) })
}

// Resize changes the shape at the end of each axis. See Array.Resize.
func (b *Batch) Resize(ctx context.Context, shape ...int64) error {
	ctx = task.Context(ctx)
	if err := b.refresh(ctx); err != nil {
		return err
	}
	if len(shape) != b.st.geo.Ndim {
		return fmt.Errorf("ndarray: %w: shape %v for an array of shape %v", ErrShape, shape, b.st.rec.Shape)
	}
	if slices.Equal(shape, b.st.rec.Shape) {
		return nil
	}
	next, err := b.reshaped(slices.Clone(shape))
	if err == nil {
		err = b.b.Engine().CheckChunks(next.geo.Chunks, next.geo.ChunkBytes)
	}
	for axis := 0; axis < len(shape) && err == nil; axis++ {
		if next.geo.Grid[axis] > b.st.geo.Grid[axis] { // there are new chunks
			err = b.a.checkBlocks(b.b, next)
		}
	}
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
	if next.geo.Grid != b.st.geo.Grid { // otherwise all chunks are kept
		if err := b.b.Engine().SelectChunks(ctx, next.geo.Chunks, next.geo.ChunkBytes, regrid(b.st.geo, next.geo, nil)); err != nil {
			return err
		}
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
		if err := a.writeSelection(ctx, b, wide, nil, &s, &writing{src: make([]byte, a.itemSize), one: true}); err != nil {
			return err
		}
	}
	return nil
}

// AppendBytes adds data at the end of an axis, in one commit. A step along the axis is an array with the shape of a,
// but of length 1 along the axis: an image in a stack of images, if axis is 0. data holds the items of a whole number
// of steps, in C order, as they are stored. A negative axis counts from the last.
//
// AppendBytes compresses each new chunk once. If the last chunks along the axis are not full, it rewrites them and
// compresses only the blocks that get items. To append many times, use a chunk length that divides the number of steps
// of a call, or combine many calls in a Batch. Even in a Batch, a call that adds chunks along an axis other than the
// first takes time in proportion to the number of all chunks, unless there is only one chunk along each earlier axis.
//
// Data without items changes nothing. The error wraps ErrShape or ErrBounds, or is an error of WriteBytes.
func (a *Array) AppendBytes(ctx context.Context, axis int, data []byte) error {
	return a.edit(ctx, func(b *Batch) error { return b.AppendBytes(ctx, axis, data) })
}

// AppendBytes adds items at the end of an axis. See Array.AppendBytes.
func (b *Batch) AppendBytes(ctx context.Context, axis int, data []byte) error {
	ctx = task.Context(ctx)
	axis, n, err := b.incoming(ctx, axis, data)
	if err != nil {
		return err
	}
	return b.insert(ctx, axis, b.st.rec.Shape[axis], n, data)
}

// InsertBytes inserts data at position at of an axis, in one commit. data holds the items of a whole number of steps,
// as for AppendBytes. Items from position at up move towards the end. If at is the length of the axis, the data is
// appended. A negative at counts from the end of the axis, and a negative axis counts from the last.
//
// If at and the number of steps are multiples of the chunk length, InsertBytes compresses only the inserted chunks and
// reads none. Otherwise it rewrites the chunks from the chunk that holds position at up, a few at a time. If the number
// of steps is a multiple of the chunk length, it copies the chunks after the inserted items as stored. Even in a Batch,
// each call takes time in proportion to the number of all chunks. One call with many steps is faster.
//
// The error wraps ErrShape or ErrBounds, or is an error of WriteBytes.
func (a *Array) InsertBytes(ctx context.Context, axis int, at int64, data []byte) error {
	return a.edit(ctx, func(b *Batch) error { return b.InsertBytes(ctx, axis, at, data) })
}

// InsertBytes inserts items at position at of an axis. See Array.InsertBytes.
func (b *Batch) InsertBytes(ctx context.Context, axis int, at int64, data []byte) error {
	ctx = task.Context(ctx)
	axis, n, err := b.incoming(ctx, axis, data)
	if err != nil {
		return err
	}
	if at, err = b.position(axis, at, 0); err != nil {
		return err
	}
	return b.insert(ctx, axis, at, n, data)
}

// Delete removes n steps along an axis, starting at position at, in one commit. Later items move towards the start. A
// negative at counts from the end of the axis, and a negative axis counts from the last.
//
// Delete compresses no chunk if the steps are at the end of the axis, or if at and n are multiples of the chunk length.
// Otherwise it rewrites chunks like InsertBytes. Even in a Batch, a call that removes chunks takes time in proportion
// to the number of all chunks. The error wraps ErrBounds or is an error of WriteBytes.
func (a *Array) Delete(ctx context.Context, axis int, at, n int64) error {
	return a.edit(ctx, func(b *Batch) error { return b.Delete(ctx, axis, at, n) })
}

// Delete removes n steps along an axis, starting at position at. See Array.Delete.
func (b *Batch) Delete(ctx context.Context, axis int, at, n int64) error {
	ctx = task.Context(ctx)
	if err := b.refresh(ctx); err != nil {
		return err
	}
	axis, err := axisNumber(axis, b.st.geo.Ndim, ErrBounds)
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

// Append adds data at the end of an axis, in one commit or in a batch. data holds the items of a whole number of steps,
// in C order: one image or several, to append images to a stack along axis 0. Append does not retain data. The error
// wraps ErrType or ErrValue, or is an error of Array.AppendBytes.
func Append[T any](ctx context.Context, e Editor, axis int, data []T) error {
	ctx = task.Context(ctx)
	b, err := encodeItems(ctx, e.DType(), concurrencyOf(e), data)
	if err != nil {
		return err
	}
	return inItems(e.AppendBytes(ctx, axis, b))
}

// Insert inserts data at position at of an axis, in one commit or in a batch. data holds the items of a whole number of
// steps, in C order. Insert does not retain data. The error wraps ErrType or ErrValue, or is an error of
// Array.InsertBytes.
func Insert[T any](ctx context.Context, e Editor, axis int, at int64, data []T) error {
	ctx = task.Context(ctx)
	b, err := encodeItems(ctx, e.DType(), concurrencyOf(e), data)
	if err != nil {
		return err
	}
	return inItems(e.InsertBytes(ctx, axis, at, b))
}

// position returns at, counted from the end of the axis if negative. It returns ErrBounds unless n items follow it.
func (b *Batch) position(axis int, at, n int64) (int64, error) {
	length := b.st.rec.Shape[axis]
	from := at
	if from < 0 {
		from += length
	}
	switch {
	case n == 0 && (from < 0 || from > length):
		return 0, fmt.Errorf("ndarray: %w: position %d of axis %d of length %d", ErrBounds, at, axis, length)
	case from < 0 || from > length || n < 0 || n > length-from:
		return 0, fmt.Errorf("ndarray: %w: %d items at %d of axis %d of length %d", ErrBounds, n, at, axis, length)
	}
	return from, nil
}

// incoming returns the number of an axis and the number of steps along it that data holds.
func (b *Batch) incoming(ctx context.Context, axis int, data []byte) (ax int, n int64, err error) {
	if err := b.refresh(ctx); err != nil {
		return 0, 0, err
	}
	if axis, err = axisNumber(axis, b.st.geo.Ndim, ErrBounds); err != nil {
		return 0, 0, err
	}
	if len(data) == 0 {
		return axis, 0, nil
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
		of := fmt.Sprintf("axis %d of shape %v", axis, shape)
		return 0, 0, &lengthError{what: "data", have: int64(len(data)), want: step, itemSize: b.a.itemSize, multiple: true, of: of}
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
	same := true
	for i := range axis {
		same = same && g.Grid[i] == 1
	}
	same = was.geo.Chunks > 0 && (same || was.geo.Grid == g.Grid)
	if !same {
		if err := b.b.Engine().SelectChunks(ctx, g.Chunks, g.ChunkBytes, regrid(was.geo, g, nil)); err != nil {
			return err
		}
	}
	if err := b.publish(next); err != nil {
		return err
	}
	s := selection.WholeAxes(next.rec.Shape)
	s.Cut(axis, was.rec.Shape[axis], next.rec.Shape[axis])
	return b.a.writeSelection(ctx, b.b, next, nil, &s, &writing{src: data})
}

// errNotZero ends a scan early.
var errNotZero = errors.New("not zero")

// isZero reports whether all items of a selection are zero bytes. It decodes the blocks but keeps none.
func (a *Array) isZero(ctx context.Context, b *frame.Batch, st *state, s *selection.Selection) (bool, error) {
	if s.Items == 0 || allZeros(b.Engine().View()) {
		return true, nil
	}
	z := &zeroScan{reading{f: a.f}}
	z.plan = selection.NewPlan(st.geo, s)
	err := b.Engine().View().Decode(ctx, z, z.plan.BlockCount(), int(st.geo.BlockBytes))
	if errors.Is(err, errNotZero) {
		return false, nil
	}
	return err == nil, err
}

// zeroScan is the engine.ReadPlan that looks for an item that is not zero. It walks chunks as reading does.
type zeroScan struct{ reading }

// Block implements engine.ReadPlan.
func (z *zeroScan) Block(b *engine.Block, v *engine.Visit, k, _, n int) {
	m := &zeroMover{itemSize: int(z.plan.Geo.ItemSize)}
	m.some = z.plan.Box(&m.box, &v.State.(*readVisit).part, int32(k))
	b.ItemSize, b.Need, b.Mover = 0, n, m
}

// zeroMover looks at the items of one block.
type zeroMover struct {
	box      selection.Box
	some     bool
	itemSize int
}

// Move implements engine.Mover.
func (m *zeroMover) Move(block []byte, _ bool) error {
	if !m.some {
		return nil
	}
	items := make([]byte, m.box.Items*int64(m.itemSize))
	packed := m.box.Packed()
	c := selection.CopyOf(&packed, &m.box.Block, &m.box.Count, m.box.Ndim, m.itemSize)
	c.Run(items, block)
	if !coder.IsZero(items) {
		return errNotZero
	}
	return nil
}

// Unshuffle implements engine.Mover.
func (m *zeroMover) Unshuffle(coder.Shuffled) bool { return false }

// Special implements engine.ReadPlan.
func (z *zeroScan) Special(v *engine.Visit, s chunk.Special, value []byte, typeSize, _ int) error {
	item, err := z.specialItem(v, s, value, typeSize)
	if err == nil && !coder.IsZero(item) {
		err = errNotZero
	}
	return err
}

// allZeros reports whether one entry of the index represents all chunks as zeros.
func allZeros(v engine.View) bool {
	special, ok := v.Uniform()
	return ok && (special == chunk.Zeros || special == chunk.Uninit)
}
