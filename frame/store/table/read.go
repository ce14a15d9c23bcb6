package table

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/rows"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/ndarray"
)

// Read returns the values of the rows start to stop-1 of a column. T is a type that fits the kind of the column:
//
//	int8 to complex128   what ndarray.Read allows for the dtype: the same type, or one that holds all values
//	bool                 bool
//	string, utf8         string
//	vlstring             string
//	dictionary           string, or int32 for the codes
//	bytes, vlbytes       []byte
//	timestamp            time.Time in UTC, or int64 for the count of units since 1970
//	ndarray              a type of ndarray.Read for the elements; the result has those of all rows, in C order
//	list                 []E, where the items fit E by the rules of meta.Unmarshal, or []any
//	struct, object       any type that the values fit by these rules, or any
//	any kind             any: nil for null, otherwise the type above of the same size; for ndarray a slice per row
//
// If T is not any, nulls look like values. For dictionaries and the kinds vlstring, vlbytes, list, struct and object
// they are zero values. For other kinds they are the values that the file holds in their positions, or zero values
// where T cannot hold these. Column.Nulls reports which values are null, and ReadNullable returns pointers. NaT, the
// lowest int64 of a timestamp, is the zero time.Time, or nil if T is any.
//
// The error wraps ErrBounds for rows that do not exist, ErrType for a T that does not fit, ndarray.ErrValue for an item
// that T cannot hold, such as text that is not valid Unicode, and ErrTooLarge if the values take more memory than the
// stored bytes of the column or MaxBytes allow: then read fewer rows, or use All.
func Read[T any](ctx context.Context, c *Column, start, stop int64) ([]T, error) {
	if err := c.checkRows(start, stop); err != nil {
		return nil, err
	}
	if c.text != nil && stop-start > rows.Window {
		c = c.ahead(start, stop, mostColumn) // texts are read in several windows
	}
	values, err := read[T](ctx, c, start, stop)
	if err != nil {
		return nil, c.wrap(err)
	}
	return values, nil
}

// ReadNullable is Read with a nil pointer for each null. The column must not be of kind ndarray.
func ReadNullable[T any](ctx context.Context, c *Column, start, stop int64) ([]*T, error) {
	if c.info.Kind == "ndarray" {
		return nil, c.wrap(fmt.Errorf("pointers to the elements of arrays: %w", ErrType))
	}
	values, err := Read[T](ctx, c, start, stop)
	if err != nil {
		return nil, err
	}
	nulls, err := nullsOf(ctx, c, values, start, stop)
	if err != nil {
		return nil, c.wrap(err)
	}
	m := memory{ctx: ctx, f: c.valuesFrame()}
	if err := m.addRows(stop-start, 1, int64(reflect.TypeFor[*T]().Size()+reflect.TypeFor[T]().Size())); err != nil {
		return nil, c.wrap(err)
	}
	out := make([]*T, len(values))
	for i := range values {
		if nulls == nil || !nulls[i] {
			out[i] = &values[i]
		}
	}
	return out, nil
}

// All ranges over the values of all rows of a column, as Read returns them, in order. It reads each block once. It
// holds up to 65,536 rows at a time, or fewer if they have more than about 8 MiB, and about as many bytes of decoded
// blocks, or one block if that is larger. Of a utf8 column it holds at most about 8 MiB of text, or one row if that is
// larger. Of a column with values of any size it holds one row. The first error ends the loop.
func All[T any](ctx context.Context, c *Column) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if c.items != nil {
			allItems(ctx, c, yield)
			return
		}
		window := int64(rows.Window)
		n := max(c.itemCount(), 1)
		if c.array != nil {
			window = min(window, windowBytes/n/max(int64(c.array.DType().Size), 1))
		}
		window = max(min(window, rows.Window/n), 1)
		size, nulls := int64(reflect.TypeFor[T]().Size()), false
		if reflect.TypeFor[T]().Kind() == reflect.Interface {
			size, nulls = anyMemory, true
		}
		err := c.inWindows(ctx, 0, c.rows.Live, window, size, nulls, func(c *Column, from, to int64) error {
			values, err := read[T](ctx, c, from, to)
			if err != nil {
				return err
			}
			for _, v := range values {
				if !yield(v, nil) {
					return faults.ErrStop
				}
			}
			return nil
		})
		if err != nil && err != faults.ErrStop {
			yield(*new(T), c.wrap(err))
		}
	}
}

