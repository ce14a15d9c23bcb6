package plane

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/goblosc/blosc2/examples/viewer/internal/item"
	"github.com/goblosc/blosc2/ndarray"
)

// Axes names the axes of a plane, and the position of the plane along the others. Row is -1 in an array with one axis,
// whose plane has one row.
type Axes struct {
	Row, Col int
	At       []int64 // an index for each axis of the array
}

// Check returns an error unless the axes are those of an array of a shape.
func (x Axes) Check(shape []int64) error {
	n := len(shape)
	if n == 0 || len(x.At) != n || x.Col < 0 || x.Col >= n || x.Row < -1 || x.Row >= n || x.Row == x.Col || (x.Row == -1) != (n == 1) {
		return fmt.Errorf("axes %d and %d at %v are not those of a plane of shape %v: %w", x.Row, x.Col, x.At, shape, ndarray.ErrShape)
	}
	for axis, i := range x.At {
		if axis != x.Row && axis != x.Col && (i < 0 || i >= shape[axis]) {
			return fmt.Errorf("index %d of axis %d with %d items: %w", i, axis, shape[axis], ndarray.ErrBounds)
		}
	}
	return nil
}

// Shape returns the rows and columns of a plane.
func (x Axes) Shape(shape []int64) (rows, cols int64) {
	if x.Row < 0 {
		return 1, shape[x.Col]
	}
	return shape[x.Row], shape[x.Col]
}

// View returns the plane of an array as an array with two axes.
func (x Axes) View(a ndarray.Reader) (ndarray.Reader, error) {
	if err := x.Check(a.Shape()); err != nil {
		return nil, err
	}
	if x.Row < 0 {
		return ndarray.ExpandDims(a, 0)
	}
	sel := make([]ndarray.Index, len(x.At))
	for axis, i := range x.At {
		if sel[axis] = ndarray.At(i); axis == x.Row || axis == x.Col {
			sel[axis] = ndarray.All
		}
	}
	v, err := ndarray.Slice(a, sel...)
	if err == nil && x.Row > x.Col {
		v, err = ndarray.Transpose(v)
	}
	return v, err
}

// CostOf returns the cost of reading a plane of an array with a block shape.
func (x Axes) CostOf(blocks []int64, itemSize int, budget int64) Cost {
	c := Cost{RowBlock: 1, ColBlock: 1, BlockBytes: int64(itemSize), Budget: budget}
	for axis, n := range blocks {
		c.BlockBytes *= max(n, 1)
		switch axis {
		case x.Row:
			c.RowBlock = n
		case x.Col:
			c.ColBlock = n
		}
	}
	return c
}

// Samples are the items of a grid, row by row.
type Samples struct {
	Grid
	Values []float64
}

const (
	bandBytes = 16 << 20 // decoded bytes between two looks at the context
	parallel  = 4        // bands that wait for bytes at the same time
)

// Read reads the items of a grid from a plane, in bands. Between two bands it lets other events in, so that the context
// can end.
func Read(ctx context.Context, v ndarray.Reader, g Grid, c Cost) (*Samples, error) {
	if !item.IsReal(v.DType()) {
		return nil, fmt.Errorf("items of dtype %s have no picture, as they are not numbers: %w", v.DType(), ndarray.ErrType)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &Samples{g, make([]float64, g.Rows*g.Cols)}
	slots := make(chan struct{}, parallel)
	var wg sync.WaitGroup
	bands := g.bands(c, bandBytes)
	for i, band := range bands {
		if i > 0 {
			time.Sleep(time.Millisecond) // other events
		}
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := s.read(ctx, v, band[0], band[1]); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return s, nil
}

// read reads some rows.
func (s *Samples) read(ctx context.Context, v ndarray.Reader, from, to int) error {
	d := v.DType()
	data := make([]byte, (to-from)*s.Cols*d.Size)
	top := s.Top + int64(from)*s.RowStep
	bottom := s.Top + int64(to-1)*s.RowStep + 1
	right := s.Left + int64(s.Cols-1)*s.ColStep + 1
	err := v.ReadBytes(ctx, data, ndarray.Step(top, bottom, s.RowStep), ndarray.Step(s.Left, right, s.ColStep))
	if err == nil {
		item.Numbers(s.Values[from*s.Cols:from*s.Cols], d, data)
	}
	return err
}

// At returns the value of an item of the plane, if it is a sample.
func (s *Samples) At(row, col int64) (float64, bool) {
	if (row-s.Top)%s.RowStep != 0 || (col-s.Left)%s.ColStep != 0 {
		return 0, false
	}
	r, c := index(row, s.Top, s.RowStep, s.Rows), index(col, s.Left, s.ColStep, s.Cols)
	if r < 0 || c < 0 {
		return 0, false
	}
	return s.Values[r*s.Cols+c], true
}
