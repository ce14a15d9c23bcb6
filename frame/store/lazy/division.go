package lazy

import (
	"fmt"
	"math"
	"slices"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// wholeType is the dtype of //, %, ** and shifts: booleans count as int8.
func wholeType(args []*term) (meta.DType, error) {
	d, err := common(args[0], args[1])
	if d.Kind == 'b' {
		d = meta.Of('i', 1)
	}
	return d, err
}

func bindDivide(args []*term) (meta.DType, apply, error) {
	d, err := common(args[0], args[1])
	if !isFloat(d) {
		d, err = floatType, nil // also for an integer of Python that the other dtype does not hold
	}
	return d, loops(d, nil, divide), err
}

// bindDivision is // or %, with a function for integers and one for floats of size bytes.
func bindDivision(whole func(a, b int64, unsigned bool) int64, parts func(a, b float64, size int) float64) func(args []*term) (meta.DType, apply, error) {
	return func(args []*term) (meta.DType, apply, error) {
		d, err := wholeType(args)
		return d, loops(d, func(out, a, b []int64) {
			for k, x := range a {
				out[k] = whole(x, b[k], isBig(d))
			}
		}, func(out, a, b []float64) {
			for k, x := range a {
				out[k] = parts(x, b[k], d.Size)
			}
		}), err
	}
}

// quotient is NumPy's floor_divide of integers.
func quotient(a, b int64, unsigned bool) int64 {
	switch {
	case b == 0:
		return 0
	case unsigned:
		return int64(uint64(a) / uint64(b))
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// remainder is NumPy's remainder of integers.
func remainder(a, b int64, unsigned bool) int64 {
	switch {
	case b == 0:
		return 0
	case unsigned:
		return int64(uint64(a) % uint64(b))
	}
	m := a % b
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}

// divmod is NumPy's divmod of floats of size bytes.
func divmod(a, b float64, size int) (q, m float64) {
	round := func(x float64) float64 {
		if size == 8 {
			return x
		}
		return float64(float32(x)) // NumPy computes float16 as float32
	}
	m = mod(a, b)
	if b == 0 {
		return a / b, m
	}
	q = round(round(a-m) / b)
	if m != 0 {
		if (b < 0) != (m < 0) {
			m = round(m + b)
			q = round(q - 1)
		}
	} else {
		m = math.Copysign(0, b)
	}
	if q == 0 {
		return math.Copysign(0, a/b), m
	}
	floor := math.Floor(q)
	if q-floor > 0.5 {
		floor++
	}
	return floor, m
}

func bindShift(left bool) func(args []*term) (meta.DType, apply, error) {
	return func(args []*term) (meta.DType, apply, error) {
		d, err := wholeType(args)
		if isFloat(d) {
			return d, nil, wrongType(d)
		}
		bits := uint64(8 * d.Size)
		return d, pairs(d, func(a, b int64) int64 {
			switch n := uint64(b); {
			case left && n < bits:
				return a << n
			case left:
				return 0
			case d.Kind == 'u' && n < bits:
				return int64(uint64(a) >> n)
			case d.Kind == 'u':
				return 0
			default:
				return a >> min(n, 63)
			}
		}, nil), err
	}
}

// bindOperator is **, which NumPy computes as square for booleans and the number 2, and as sqrt for arrays and the
// number 0.5.
func bindOperator(args []*term) (meta.DType, apply, error) {
	base, exponent := args[0], args[1]
	if !base.constant && exponent.literal && isFloat(exponent.d) && exponent.value.f[0] == 0.5 {
		d, err := wholeType(args)
		return d, scalarPower(d, true), err
	}
	if base.d.Kind == 'b' && exponent.literal && exponent.d.Kind == 'i' && exponent.value.i[0] == 2 {
		return bindSquare(args[:1])
	}
	return bindPower(args)
}

// isScalar reports whether NumPy takes exponents for one number: without dimensions, or one item for several bases.
func isScalar(exponent, base *term) bool {
	several := func(t *term) bool { return slices.ContainsFunc(t.shape, func(n int64) bool { return n != 1 }) }
	return len(exponent.shape) == 0 || !several(exponent) && several(base)
}

// scalarPower returns the function for powers of floats to one exponent, which is each item of the second argument.
func scalarPower(d meta.DType, root bool) apply {
	return func(s *scratch, args []vec, n int) (vec, error) {
		a, b := args[0].to(s, d).spread(s, n), args[1].to(s, d)
		v := s.newVec(d, n)
		if n > 0 {
			powers(v.f, a.f, b.f[0], root)
		}
		return v, nil
	}
}

// powers sets the items of out to those of a to the power of y. Like NumPy, it does not use pow for the exponents -1,
// 0, 1 and 2, nor for 0.5 if root is true. For 0.5, the results for -Inf and -0 differ; for the others, the results of
// pow are the same or have a larger error.
func powers(out, a []float64, y float64, root bool) {
	out = out[:len(a)]
	switch {
	case y == 2:
		for k, x := range a {
			out[k] = x * x
		}
	case y == 1:
		copy(out, a)
	case y == 0:
		for k := range out {
			out[k] = 1
		}
	case y == -1:
		for k, x := range a {
			out[k] = 1 / x
		}
	case y == 0.5 && root:
		for k, x := range a {
			out[k] = math.Sqrt(x)
		}
	default:
		for k, x := range a {
			out[k] = pow(x, y)
		}
	}
}

func bindPower(args []*term) (meta.DType, apply, error) {
	d, err := wholeType(args)
	if err != nil {
		return d, nil, err
	}
	if isFloat(d) && isScalar(args[1], args[0]) {
		return d, scalarPower(d, d.Size > 2), nil // NumPy computes powers of float16 to 0.5 with pow
	}
	if isFloat(d) {
		return d, pairs(d, nil, pow), nil
	}
	square, power := loops(d, multiply, nil), pairs(d, intPower, nil)
	return d, func(s *scratch, args []vec, n int) (vec, error) {
		b := args[1].to(s, d)
		for _, x := range b.i {
			if x < 0 && d.Kind == 'i' {
				return vec{}, fmt.Errorf("lazy: the power of an integer to %d: %w", x, ndarray.ErrValue)
			}
		}
		if len(b.i) == 1 && b.i[0] == 2 {
			return square(s, []vec{args[0], args[0]}, n)
		}
		return power(s, []vec{args[0], b}, n)
	}, nil
}

// intPower returns a to the power of b modulo 2^64.
func intPower(a, b int64) int64 {
	x := int64(1)
	for n := uint64(b); n > 0; n >>= 1 {
		if n&1 != 0 {
			x *= a
		}
		a *= a
	}
	return x
}