// checkRows returns an error for rows that do not exist.
func (c *Column) checkRows(start, stop int64) error {
	if start < 0 || stop < start || stop > c.rows.Live {
		return c.wrap(fmt.Errorf("rows %d to %d of %d: %w", start, stop, c.rows.Live, ErrBounds))
	}
	return nil
}

// wrap adds the name of the column to an error.
func (c *Column) wrap(err error) error {
	return fmt.Errorf("table: column %q: %w", c.info.Name, err)
}

// itemCount returns the number of array elements of a row.
func (c *Column) itemCount() int64 {
	n := int64(1)
	for _, e := range c.info.Shape {
		n *= e
	}
	return n
}

// read is Read of rows that exist.
func read[T any](ctx context.Context, c *Column, start, stop int64) ([]T, error) {
	var zero T
	if c.items == nil {
		if err := checkValues[T](ctx, c, stop-start); err != nil {
			return nil, err
		}
	}
	if _, ok := any(&zero).(*any); ok {
		values, err := c.readAny(ctx, start, stop)
		return convert[T](values, err)
	}
	if c.items != nil {
		return readItems[T](ctx, c, start, stop)
	}
	switch any(zero).(type) {
	case string:
		values, err := c.readStrings(ctx, start, stop)
		return convert[T](values, err)
	case []byte:
		values, err := c.readBytes(ctx, start, stop)
		return convert[T](values, err)
	case time.Time:
		if c.info.Kind == "ndarray" {
			break
		}
		values, err := c.readTimes(ctx, start, stop)
		return convert[T](values, err)
	case bool:
		values, err := c.readBools(ctx, start, stop)
		return convert[T](values, err)
	}
	if c.info.isText() {
		return nil, c.wrongType(zero)
	}
	return readRows[T](ctx, c, start, stop)
}

// convert returns values, which are of type []T, as that type.
func convert[T, V any](values []V, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return any(values).([]T), nil
}

// wrongType returns the error for a Go type that does not fit the column.
func (c *Column) wrongType(v any) error {
	return fmt.Errorf("values of kind %s as %T: %w", c.info.Kind, v, ErrType)
}

// readRows returns the items of rows of the array of a column, itemCount for each row. Rows that are next to each other
// are read at once. If a value cannot hold one of their items, they are read some at a time, because the item may be of
// a null.
func readRows[T any](ctx context.Context, c *Column, start, stop int64) ([]T, error) {
	if start == stop {
		return []T{}, nil
	}
	if from, to := c.rows.Position(start), c.rows.Position(stop-1)+1; to-from == stop-start {
		values, err := readSpan[T](ctx, c, c.array, from, to)
		if !errors.Is(err, ndarray.ErrValue) {
			return values, err
		}
	}
	per, width := c.itemCount(), int64(c.array.DType().Size)
	size := max(width, int64(reflect.TypeFor[T]().Size()), 1)
	m := memory{ctx: ctx, f: c.array.Frame()}
	if err := m.addRows(stop-start, per, size); err != nil {
		return nil, err
	}
	var out []T
	var buf, kept []byte
	window := max(min(rows.Window, windowBytes/(max(per, 1)*size)), 1)
	width *= per
	row := start
	err := c.rows.Windows(start, stop, window, func(from, to int64, live []int32) error {
		items, err := c.spanBytes(ctx, c.array, &buf, from, to, width)
		if err != nil {
			return err
		}
		n := to - from
		if live != nil {
			n = int64(len(live))
			kept = slices.Grow(kept[:0], int(n*width))
			for _, i := range live {
				kept = append(kept, items[int64(i)*width:(int64(i)+1)*width]...)
			}
			items = kept
		}
		done := len(out)
		out = slices.Grow(out, int(n*per))[:done+int(n*per)]
		row += n
		return decodeRows(ctx, c, out[done:], items, row-n, n)
	})
	return out, err
}

