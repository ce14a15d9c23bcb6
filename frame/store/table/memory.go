package table

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/frame/store/internal/rows"
	"github.com/goblosc/blosc2/meta"
)

// memory counts the bytes that one call keeps of a frame. Each chunk or window of rows may be within the limit of the
// frame while all of them together are not: few stored bytes may be the content of many rows.
type memory struct {
	ctx  context.Context
	f    *frame.Frame
	used int64
}

// anyMemory is the number of bytes that a value of fixed size takes as any, with its typed value and its item.
const anyMemory = 72

// textHeader is the number of bytes of a string besides its text.
const textHeader = 16

// add counts n more bytes. It returns ErrTooLarge if the frame does not justify all of them.
func (m *memory) add(n int64) error {
	m.used = min(m.used, math.MaxInt64-n) + n
	if err := m.f.Engine().CheckAlloc(m.ctx, m.used); err != nil {
		return fmt.Errorf("all rows at once, read fewer: %w", err)
	}
	return nil
}

// addRows counts rows of per items of size bytes each. The product may overflow.
func (m *memory) addRows(n, per, size int64) error {
	if per, size = max(per, 1), max(size, 1); n > math.MaxInt64/per/size {
		return m.add(math.MaxInt64)
	}
	return m.add(n * per * size)
}

// unmarshal counts the values of an item in MessagePack, and size bytes for the value that v points to. Then it decodes
// them.
func (m *memory) unmarshal(raw []byte, v any, size uintptr) error {
	return meta.UnmarshalWithin(raw, v, func(n int64) error { return m.add(n + int64(size)) })
}

// checkValues returns ErrTooLarge if the frame of a column with an array does not justify n rows of type T. Text and
// items are counted where they are read.
func checkValues[T any](ctx context.Context, c *Column, n int64) error {
	m, v := memory{ctx: ctx, f: c.array.Frame()}, reflect.TypeFor[T]()
	if v.Kind() == reflect.Interface {
		return m.addRows(n, 1, anyMemory)
	}
	return m.addRows(n, c.itemCount(), int64(v.Size()))
}

// valuesFrame returns the frame that justifies memory for each row of the column.
func (c *Column) valuesFrame() *frame.Frame {
	if c.items != nil {
		return c.items.Frame()
	}
	return c.array.Frame()
}

// inWindows calls read for the rows from start to stop-1, some at a time: up to first at first, then more and more, up
// to most. If limit is not nil, it returns the row before which a window ends that may end at to. If read or limit
// returns ErrTooLarge, because these rows take too much memory together, it gets fewer of them again. If read returns
// another error for more than rows.Window rows, they are read again in windows of rows.Window rows, so that the caller
// gets the rows before the fault.
func inWindows(start, stop, first, most int64, limit func(from, to int64) (int64, error), read func(from, to int64) error) error {
	grow := int64(4) // less after a window that was too large
	for n := first; start < stop; {
		to := min(start+n, stop)
		var err error
		if limit != nil {
			to, err = limit(start, to)
		}
		if err == nil {
			err = read(start, to)
		}
		switch {
		case err == nil:
			start, n = to, min(grow*n, most)
		case errors.Is(err, ErrTooLarge) && to-start > 1:
			n, grow = (to-start)/2, 2
		case err != faults.ErrStop && to-start > rows.Window:
			n, most = rows.Window, rows.Window
		default:
			return err
		}
	}
	return nil
}

// textBytes limits the bytes of text that a loop over a utf8 column holds, if they are of several rows.
const textBytes = 8 << 20

// textEnds has the ends of the texts of stored rows.
type textEnds struct {
	from int64   // first stored row
	ends []int64 // as readEnds returns them
}

// has reports whether the ends are those of a stored row, among others.
func (e *textEnds) has(row int64) bool { return row >= e.from && row-e.from < int64(len(e.ends))-1 }

// inWindows is the function inWindows for rows of the column. A window of a utf8 column has at most textBytes of text,
// or one row. read gets the column for this loop: see ahead. size is the number of bytes of a value that read holds,
// and nulls is set if it also reads the nulls. A window has up to most rows, and may have more if it ends where a block
// ends.
func (c *Column) inWindows(ctx context.Context, start, stop, most, size int64, nulls bool, read func(c *Column, from, to int64) error) error {
	if start >= stop {
		return nil
	}
	first := most
	var limit func(from, to int64) (int64, error)
	loop := c.ahead(start, stop, mostColumn)
	if c.text != nil {
		loop.ends = &textEnds{}
		limit = func(from, to int64) (int64, error) { return loop.limitText(ctx, from, to) }
	} else if part, n := c.wholeParts(ctx, size, nulls); n > 0 {
		loop.windows = loop.windows[:len(loop.windows)-1] // of the array
		first, most = min((most+part-1)/part*part, n), n
		limit = func(from, to int64) (int64, error) {
			if end := blockStart(c.array, to-to%part); end > from && to < stop {
				return end, nil
			}
			return to, nil
		}
	}
	return inWindows(start, stop, first, most, limit, func(from, to int64) error { return read(loop, from, to) })
}

// limitText returns the row before which a window of rows ends that starts at from and may end at to. It reads the ends
// of further texts only if c.ends has none for the window.
func (c *Column) limitText(ctx context.Context, from, to int64) (int64, error) {
	p := c.rows.Position(from)
	if !c.ends.has(p) {
		ends, err := c.readEnds(ctx, p, min(c.rows.Position(to-1)+1, p+rows.Window))
		if err != nil {
			return to, err
		}
		*c.ends = textEnds{p, ends}
	}
	row := from
	for used := int64(0); row < to && c.ends.has(p); p++ {
		if !c.rows.IsLive(p) {
			continue
		}
		i := p - c.ends.from
		if used += c.ends.ends[i+1] - c.ends.ends[i]; used > textBytes && row > from {
			break
		}
		row++
	}
	return row, nil
}

// allItems is All for values of any size. It holds one value.
func allItems[T any](ctx context.Context, c *Column, yield func(T, error) bool) {
	err := c.eachItem(ctx, 0, c.rows.Live, func(raw []byte) error {
		var v T
		if err := frames.Unmarshal(c.items.Frame(), raw, &v); err != nil {
			return err
		}
		if !yield(v, nil) {
			return faults.ErrStop
		}
		return nil
	})
	if err != nil && err != faults.ErrStop {
		yield(*new(T), c.wrap(err))
	}
}
