package lazy

import "github.com/goblosc/blosc2/meta"

// comparisons has the operators that compare. They return the result for the order of two items: -1, 0 or 1, or 2 if
// one of them is NaN.
var comparisons = map[string]func(c int) bool{
	"==": func(c int) bool { return c == 0 },
	"!=": func(c int) bool { return c != 0 },
	"<":  func(c int) bool { return c == -1 },
	"<=": func(c int) bool { return c == -1 || c == 0 },
	">":  func(c int) bool { return c == 1 },
	">=": func(c int) bool { return c == 1 || c == 0 },
}

// compare is a comparison.
func compare(op string) function {
	is := comparisons[op]
	return function{2, func(args []*term) (meta.DType, apply, error) {
		x, y := args[0].d, args[1].d
		if sign := args[1].huge() - args[0].huge(); sign != 0 {
			return boolType, func(s *scratch, args []vec, n int) (vec, error) {
				v := s.newVec(boolType, n)
				for k := range v.i {
					v.i[k] = truthOf(is(-sign))
				}
				return v, nil
			}, nil
		}
		if !isFloat(x) && !isFloat(y) {
			return boolType, func(s *scratch, args []vec, n int) (vec, error) {
				a, b := args[0].spread(s, n), args[1].spread(s, n)
				v := s.newVec(boolType, n)
				switch bigX, bigY := isBig(x), isBig(y); {
				case bigX && bigY:
					compareAs[uint64](op, v.i, a.i, b.i)
				case !bigX && !bigY:
					compareAs[int64](op, v.i, a.i, b.i)
				default:
					for k, i := range a.i {
						v.i[k] = truthOf(is(order(i, b.i[k], bigX, bigY)))
					}
				}
				return v, nil
			}, nil
		}
		d, err := common(args[0], args[1])
		return boolType, func(s *scratch, args []vec, n int) (vec, error) {
			a, b := args[0].to(s, d).spread(s, n), args[1].to(s, d).spread(s, n)
			v := s.newVec(boolType, n)
			compareAs[float64](op, v.i, a.f, b.f)
			return v, nil
		}, err
	}}
}

// order compares integers, which may be unsigned ones of 8 bytes.
func order(a, b int64, bigA, bigB bool) int {
	hugeA, hugeB := bigA && a < 0, bigB && b < 0
	switch {
	case hugeA != hugeB && hugeA:
		return 1
	case hugeA != hugeB:
		return -1
	case a < b: // also if both are huge
		return -1
	case a > b:
		return 1
	}
	return 0
}

// bindExtreme is minimum or maximum: the item that is before, -1, or after the other. NaN wins. Of zeros with different
// signs, the result is the first for float16 and otherwise the second, as in NumPy on amd64.
func bindExtreme(which int) func(args []*term) (meta.DType, apply, error) {
	return func(args []*term) (meta.DType, apply, error) {
		d, err := common(args[0], args[1])
		big, half := isBig(d), d.Size == 2
		return d, pairs(d, func(a, b int64) int64 {
			if order(a, b, big, big) == which {
				return a
			}
			return b
		}, func(a, b float64) float64 {
			if a != a || which < 0 && a < b || which > 0 && a > b || half && a == b {
				return a
			}
			return b
		}), err
	}
}

// bindWhere is where: the items of the second argument for true items of the first, and otherwise those of the third.
// Integers of Python wrap to the dtype of the result, unlike those of operators.
func bindWhere(args []*term) (meta.DType, apply, error) {
	d := commonType(args[1], args[2])
	return d, func(s *scratch, args []vec, n int) (vec, error) {
		c := args[0].to(s, boolType).spread(s, n)
		a, b := args[1].to(s, d).spread(s, n), args[2].to(s, d).spread(s, n)
		v := s.newVec(d, n)
		for k, yes := range c.i {
			from := b
			if yes != 0 {
				from = a
			}
			if isFloat(d) {
				v.f[k] = from.f[k]
			} else {
				v.i[k] = from.i[k]
			}
		}
		return v, nil
	}, nil
}