// decodeRows converts the stored items of n rows, starting at row, to values. Where a value cannot hold the item of a
// null, it becomes zero.
func decodeRows[T any](ctx context.Context, c *Column, dst []T, items []byte, row, n int64) error {
	if err := ndarray.DecodeItems(ctx, c.array, dst, engine.Stored{Bytes: items}); !errors.Is(err, ndarray.ErrValue) {
		return err
	}
	nulls, err := c.nulls(ctx, row, row+n)
	if err != nil {
		return err
	}
	per, width := c.itemCount(), int64(len(items))/n
	decode := func(from, to int64) error { // some of the rows
		first := int(c.rows.Position(row+from) * per)
		null := func(item int) bool { return nulls != nil && nulls[from+int64(item-first)/per] }
		s := engine.Stored{Bytes: items[from*width : to*width], First: first, Null: null}
		return ndarray.DecodeItems(ctx, c.array, dst[from*per:to*per], s)
	}
	from, to := int64(0), n
	if err = decode(from, to); !errors.Is(err, ndarray.ErrValue) {
		return err
	}
	for to-from > 1 { // find the row
		half := from + (to-from)/2
		switch err := decode(from, half); {
		case err == nil:
			from = half
		case errors.Is(err, ndarray.ErrValue):
			to = half
		default:
			return err
		}
	}
	if err = decode(from, to); err != nil {
		return fmt.Errorf("row %d: %w", row+from, err)
	}
	return nil
}

// readBools returns booleans. A column with a value for null stores them as bytes.
func (c *Column) readBools(ctx context.Context, start, stop int64) ([]bool, error) {
	if c.info.Kind != "bool" || c.array.DType().Kind == 'b' {
		return readRows[bool](ctx, c, start, stop)
	}
	numbers, err := readRows[uint8](ctx, c, start, stop)
	values := make([]bool, len(numbers))
	for i, n := range numbers {
		values[i] = n == 1
	}
	return values, err
}

// readStrings returns the text of a column of any kind of text. Fixed bytes count as text, too, for their null value.
func (c *Column) readStrings(ctx context.Context, start, stop int64) ([]string, error) {
	switch c.info.Kind {
	case "utf8":
		return c.readTexts(ctx, start, stop)
	case "dictionary":
		return c.readCategories(ctx, start, stop)
	case "string", "bytes", "ndarray":
		return readRows[string](ctx, c, start, stop)
	}
	return nil, c.wrongType("")
}

// readBytes returns the values of a column of fixed bytes.
func (c *Column) readBytes(ctx context.Context, start, stop int64) ([][]byte, error) {
	if c.info.Kind != "bytes" {
		return nil, c.wrongType([]byte(nil))
	}
	texts, err := c.readStrings(ctx, start, stop)
	values := make([][]byte, len(texts))
	for i, s := range texts {
		values[i] = []byte(s)
	}
	return values, err
}

// readCategories returns the values of a dictionary column.
func (c *Column) readCategories(ctx context.Context, start, stop int64) ([]string, error) {
	codes, err := readRows[int32](ctx, c, start, stop)
	if err != nil {
		return nil, err
	}
	categories, err := c.dict.categories(ctx)
	if err != nil {
		return nil, err
	}
	values := make([]string, len(codes))
	for i, code := range codes {
		switch {
		case code == c.info.nullCode:
		case code < 0 || int(code) >= len(categories):
			return nil, faults.Corruptf("code %d in row %d, but there are %d categories", code, start+int64(i), len(categories))
		default:
			values[i] = categories[code]
		}
	}
	return values, nil
}

