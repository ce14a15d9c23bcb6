package table

import (
	"cmp"
	"context"
	"fmt"

	"github.com/goblosc/blosc2/frame/store/internal/rows"
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
// rows whose value is less than v. No comparison with a null is true, and with a NaN only NotEqual is. T is a type that
// Read accepts for the column, which must not be of kind ndarray.
//
// If the table has a summary of the column, with the smallest and the largest value of each segment of rows, Find reads
// only the segments that may hold such values. It ignores a summary that is stale.
func Find[T cmp.Ordered](ctx context.Context, c *Column, op Op, v T) ([]int64, error) {
	found, err := find(ctx, c, op, v)
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
		return nil, fmt.Errorf("comparison %d: %w", op, ErrType)
	}
	s, err := readSummary[T](ctx, c)
	if err != nil {
		return nil, err
	}
	found := []int64{}
	// Rows may match, starting at start, up to the segment that is looked at.
	start, stop := int64(0), int64(0)
	flush := func() error {
		return inWindows(start, stop, rows.Window, func(from, to int64) error {
			part, err := findIn(ctx, c, op, v, from, to)
			if err != nil {
				return err
			}
			n := len(found) + len(part)
			if err := c.valuesFrame().CheckAlloc(8 * int64(n)); err != nil {
				return fmt.Errorf("numbers of %d rows: %w", n, err)
			}
			found = append(found, part...)
			return nil
		})
	}
	for i := range s.segments() {
		end := c.rows.Rank(s.end(i))
		if s.mayMatch(i, op, v) {
			stop = end
			continue
		}
		if err := flush(); err != nil {
			return nil, err
		}
		start, stop = end, end
	}
	stop = c.rows.Live // rows after the last segment
	err = flush()
	return found, err
}

// findIn returns the rows from start to stop-1 that match.
func findIn[T cmp.Ordered](ctx context.Context, c *Column, op Op, v T, start, stop int64) ([]int64, error) {
	values, err := read[T](ctx, c, start, stop)
	if err != nil {
		return nil, err
	}
	nulls, err := c.nulls(ctx, start, stop)
	if err != nil {
		return nil, err
	}
	var found []int64
	for i, x := range values {
		if matches(x, op, v) && (nulls == nil || !nulls[i]) {
			found = append(found, start+int64(i))
		}
	}
	return found, nil
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
