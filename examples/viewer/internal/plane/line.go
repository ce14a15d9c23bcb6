package plane

import (
	"context"
	"fmt"

	"github.com/goblosc/blosc2/examples/viewer/internal/item"
	"github.com/goblosc/blosc2/ndarray"
)

// A Line is every Step-th item along an axis.
type Line struct {
	Axis   int
	Step   int64
	Values []float64
}

// ReadLine reads at most most items along an axis, through the item at a position. It reads fewer if their blocks have
// more than c.Budget bytes. c.RowBlock is the length of a block along the axis.
func ReadLine(ctx context.Context, a ndarray.Reader, at []int64, axis, most int, c Cost) (*Line, error) {
	shape := a.Shape()
	if len(at) != len(shape) || axis < 0 || axis >= len(shape) {
		return nil, fmt.Errorf("no axis %d: %w", axis, ndarray.ErrShape)
	}
	if !item.IsReal(a.DType()) {
		return nil, fmt.Errorf("items of dtype %s have no line, as they are not numbers: %w", a.DType(), ndarray.ErrType)
	}
	n := shape[axis]
	step := stepFor(n, most)
	if blocks := max(c.Budget/max(c.BlockBytes, 1), 1); touched(n, step, c.RowBlock) > blocks+1 {
		step = max(step, ceilDiv(n, blocks))
	}
	sel := make([]ndarray.Index, len(at))
	for k, i := range at {
		if sel[k] = ndarray.At(i); k == axis {
			sel[k] = ndarray.Step(0, n, step)
		}
	}
	d := a.DType()
	data := make([]byte, ceilDiv(n, step)*int64(d.Size))
	if err := a.ReadBytes(ctx, data, sel...); err != nil {
		return nil, err
	}
	return &Line{axis, step, item.Numbers(nil, d, data)}, nil
}