// readTexts returns the values of a utf8 column.
func (c *Column) readTexts(ctx context.Context, start, stop int64) ([]string, error) {
	values := make([]string, 0, min(stop-start, rows.Window))
	m, texts := memory{ctx: ctx, f: c.array.Frame()}, memory{ctx: ctx, f: c.text.Frame()}
	if err := m.addRows(stop-start, 1, textHeader); err != nil {
		return nil, err
	}
	var buf []byte
	err := c.rows.Windows(start, stop, rows.Window, func(from, to int64, live []int32) error {
		ends, err := c.readEnds(ctx, from, to)
		if err != nil {
			return err
		}
		read := func(first, last, used int64) ([]byte, error) {
			if err := texts.add(used); err != nil {
				return nil, err
			}
			return c.spanBytes(ctx, c.text, &buf, first, last, 1)
		}
		if live == nil {
			first, last := ends[0], ends[len(ends)-1]
			text, err := read(first, last, last-first)
			if err != nil {
				return err
			}
			for i := range to - from {
				values = append(values, string(text[ends[i]-first:ends[i+1]-first]))
			}
		}
		for len(live) > 0 {
			n, used := nearTexts(ends, live)
			first := ends[live[0]]
			text, err := read(first, ends[live[n-1]+1], used)
			if err != nil {
				return err
			}
			for _, i := range live[:n] {
				values = append(values, string(text[ends[i]-first:ends[i+1]-first]))
			}
			live = live[n:]
		}
		return nil
	})
	return values, err
}

// readEnds returns the end of the text before stored row from, and those of the texts of the rows from to to-1.
func (c *Column) readEnds(ctx context.Context, from, to int64) ([]int64, error) {
	if e := c.ends; e != nil && e.has(from) && e.has(to-1) {
		return e.ends[from-e.from : to-e.from+1], nil
	}
	ends, err := readSpan[int64](ctx, c, c.array, from, to+1)
	if err != nil {
		return nil, err
	}
	length := c.text.Shape()[0]
	for i, end := range ends {
		if end < 0 || end > length || i > 0 && end < ends[i-1] {
			return nil, faults.Corruptf("row %d ends at byte %d of %d, the one before does at %d", from+int64(i)-1, end, length, ends[max(i-1, 0)])
		}
	}
	return ends, nil
}

// nearTexts returns the number of the first rows of live whose texts are read at once, and the bytes of these texts. It
// bounds the text of deleted rows between them.
func nearTexts(ends []int64, live []int32) (n int, used int64) {
	const gap = 64 << 10
	for ; n < len(live); n++ {
		i := live[n]
		more := ends[i+1] - ends[i]
		if n > 0 && ends[i+1]-ends[live[0]] > 2*(used+more)+gap {
			break
		}
		used += more
	}
	return n, used
}

// readTimes returns the values of a timestamp column. The lowest number is NaT, as in NumPy.
func (c *Column) readTimes(ctx context.Context, start, stop int64) ([]time.Time, error) {
	unit, ok := timeUnits()[c.info.Unit]
	if !ok || c.info.Kind != "timestamp" {
		return nil, c.wrongType(time.Time{})
	}
	counts, err := readRows[int64](ctx, c, start, stop)
	values := make([]time.Time, len(counts))
	for i, n := range counts {
		if n == ndarray.NaT {
			continue
		}
		values[i] = timeOf(n, unit)
	}
	return values, err
}

// timeOf returns the time that is n units after 1970.
func timeOf(n int64, unit time.Duration) time.Time {
	perSecond := int64(time.Second / unit)
	seconds, rest := n/perSecond, n%perSecond
	return time.Unix(seconds, rest*int64(unit)).UTC()
}

// eachItem calls see with the MessagePack of the values of rows of any size.
func (c *Column) eachItem(ctx context.Context, start, stop int64, see func(raw []byte) error) error {
	return c.rows.Windows(start, stop, rows.Window, func(from, to int64, live []int32) error {
		return c.items.Each(ctx, from, to, func(i int64, raw []byte) error {
			if !c.rows.IsLive(i) {
				return nil
			}
			return see(raw)
		})
	})
}

// readItems returns values of any size.
func readItems[T any](ctx context.Context, c *Column, start, stop int64) ([]T, error) {
	values := make([]T, 0, min(stop-start, rows.Window))
	m := memory{ctx: ctx, f: c.items.Frame()}
	err := c.eachItem(ctx, start, stop, func(raw []byte) error {
		var v T
		if err := m.unmarshal(raw, &v, reflect.TypeFor[T]().Size()); err != nil {
			return err
		}
		values = append(values, v)
		return nil
	})
	return values, err
}
