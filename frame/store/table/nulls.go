package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/rows"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// nullTest finds the nulls of a column. It is zero if no value is null.
type nullTest struct {
	kind nullKind
	item []byte // of kind byItem, without zeros that only fill the item
	f    float64
	s    string
}

// nullKind is how the nulls of a column are stored.
type nullKind uint8

const (
	noNulls nullKind = iota
	byMask           // false in an array of their own
	byItem           // the bytes of an item
	byFloat          // the value f; a NaN is any NaN
	byText           // the value s, in a utf8 column
)

// openNulls finds out how the nulls of a column with an array are stored.
func (c *Column) openNulls(ctx context.Context, t *Table, key string) error {
	d := c.array.DType()
	if c.info.Kind == "dictionary" {
		c.null = nullTest{kind: byItem, item: integer(d, uint64(int64(c.info.nullCode)))}
		return nil
	}
	if c.info.Kind == "timestamp" && c.info.Nullable {
		c.nat = integer(d, 1<<63)
		c.null = nullTest{kind: byItem, item: c.nat}
	}
	if c.info.masked {
		if key += ".notnull"; !t.s.Has(key) {
			return nil // no null was written yet
		}
		a, err := t.openColumnArray(ctx, key, c.rows.Stored)
		if err != nil {
			return fmt.Errorf("null mask: %w", err)
		}
		c.mask = a
		if d := a.DType(); d.Kind != 'b' || len(a.Shape()) != 1 {
			return faults.Corruptf("null mask of dtype %s and shape %v", d, a.Shape())
		}
		c.null = nullTest{kind: byMask}
		return nil
	}
	if c.info.nullValue == nil {
		return nil
	}
	var err error
	if c.null, err = sentinel(c.info.nullValue, d, c.info.Kind); err != nil {
		return fmt.Errorf("null value %v: %w", c.info.nullValue, err)
	}
	return nil
}

// sentinel returns the test for a value that is null in a column of a kind, stored with a dtype.
func sentinel(v any, d meta.DType, kind string) (nullTest, error) {
	bad := faults.Corruptf("not a value of kind %s", kind)
	text := ""
	switch v := v.(type) {
	case jsonNumber:
		text = string(v)
	case string: // a NaN may be text
		text = v
	case []byte:
		if kind != "utf8" && d.Kind != 'U' && d.Kind != 'S' {
			return nullTest{}, bad
		}
		text = string(v)
	default:
		return nullTest{}, bad
	}
	if _, isNumber := v.(jsonNumber); isNumber && (kind == "utf8" || d.Kind == 'U' || d.Kind == 'S') {
		return nullTest{}, bad
	}
	if kind == "utf8" {
		return nullTest{kind: byText, s: text}, nil
	}
	if d.Kind == 'U' || d.Kind == 'S' {
		return nullTest{kind: byItem, item: fixedText(d, text)}, nil
	}
	if d.Size > 8 {
		return nullTest{}, faults.Unsupportedf("items of dtype %s", d)
	}
	switch d.Kind {
	case 'i':
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nullTest{}, bad
		}
		if shift := 64 - 8*d.Size; i<<shift>>shift != i {
			return nullTest{}, nil // no item is as large
		}
		return nullTest{kind: byItem, item: integer(d, uint64(i))}, nil
	case 'u', 'b':
		u, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nullTest{}, bad
		}
		if shift := 64 - 8*d.Size; d.Kind == 'b' || u<<shift>>shift != u {
			return nullTest{}, nil
		}
		return nullTest{kind: byItem, item: integer(d, u)}, nil
	case 'f':
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nullTest{}, bad
		}
		switch d.Size { // NumPy rounds a Python float to the dtype of the array that it is compared with
		case 2:
			f = ndarray.Float16Of(f).Float64()
		case 4:
			f = float64(float32(f))
		}
		return nullTest{kind: byFloat, f: f}, nil
	}
	return nullTest{}, bad
}

// integer returns an item of a dtype of up to 8 bytes.
func integer(d meta.DType, u uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, u)[:d.Size]
	if d.Order == '>' {
		slices.Reverse(b)
	}
	return b
}

// fixedText returns the first bytes of an item of a dtype of kind S or U with a text. The others are 0. Text that is
// too long has more bytes than an item.
func fixedText(d meta.DType, text string) []byte {
	if d.Kind == 'S' {
		return []byte(text)
	}
	var b []byte
	for _, r := range text {
		b = append(b, integer(meta.DType{Size: 4, Order: d.Order}, uint64(r))...)
	}
	return b
}

// isItem reports whether an item has the given first bytes, and zeros after them.
func isItem(b, first []byte) bool {
	return bytes.HasPrefix(b, first) && len(bytes.TrimLeft(b[len(first):], "\x00")) == 0
}

