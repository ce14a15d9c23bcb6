package lazy

import (
	"errors"

	"github.com/goblosc/blosc2/ndarray"
)

// reduceMemory is the largest number of bytes that ndarray.Reduce takes for each item of the result.
const reduceMemory = 48

// reductions has the reductions by name.
var reductions = map[string]ndarray.Op{
	"sum": ndarray.OpSum, "prod": ndarray.OpProd, "mean": ndarray.OpMean, "std": ndarray.OpStd, "var": ndarray.OpVar,
	"min": ndarray.OpMin, "max": ndarray.OpMax, "any": ndarray.OpAny, "all": ndarray.OpAll,
	"argmin": ndarray.OpArgMin, "argmax": ndarray.OpArgMax,
}

// reduce returns the term of a reduction, whose result it computes now.
func (b *binder) reduce(n *node, op ndarray.Op) (*term, error) {
	o := &ndarray.ReduceOptions{}
	args, axis := n.args, n.named["axis"]
	if len(args) == 2 {
		if axis != nil {
			return nil, fault(n, ndarray.ErrParam, "the argument axis of %s occurs twice", n.name)
		}
		axis = args[1]
		if err := setAxes(o, axis); err != nil {
			return nil, err
		}
		args = args[:1]
	}
	if len(args) != 1 {
		return nil, fault(n, ndarray.ErrParam, "%s with %d arguments", n.name, len(n.args))
	}
	for key, value := range n.named {
		switch {
		case key == "axis":
			if err := setAxes(o, value); err != nil {
				return nil, err
			}
		case key == "keepdims" && value.kind == truth:
			o.KeepDims = value.i != 0
		case key == "ddof" && value.kind == number && !value.float && value.i <= 1<<30:
			o.DDof = int(value.i)
		case value.kind == none:
		default:
			return nil, fault(value, errors.ErrUnsupported, "the argument %s of %s", key, n.name)
		}
	}
	t, err := b.bind(args[0])
	if err != nil {
		return nil, err
	}
	if t.constant {
		return nil, fault(n, errors.ErrUnsupported, "%s of a number", n.name)
	}
	if len(t.shape) == 0 && axis != nil && axis.kind != tuple && len(o.Axes) == 1 && (o.Axes[0] == 0 || o.Axes[0] == -1) {
		o.Axes = nil // NumPy accepts these axes of an array without dimensions, but not in tuples
	}
	r := t.array
	if r == nil {
		a, err := b.create(t, "", nil)
		if err != nil {
			return nil, err
		}
		defer a.Close() // an expression may have many reductions
		r = a
	}
	// Reduce does not limit the memory of its result for an array of this process.
	shape := kept(t.shape, o.Axes)
	if err := b.checkMemory(shape, reduceMemory); err != nil {
		return nil, err
	}
	a, err := ndarray.Reduce(b.ctx, r, op, o)
	if err != nil {
		return nil, fault(n, err, "%s", n.name)
	}
	b.made = append(b.made, a)
	b.held += bytesOf(shape, int64(a.DType().Size))
	return operand(n, a)
}

// setAxes sets the axes of a reduction from an argument: an integer, a tuple of integers, or None for all.
func setAxes(o *ndarray.ReduceOptions, n *node) error {
	list := []*node{n}
	switch n.kind {
	case none:
		o.Axes = nil
		return nil
	case tuple:
		list = n.args
	}
	o.Axes = []int{}
	for _, x := range list {
		sign := int64(1)
		if x.kind == call && x.name == "unary -" {
			x, sign = x.args[0], -1
		}
		if x.kind != number || x.float || x.i > 255 {
			return fault(n, errors.ErrUnsupported, "an axis that is no integer")
		}
		o.Axes = append(o.Axes, int(sign*x.i))
	}
	return nil
}
