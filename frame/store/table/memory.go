package table

import (
	"context"
	"fmt"
	"math"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
)

// memory counts the bytes that one call keeps of a frame. Each chunk or window of rows may be within the limit of the
// frame while all of them together are not: few stored bytes may be the content of many rows.
type memory struct {
	f    *frame.Frame
	used int64
}

// textHeader is the number of bytes of a string besides its text.
const textHeader = 16

// add counts n more bytes. It returns ErrTooLarge if the frame does not justify all of them.
func (m *memory) add(n int64) error {
	m.used = min(m.used, math.MaxInt64-n) + n
	if err := m.f.CheckAlloc(m.used); err != nil {
		return fmt.Errorf("all rows at once, read fewer: %w", err)
	}
	return nil
}

// addRows counts rows with items of size bytes, of which each row has per. The product may overflow.
func (m *memory) addRows(n, per, size int64) error {
	if per, size = max(per, 1), max(size, 1); n > math.MaxInt64/per/size {
		return m.add(math.MaxInt64)
	}
	return m.add(n * per * size)
}

// valuesFrame returns the frame that justifies memory for each row of the column.
func (c *Column) valuesFrame() *frame.Frame {
	if c.items != nil {
		return c.items.Frame()
	}
	return c.array.Frame()
}

// allItems is All for values of any size, of which it holds one.
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
