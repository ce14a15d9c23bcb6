package lazy

import (
	"fmt"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// function is an operator or a function of NumPy, item by item.
type function struct {
	args int
	// bind returns the dtype of the result for arguments, and the function of their items.
	bind func(args []*term) (meta.DType, apply, error)
}

// wrongType returns the error for arguments of a dtype that a function does not take.
func wrongType(d meta.DType) error {
	return fmt.Errorf("lazy: not for items of dtype %v: %w", d, ndarray.ErrType)
}

// pairs applies a function to items of the same dtype. One of the functions may be nil.
func pairs(d meta.DType, fi func(a, b int64) int64, ff func(a, b float64) float64) apply {
	return loops(d, calls(fi), calls(ff))
}

// loops applies a loop to items of the same dtype. One of the loops may be nil.
func loops(d meta.DType, li loop[int64], lf loop[float64]) apply {
	return func(s *scratch, args []vec, n int) (vec, error) {
		a, b := args[0].to(s, d).spread(s, n), args[1].to(s, d).spread(s, n)
		v := s.newVec(d, n)
		if isFloat(d) {
			lf(v.f, a.f, b.f)
		} else {
			li(v.i, a.i, b.i)
		}
		return v, nil
	}
}

// binary is an operator with a result of the common dtype. With 'b' it has a loop for booleans.
func binary(kind byte, li loop[int64], lf loop[float64], lb loop[int64]) function {
	return function{2, func(args []*term) (meta.DType, apply, error) {
		d, err := common(args[0], args[1])
		switch {
		case err != nil:
			return d, nil, err
		case d.Kind == 'b' && kind != 'b', isFloat(d) && lf == nil:
			return d, nil, wrongType(d)
		case d.Kind == 'b':
			return d, loops(d, lb, nil), nil
		}
		return d, loops(d, li, lf), nil
	}}
}

// unary is a function of one argument with a result of its dtype. With 'b' it also takes booleans.
func unary(kind byte, fi func(x int64) int64, ff func(x float64) float64) function {
	return function{1, func(args []*term) (meta.DType, apply, error) {
		d := args[0].d
		if d.Kind == 'b' && kind != 'b' {
			return d, nil, wrongType(d)
		}
		return d, each(d, fi, ff), nil
	}}
}

// each applies a function to all items.
func each(out meta.DType, fi func(x int64) int64, ff func(x float64) float64) apply {
	return func(s *scratch, args []vec, n int) (vec, error) {
		v := s.newVec(out, n)
		for k, x := range args[0].i {
			v.i[k] = fi(x)
		}
		for k, x := range args[0].f {
			v.f[k] = ff(x)
		}
		return v, nil
	}
}

// floats is a function of floats. Other items are converted.
func floats(f func(x float64) float64) function {
	return function{1, func(args []*term) (meta.DType, apply, error) {
		d := floatFor(args[0].d)
		items := each(d, nil, f)
		return d, func(s *scratch, args []vec, n int) (vec, error) { return items(s, []vec{args[0].to(s, d)}, n) }, nil
	}}
}

// floats2 is a function of two floats.
func floats2(f func(x, y float64) float64) function {
	return function{2, func(args []*term) (meta.DType, apply, error) {
		d := promote(floatFor(args[0].d), floatFor(args[1].d))
		for i, x := range args {
			other := args[1-i]
			takes := isFloat(other.d) || !isFloat(x.d) && (other.d.Kind != 'b' || x.d.Kind == 'b')
			if x.literal && !other.literal && takes {
				d = floatFor(other.d)
			}
		}
		return d, pairs(d, nil, f), nil
	}}
}

// test is a function from floats to booleans. It is false for other items.
func test(f func(x float64) bool) function {
	return function{1, func([]*term) (meta.DType, apply, error) {
		return boolType, func(s *scratch, args []vec, n int) (vec, error) {
			v := s.newVec(boolType, n)
			clear(v.i)
			for k, x := range args[0].f {
				v.i[k] = truthOf(f(x))
			}
			return v, nil
		}, nil
	}}
}
