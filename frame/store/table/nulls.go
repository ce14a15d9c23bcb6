package table

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/rows"
	"github.com/goblosc/blosc2/ndarray"
)

// nullTest finds the nulls of a column. It is zero if no value is null.
type nullTest struct {
	kind nullKind
	i    int64
	u    uint64
	f    float64
	s    string
}

// nullKind is how the nulls of a column are stored.
type nullKind uint8

const (
	noNulls nullKind = iota
	byMask
	byInt   // the value i
	byUint  // the value u
	byFloat // the value f
	byNaN   // a NaN
	byText  // the value s
	byCode  // the code i of a dictionary
)

// openNulls finds out how the nulls of a column with an array are stored.
func (c *Column) openNulls(ctx context.Context, t *Table, key string) error {
	if c.info.Kind == "dictionary" {
		c.null = nullTest{kind: byCode, i: int64(c.info.nullCode)}
		return nil
	}
	if c.info.masked {
		if key += ".notnull"; !t.s.Has(key) {
			return nil // no null was written yet
		}
		a, err := t.openColumnArray(ctx, key, c.rows.Stored)
		if err != nil {
			return fmt.Errorf("null mask: %w", err)
		}
		if d := a.DType(); d.Kind != 'b' || len(a.Shape()) != 1 {
			return faults.Corruptf("null mask of dtype %s and shape %v", d, a.Shape())
		}
		c.mask, c.null = a, nullTest{kind: byMask}
		return nil
	}
	if c.info.nullValue == nil {
		return nil
	}
	var err error
	if c.null, err = sentinel(c.info.nullValue, c.array.DType().Kind, c.info.Kind); err != nil {
		return fmt.Errorf("null value %v: %w", c.info.nullValue, err)
	}
	return nil
}

// sentinel returns the test for a value that is null in a column of a kind, stored with a kind of dtype.
func sentinel(v any, stored byte, kind string) (nullTest, error) {
	bad := faults.Corruptf("not a value of kind %s", kind)
	if kind == "utf8" || stored == 'U' || stored == 'S' {
		switch v := v.(type) {
		case string:
			return nullTest{kind: byText, s: v}, nil
		case []byte:
			return nullTest{kind: byText, s: string(v)}, nil
		}
		return nullTest{}, bad
	}
	text := ""
	switch v := v.(type) {
	case json.Number:
		text = v.String()
	case string: // NaN and the infinities
		text = v
	default:
		return nullTest{}, bad
	}
	switch stored {
	case 'i':
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nullTest{}, bad
		}
		return nullTest{kind: byInt, i: i}, nil
	case 'u', 'b':
		u, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nullTest{}, bad
		}
		return nullTest{kind: byUint, u: u}, nil
	case 'f':
		f, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
			return nullTest{}, bad
		case math.IsNaN(f):
			return nullTest{kind: byNaN}, nil
		}
		return nullTest{kind: byFloat, f: f}, nil
	}
	return nullTest{}, bad
}

// Nulls reports for each of the rows start to stop-1 whether its value is null. The result is nil if the column has no
// nulls at all.
func (c *Column) Nulls(ctx context.Context, start, stop int64) ([]bool, error) {
	if err := c.checkRows(start, stop); err != nil {
		return nil, err
	}
	nulls, err := c.nulls(ctx, start, stop)
	if err != nil {
		return nil, c.wrap(err)
	}
	return nulls, nil
}

func (c *Column) nulls(ctx context.Context, start, stop int64) ([]bool, error) {
	if c.items != nil {
		return c.itemNulls(ctx, start, stop)
	}
	switch n := c.null; n.kind {
	case byMask:
		return testRows(ctx, c.rows, c.mask, 1, start, stop, func(v bool) bool { return !v })
	case byInt, byCode:
		return c.intNulls(ctx, start, stop)
	case byUint:
		return c.uintNulls(ctx, start, stop)
	case byFloat:
		return c.floatNulls(ctx, start, stop, func(v float64) bool { return v == n.f })
	case byNaN:
		return c.floatNulls(ctx, start, stop, func(v float64) bool { return v != v })
	case byText:
		texts, err := c.readStrings(ctx, start, stop)
		nulls := make([]bool, len(texts))
		for i, s := range texts {
			nulls[i] = s == n.s
		}
		return nulls, err
	}
	return nil, nil
}

// intNulls is Nulls for integers: ndarray converts them without loss.
func (c *Column) intNulls(ctx context.Context, start, stop int64) ([]bool, error) {
	size, per := c.array.DType().Size, c.itemCount()
	switch size {
	case 1:
		return testRows(ctx, c.rows, c.array, per, start, stop, func(v int8) bool { return int64(v) == c.null.i })
	case 2:
		return testRows(ctx, c.rows, c.array, per, start, stop, func(v int16) bool { return int64(v) == c.null.i })
	case 4:
		return testRows(ctx, c.rows, c.array, per, start, stop, func(v int32) bool { return int64(v) == c.null.i })
	}
	return testRows(ctx, c.rows, c.array, per, start, stop, func(v int64) bool { return v == c.null.i })
}

// uintNulls is Nulls for unsigned integers.
func (c *Column) uintNulls(ctx context.Context, start, stop int64) ([]bool, error) {
	d, per := c.array.DType(), c.itemCount()
	if d.Kind == 'b' {
		return nil, nil
	}
	switch d.Size {
	case 1:
		return testRows(ctx, c.rows, c.array, per, start, stop, func(v uint8) bool { return uint64(v) == c.null.u })
	case 2:
		return testRows(ctx, c.rows, c.array, per, start, stop, func(v uint16) bool { return uint64(v) == c.null.u })
	case 4:
		return testRows(ctx, c.rows, c.array, per, start, stop, func(v uint32) bool { return uint64(v) == c.null.u })
	}
	return testRows(ctx, c.rows, c.array, per, start, stop, func(v uint64) bool { return v == c.null.u })
}

// floatNulls is Nulls for floats.
func (c *Column) floatNulls(ctx context.Context, start, stop int64, is func(float64) bool) ([]bool, error) {
	per := c.itemCount()
	if c.array.DType().Size == 8 {
		return testRows(ctx, c.rows, c.array, per, start, stop, is)
	}
	return testRows(ctx, c.rows, c.array, per, start, stop, func(v float32) bool { return is(float64(v)) })
}

// testRows reports for each row whether all of its per items pass a test.
func testRows[T any](ctx context.Context, set *rows.Set, a *ndarray.Array, per, start, stop int64, is func(T) bool) ([]bool, error) {
	var nulls []bool
	err := eachWindow(ctx, set, a, per, start, stop, func(items []T, n int64, live []int32) error {
		test := func(i int64) {
			all := per > 0
			for _, v := range items[i*per : (i+1)*per] {
				all = all && is(v)
			}
			nulls = append(nulls, all)
		}
		if live == nil {
			for i := range n {
				test(i)
			}
		}
		for _, i := range live {
			test(int64(i))
		}
		return nil
	})
	return nulls, err
}

// itemNulls is Nulls for values of any size: nil is null.
func (c *Column) itemNulls(ctx context.Context, start, stop int64) ([]bool, error) {
	var nulls []bool
	err := c.eachItem(ctx, start, stop, func(raw []byte) error {
		nulls = append(nulls, isNil(raw))
		return nil
	})
	return nulls, err
}

// isNil reports whether a MessagePack value is nil.
func isNil(raw []byte) bool { return len(raw) == 1 && raw[0] == 0xc0 }
