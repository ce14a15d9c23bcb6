package table

import (
	"context"
	"reflect"
	"slices"

	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray"
)

// The largest number of decoded bytes that a loop over rows holds, if they are of several blocks.
const (
	mostColumn = 8 << 20   // of an array
	mostAhead  = 64 << 20  // of all columns together
	textAhead  = 256 << 10 // of texts, if the loop ends before the last row: where its texts end is not known
)

// A window holds the items of some stored rows of an array in a loop over rows, up to the end of a block. A later
// window begins where it ends, so that no block is decoded twice, and blocks far away are read with few requests.
type window struct {
	a        *ndarray.Array
	width    int64 // bytes of a stored row
	stop     int64 // the loop needs no stored rows starting here
	most     int64 // bytes that are held, if they are of several blocks
	size     int64 // bytes to be held next, in the same way; a loop that ends early has not read much
	from, to int64 // stored rows that are held
	raw      []byte
	failed   bool // the rows ahead could not be read: those before a fault are read without them
	partial  bool // failed was true in an earlier loop
}

// newWindow returns a window that holds no rows yet.
func newWindow(a *ndarray.Array, stop, most int64) *window {
	w := &window{a: a, width: int64(a.DType().Size), stop: stop, most: most}
	narrow := false // blocks have a part of a row, so that rows up to the end of a block are many blocks
	for i, n := range a.Shape()[1:] {
		w.width *= n // ndarray limits the product
		narrow = narrow || a.Blocks()[1+i] < n
	}
	if w.failed = w.width <= 0 || narrow && a.Blocks()[0] > most/w.width; !w.failed {
		w.size = min(a.Chunks()[0], most/w.width) * w.width
	}
	return w
}

// next prepares the window of a mask for one more loop, which needs no stored rows starting at stop. The window holds
// rows up to the end of a block, so that the loop after it does not decode that block again.
func (w *window) next(stop int64) {
	w.stop = blockEnd(w.a, stop, w.a.Shape()[0])
	w.failed, w.partial = false, w.partial || w.failed
}

// ahead returns the column for a loop over the rows start to stop-1. It holds up to most bytes of each array.
func (c *Column) ahead(start, stop, most int64) *Column {
	loop := *c
	if c.array == nil || start >= stop {
		return &loop
	}
	end := c.rows.Position(stop-1) + 1
	loop.windows = nil
	switch {
	case c.marks != nil:
		c.marks.next(end)
		loop.windows = append(loop.windows, c.marks)
	case c.mask != nil:
		loop.windows = append(loop.windows, newWindow(c.mask, end, most))
	}
	if c.text != nil {
		text := newWindow(c.text, c.text.Shape()[0], most)
		text.size = 0 // the end of the texts is not known yet
		if end < c.rows.Stored {
			text.most = min(most, textAhead)
		}
		loop.windows = append(loop.windows, text)
		end++
	}
	loop.windows = append(loop.windows, newWindow(c.array, end, most))
	return &loop
}

// window returns the window of an array with the stored rows from to to-1. It returns nil if they must be read from the
// array.
func (c *Column) window(ctx context.Context, a *ndarray.Array, from, to int64) (*window, error) {
	i := slices.IndexFunc(c.windows, func(w *window) bool { return w.a == a })
	if i < 0 {
		return nil, nil
	}
	w := c.windows[i]
	if w.from <= from && to <= w.to {
		return w, nil
	}
	if w.failed || from < w.from || from >= to {
		return nil, nil
	}
	if err := w.move(ctx, from, to); err != nil {
		w.failed, w.from, w.to, w.raw = true, 0, 0, nil
		return nil, task.Context(ctx).Err()
	}
	return w, nil
}

