package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/goblosc/blosc2/frame/store/internal/rows"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/ndarray"
)

// Op is a comparison.
type Op uint8

// Comparisons of the value of a column, on the left, with the argument of Find.
const (
	Equal Op = iota
	NotEqual
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
)

// Find returns the numbers of the rows for which the comparison of the value with v is true, in order: for Less, the
// rows whose value is less than v. To get other columns of these rows, read the columns with Read and index the slices.
// Deleted rows have no number, so the numbers are not positions in Column.Array: see Column.Stored.
//
// No comparison with a null is true, and with a NaN only NotEqual is. T is a type that Read accepts for the column: for
// kind float64, pass 100.0, not 100. Times are compared as int64, the count of ColumnInfo.Unit since 1970: for the unit
// "us", pass t.UnixMicro(). Booleans are compared with the integers 0 and 1. Dictionaries are compared with strings, or
// with integers as codes.
//
// The error wraps ErrType for another type and for a column of kind ndarray, frame.ErrParam for another op, ErrTooLarge
// if a single value or the numbers of the rows take more memory than the stored bytes of the column or
// OpenOptions.MaxBytes allow, or is an error of reading.
//
// If the table has a summary of the column, with the smallest and the largest value of each segment of rows, Find reads
// only the segments that may hold such values. It ignores a summary that is stale.
func Find[T cmp.Ordered](ctx context.Context, c *Column, op Op, v T) ([]int64, error) {
	found, err := find(ctx, c, op, v)
	if k := fixedTypes()[c.info.Kind].Kind; errors.Is(err, ErrType) && (k == 'i' || k == 'u' || k == 'f') {
		err = fmt.Errorf("comparing values of kind %s with %T; pass a value of type %[1]s: %[3]w", c.info.Kind, v, ErrType)
	}
	if err != nil {
		return nil, c.wrap(err)
	}
	return found, nil
}

func find[T cmp.Ordered](ctx context.Context, c *Column, op Op, v T) ([]int64, error) {
	if c.info.Kind == "ndarray" {
		return nil, fmt.Errorf("comparing arrays: %w", ErrType)
	}
	if op > GreaterOrEqual {
		return nil, fmt.Errorf("comparison %d: %w", op, errs.ErrParam)
	}
	s, err := readSummary[T](ctx, c)
	if err != nil {
		return nil, err
	}
	if c.mask != nil {
		loops := *c
		loops.marks = newWindow(c.mask, 0, mostColumn)
		c = &loops
	}
	found := []int64{}
	var values []T // of some rows at a time
	for start, stop := range s.ranges(c, op, v) {
		err := c.inWindows(ctx, start, stop, rows.Window, int64(reflect.TypeFor[T]().Size()), true, func(c *Column, from, to int64) error {
			var err error
			if values, err = readOrdered(ctx, c, values, from, to); err != nil {
				return err
			}
			nulls, err := nullsOf(ctx, c, values, from, to)
			if err != nil {
				return err
			}
			n := len(found)
			for i, x := range values {
				if matches(x, op, v) && (nulls == nil || !nulls[i]) {
					found = append(found, from+int64(i))
				}
			}
			if err := c.valuesFrame().Engine().CheckAlloc(ctx, 8*int64(len(found))); err != nil {
				err = fmt.Errorf("numbers of %d rows: %w", len(found), err)
				found = found[:n]
				return err
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// readOrdered returns the values of the rows start to stop-1. It uses the memory of values for numbers of rows that are
// next to each other.
func readOrdered[T cmp.Ordered](ctx context.Context, c *Column, values []T, start, stop int64) ([]T, error) {
	from, to := c.rows.Position(start), c.rows.Position(stop-1)+1
	if c.items != nil || c.info.isText() || reflect.TypeFor[T]().Kind() == reflect.String || to-from != stop-start {
		return read[T](ctx, c, start, stop)
	}
	if int64(cap(values)) < stop-start {
		if err := checkValues[T](ctx, c, stop-start); err != nil {
			return nil, err
		}
		values = make([]T, stop-start)
	}
	values = values[:stop-start]
	if err := readSpanInto(ctx, c, values, from, to); !errors.Is(err, ndarray.ErrValue) {
		return values, err
	}
	return read[T](ctx, c, start, stop) // the item that T cannot hold may be of a null
}

// matches reports whether x compares with v.
func matches[T cmp.Ordered](x T, op Op, v T) bool {
	switch op {
	case Equal:
		return x == v
	case NotEqual:
		return x != v
	case Less:
		return x < v
	case LessOrEqual:
		return x <= v
	case Greater:
		return x > v
	}
	return x >= v
}