// isFloat reports whether an item of a dtype is f, or any NaN if f is one.
func isFloat(d meta.DType, b []byte, f float64) bool {
	var word [8]byte
	copy(word[:], b)
	if d.Order == '>' {
		slices.Reverse(word[:len(b)])
	}
	u := binary.LittleEndian.Uint64(word[:])
	v := math.Float64frombits(u)
	switch d.Size {
	case 2:
		v = ndarray.Float16(u).Float64()
	case 4:
		v = float64(math.Float32frombits(uint32(u)))
	}
	return v == f || v != v && f != f
}

// Nulls reports for each of the rows start to stop-1 whether its value is null. The result is nil if no value of the
// column can be null. NaT is null in a nullable timestamp, however the table marks nulls. The error wraps ErrBounds for
// rows that do not exist, or is an error of reading.
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
	isNaT := func(item []byte) bool { return c.nat != nil && isItem(item, c.nat) }
	switch n := c.null; n.kind {
	case byMask:
		nulls, err := testRows(ctx, c, c.mask, 1, start, stop, func(item []byte) bool { return item[0] == 0 })
		if err != nil || c.nat == nil {
			return nulls, err
		}
		nats, err := testRows(ctx, c, c.array, 1, start, stop, isNaT)
		for i, nat := range nats {
			nulls[i] = nulls[i] || nat
		}
		return nulls, err
	case byItem:
		return testRows(ctx, c, c.array, c.itemCount(), start, stop, func(item []byte) bool { return isItem(item, n.item) || isNaT(item) })
	case byFloat:
		d := c.array.DType()
		return testRows(ctx, c, c.array, c.itemCount(), start, stop, func(item []byte) bool { return isFloat(d, item, n.f) })
	case byText:
		return c.textNulls(ctx, start, stop)
	}
	return nil, nil
}

// nullsOf is nulls for rows whose values were read, where nil is null, too. It does not read the texts of a utf8 column
// again.
func nullsOf[T any](ctx context.Context, c *Column, values []T, start, stop int64) ([]bool, error) {
	if c.null.kind != byText {
		return c.nulls(ctx, start, stop)
	}
	nulls := make([]bool, len(values))
	for i, v := range values {
		nulls[i] = any(v) == nil || any(v) == any(c.null.s)
	}
	return nulls, nil
}

// textNulls is nulls for a utf8 column with a text that is null. It holds the texts of some rows at a time.
func (c *Column) textNulls(ctx context.Context, start, stop int64) ([]bool, error) {
	if err := c.array.Frame().Engine().CheckAlloc(ctx, stop-start); err != nil {
		return nil, fmt.Errorf("nulls of %d rows: %w", stop-start, err)
	}
	nulls := []bool{}
	err := c.inWindows(ctx, start, stop, rows.Window, textHeader, true, func(c *Column, from, to int64) error {
		texts, err := c.readTexts(ctx, from, to)
		if err != nil {
			return err
		}
		for _, s := range texts {
			nulls = append(nulls, s == c.null.s)
		}
		return nil
	})
	return nulls, err
}

// windowBytes limits the bytes of rows that are looked at together, if they are several.
const windowBytes = 16 * rows.Window

// testRows reports for each row whether all of its per items pass a test.
func testRows(ctx context.Context, c *Column, a *ndarray.Array, per, start, stop int64, is func(item []byte) bool) ([]bool, error) {
	var nulls []bool
	size := int64(a.DType().Size)
	row := max(per*size, 1)
	if err := a.Frame().Engine().CheckAlloc(ctx, max(row, stop-start)); err != nil {
		return nil, fmt.Errorf("nulls of %d rows of %d bytes: %w", stop-start, row, err)
	}
	var buf []byte
	err := c.rows.Windows(start, stop, max(min(rows.Window, windowBytes/row), 1), func(from, to int64, live []int32) error {
		items, err := c.spanBytes(ctx, a, &buf, from, to, per*size)
		if err != nil {
			return err
		}
		test := func(i int64) {
			all := per > 0
			for k := i * per; k < (i+1)*per; k++ {
				all = all && is(items[k*size:(k+1)*size])
			}
			nulls = append(nulls, all)
		}
		if live == nil {
			for i := range to - from {
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
	if err := c.items.Frame().Engine().CheckAlloc(ctx, stop-start); err != nil {
		return nil, fmt.Errorf("nulls of %d rows: %w", stop-start, err)
	}
	var nulls []bool
	err := c.eachItem(ctx, start, stop, func(raw []byte) error {
		nulls = append(nulls, isNil(raw))
		return nil
	})
	return nulls, err
}

// isNil reports whether a MessagePack value is nil.
func isNil(raw []byte) bool { return len(raw) == 1 && raw[0] == 0xc0 }