// move replaces the rows that are held by those from from to to-1, and more after them.
func (w *window) move(ctx context.Context, from, to int64) error {
	start := max(from, w.to)
	end := max(blockEnd(w.a, to, w.stop), to)
	more := start + w.size/w.width
	if chunk := more - more%max(w.a.Chunks()[0], 1); chunk > end {
		more = chunk // a source far away reads over gaps of a chunk
	}
	if more = blockStart(w.a, more); more > end {
		if more = min(more, w.stop); w.a.Frame().Engine().CheckAlloc(ctx, (more-from)*w.width) == nil {
			end = more
		}
	}
	if err := w.a.Frame().Engine().CheckAlloc(ctx, (end-from)*w.width); err != nil {
		return err
	}
	kept := 0
	if start > from {
		kept = copy(w.raw, w.raw[(from-w.from)*w.width:])
	}
	w.raw = slices.Grow(w.raw[:kept], int((end-start)*w.width))[:(end-from)*w.width]
	if err := w.a.ReadBytes(ctx, w.raw[kept:], ndarray.Span(start, end)); err != nil {
		return err
	}
	w.from, w.to = from, end
	w.size = w.most
	return nil
}

// bytes returns the stored rows from to to-1, which are in the window.
func (w *window) bytes(from, to int64) []byte {
	return w.raw[(from-w.from)*w.width : (to-w.from)*w.width]
}

// blockStart returns the last row, up to row, with which a block of an array begins.
func blockStart(a *ndarray.Array, row int64) int64 {
	chunk, block := max(a.Chunks()[0], 1), max(a.Blocks()[0], 1)
	return row - row%chunk%block
}

// blockEnd returns the first row, starting at row, with which a block of an array begins, or stop if that is less.
func blockEnd(a *ndarray.Array, row, stop int64) int64 {
	start := blockStart(a, row)
	if start < row {
		chunk, block := a.Chunks()[0], a.Blocks()[0]
		start = min(start+block, (start/chunk+1)*chunk)
	}
	return min(start, stop)
}

// readSpan reads stored rows of an array of the column.
func readSpan[T any](ctx context.Context, c *Column, a *ndarray.Array, from, to int64) ([]T, error) {
	w, err := c.window(ctx, a, from, to)
	if err != nil {
		return nil, err
	}
	if w == nil {
		return ndarray.Read[T](ctx, a, ndarray.Span(from, to))
	}
	b := w.bytes(from, to)
	n := len(b) / a.DType().Size
	if err := a.Frame().Engine().CheckAlloc(ctx, int64(n)*int64(reflect.TypeFor[T]().Size())); err != nil {
		return nil, err
	}
	values := make([]T, n)
	return values, ndarray.DecodeItems(ctx, a, values, engine.Stored{Bytes: b})
}

// readSpanInto reads stored rows of the array of the column, with one item each.
func readSpanInto[T any](ctx context.Context, c *Column, dst []T, from, to int64) error {
	w, err := c.window(ctx, c.array, from, to)
	if err != nil {
		return err
	}
	if w == nil {
		return ndarray.ReadInto(ctx, c.array, dst, ndarray.Span(from, to))
	}
	return ndarray.DecodeItems(ctx, c.array, dst, engine.Stored{Bytes: w.bytes(from, to)})
}

// spanBytes returns the items of stored rows of an array of the column, width bytes for each row. They are valid until
// the next call. buf has memory of earlier calls.
func (c *Column) spanBytes(ctx context.Context, a *ndarray.Array, buf *[]byte, from, to, width int64) ([]byte, error) {
	if w, err := c.window(ctx, a, from, to); w != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return w.bytes(from, to), nil
	}
	n := (to - from) * width
	*buf = slices.Grow((*buf)[:0], int(n))[:n]
	return *buf, a.ReadBytes(ctx, *buf, ndarray.Span(from, to))
}

// wholeParts returns the rows of a chunk of the array of the column, or of a block, and the largest multiple that a
// loop may read at a time if values of size bytes are decoded to where the loop uses them. They are 0 if a block is
// too large for that, or if the loop reads items of the array twice.
func (c *Column) wholeParts(ctx context.Context, size int64, nulls bool) (part, most int64) {
	if c.array == nil || c.text != nil || c.rows.Live < c.rows.Stored || nulls && (c.null.kind == byItem || c.null.kind == byFloat || c.nat != nil) {
		return 0, 0
	}
	size = (size + int64(c.array.DType().Size)) * max(c.itemCount(), 1) // text has bytes besides its header
	for _, part := range []int64{c.array.Chunks()[0], c.array.Blocks()[0]} {
		most := mostColumn / max(size, 1) / max(part, 1) * part
		if most > 0 && c.array.Frame().Engine().CheckAlloc(ctx, most*size) == nil {
			return part, most
		}
	}
	return 0, 0
}
