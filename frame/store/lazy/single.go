package lazy

import (
	"math"

	"github.com/goblosc/blosc2/meta"
)

func bindFinite([]*term) (meta.DType, apply, error) {
	return boolType, func(s *scratch, args []vec, n int) (vec, error) {
		v := s.newVec(boolType, n)
		for k := range v.i {
			v.i[k] = 1
		}
		for k, x := range args[0].f {
			v.i[k] = truthOf(x-x == 0)
		}
		return v, nil
	}, nil
}

func bindInvert(args []*term) (meta.DType, apply, error) {
	d := args[0].d
	switch {
	case isFloat(d):
		return d, nil, wrongType(d)
	case d.Kind == 'b':
		return d, each(d, func(x int64) int64 { return x ^ 1 }, nil), nil
	}
	return d, each(d, func(x int64) int64 { return ^x }, nil), nil
}

func bindSquare(args []*term) (meta.DType, apply, error) {
	d := args[0].d
	if d.Kind == 'b' {
		d = meta.Of('i', 1)
	}
	square := loops(d, multiply, multiply)
	return d, func(s *scratch, args []vec, n int) (vec, error) { return square(s, []vec{args[0], args[0]}, n) }, nil
}

func bindAbs(args []*term) (meta.DType, apply, error) {
	d := args[0].d
	return d, each(d, func(x int64) int64 {
		if x < 0 && d.Kind == 'i' {
			return -x
		}
		return x
	}, math.Abs), nil
}

func bindSign(args []*term) (meta.DType, apply, error) {
	d := args[0].d
	if d.Kind == 'b' {
		return d, nil, wrongType(d)
	}
	return d, each(d, func(x int64) int64 {
		if x < 0 && d.Kind == 'i' {
			return -1
		}
		return truthOf(x != 0)
	}, func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x + 0 // 0 for -0, and NaN
	}), nil
}
