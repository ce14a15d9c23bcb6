package table

import (
	"context"
	"time"

	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/ndarray"
)

// readAny returns the values of rows as any, and nil for nulls.
func (c *Column) readAny(ctx context.Context, start, stop int64) ([]any, error) {
	if c.items != nil {
		return readItems[any](ctx, c, start, stop)
	}
	values, err := c.boxed(ctx, start, stop)
	if err != nil {
		return nil, err
	}
	nulls, err := nullsOf(ctx, c, values, start, stop)
	for i, null := range nulls {
		if null {
			values[i] = nil
		}
	}
	return values, err
}

// boxed returns the values of rows of a column with an array as any.
func (c *Column) boxed(ctx context.Context, start, stop int64) ([]any, error) {
	if c.info.Kind == "timestamp" {
		return c.boxedTimes(ctx, start, stop)
	}
	r, err := c.reader()
	if err != nil {
		return nil, err
	}
	return r.box(ctx, c, start, stop)
}

// boxedTimes returns timestamps as any, and nil for NaT.
func (c *Column) boxedTimes(ctx context.Context, start, stop int64) ([]any, error) {
	counts, err := readRows[int64](ctx, c, start, stop)
	values, unit := make([]any, len(counts)), timeUnits()[c.info.Unit] // readSchema checks the unit
	for i, n := range counts {
		if n != ndarray.NaT {
			values[i] = timeOf(n, unit)
		}
	}
	return values, err
}

// reader reads values of one type from a column with an array.
type reader interface {
	// box returns values as any. The elements of each row of a column of arrays become one slice.
	box(ctx context.Context, c *Column, start, stop int64) ([]any, error)
	// fill sets variables to the values of the rows start to stop-1, unless they are null. to returns a pointer to the
	// variable of row start+i. If the variables have neither the type nor one of pointers to it, fill returns false.
	fill(ctx context.Context, c *Column, start, stop int64, to func(i int) any) (bool, error)
}

// readerOf is the reader of values of type T.
type readerOf[T any] struct{}

// reader returns the reader of a column with an array for the type that its values have as any.
func (c *Column) reader() (reader, error) {
	switch c.info.Kind {
	case "string", "utf8", "dictionary":
		return readerOf[string]{}, nil
	case "bytes":
		return readerOf[[]byte]{}, nil
	case "bool":
		return readerOf[bool]{}, nil
	}
	d := c.array.DType()
	switch d.Kind {
	case 'b':
		return readerOf[bool]{}, nil
	case 'i':
		return c.sized(d.Size, readerOf[int8]{}, readerOf[int16]{}, readerOf[int32]{}, readerOf[int64]{})
	case 'u':
		return c.sized(d.Size, readerOf[uint8]{}, readerOf[uint16]{}, readerOf[uint32]{}, readerOf[uint64]{})
	case 'f':
		return c.sized(d.Size, nil, readerOf[ndarray.Float16]{}, readerOf[float32]{}, readerOf[float64]{})
	case 'c':
		return c.sized(d.Size/2, nil, nil, readerOf[complex64]{}, readerOf[complex128]{})
	case 'S', 'U':
		return readerOf[string]{}, nil
	case 'M':
		return readerOf[time.Time]{}, nil
	case 'm':
		return readerOf[time.Duration]{}, nil
	}
	return nil, faults.Unsupportedf("items of dtype %s as any", d)
}

// sized returns the reader for a size of 1, 2, 4 or 8 bytes.
func (c *Column) sized(size int, one, two, four, eight reader) (reader, error) {
	r := map[int]reader{1: one, 2: two, 4: four, 8: eight}[size]
	if r == nil {
		return nil, faults.Unsupportedf("items of dtype %s as any", c.array.DType())
	}
	return r, nil
}

// box implements reader.
func (readerOf[T]) box(ctx context.Context, c *Column, start, stop int64) ([]any, error) {
	list, err := read[T](ctx, c, start, stop)
	if err != nil {
		return nil, err
	}
	out := make([]any, stop-start)
	per := c.itemCount()
	for i := range out {
		if c.info.Kind == "ndarray" {
			out[i] = list[int64(i)*per : (int64(i)+1)*per : (int64(i)+1)*per]
		} else {
			out[i] = list[i]
		}
	}
	return out, nil
}

// fill implements reader.
func (readerOf[T]) fill(ctx context.Context, c *Column, start, stop int64, to func(i int) any) (bool, error) {
	switch to(0).(type) {
	case *T, **T:
	default:
		return false, nil
	}
	list, err := read[T](ctx, c, start, stop)
	if err != nil {
		return true, err
	}
	nulls, err := nullsOf(ctx, c, list, start, stop)
	if err != nil {
		return true, err
	}
	for i, v := range list {
		if nulls != nil && nulls[i] {
			continue
		}
		switch p := to(i).(type) {
		case *T:
			*p = v
		case **T:
			*p = new(T)
			**p = v
		}
	}
	return true, nil
}
