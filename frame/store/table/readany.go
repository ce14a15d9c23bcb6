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
	switch c.info.Kind {
	case "string", "utf8", "dictionary":
		return box[string](ctx, c, start, stop)
	case "bytes":
		return box[[]byte](ctx, c, start, stop)
	case "bool":
		return box[bool](ctx, c, start, stop)
	case "timestamp":
		return c.boxedTimes(ctx, start, stop)
	}
	d := c.array.DType()
	switch d.Kind {
	case 'b':
		return box[bool](ctx, c, start, stop)
	case 'i':
		return boxSize(ctx, c, d.Size, start, stop, box[int8], box[int16], box[int32], box[int64])
	case 'u':
		return boxSize(ctx, c, d.Size, start, stop, box[uint8], box[uint16], box[uint32], box[uint64])
	case 'f':
		return boxSize(ctx, c, d.Size, start, stop, nil, box[ndarray.Float16], box[float32], box[float64])
	case 'c':
		return boxSize(ctx, c, d.Size/2, start, stop, nil, nil, box[complex64], box[complex128])
	case 'S', 'U':
		return box[string](ctx, c, start, stop)
	case 'M':
		return box[time.Time](ctx, c, start, stop)
	case 'm':
		return box[time.Duration](ctx, c, start, stop)
	}
	return nil, faults.Unsupportedf("items of dtype %s as any", d)
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

// boxFunc reads values as any.
type boxFunc func(ctx context.Context, c *Column, start, stop int64) ([]any, error)

// boxSize calls the function for a size of 1, 2, 4 or 8 bytes.
func boxSize(ctx context.Context, c *Column, size int, start, stop int64, one, two, four, eight boxFunc) ([]any, error) {
	f := map[int]boxFunc{1: one, 2: two, 4: four, 8: eight}[size]
	if f == nil {
		return nil, faults.Unsupportedf("items of dtype %s as any", c.array.DType())
	}
	return f(ctx, c, start, stop)
}

// box returns values of type T as any. The elements of each row of a column of arrays become one slice.
func box[T any](ctx context.Context, c *Column, start, stop int64) ([]any, error) {
	values, err := read[T](ctx, c, start, stop)
	if err != nil {
		return nil, err
	}
	out := make([]any, stop-start)
	per := c.itemCount()
	for i := range out {
		if c.info.Kind == "ndarray" {
			out[i] = values[int64(i)*per : (int64(i)+1)*per : (int64(i)+1)*per]
		} else {
			out[i] = values[i]
		}
	}
	return out, nil
}
