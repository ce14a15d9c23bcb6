package lazy

import (
	"errors"
	"fmt"
	"math"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// function is an operator or a function of NumPy, item by item.
type function struct {
	args int
	// bind returns the dtype of the result for arguments, and the function of their items.
	bind func(args []*term) (meta.DType, func(args []vec) (vec, error), error)
}

// functions has the operators and functions by name.
var functions = map[string]function{
	"+":        binary('b', func(a, b int64) int64 { return a + b }, func(a, b float64) float64 { return a + b }, or),
	"-":        binary(0, func(a, b int64) int64 { return a - b }, func(a, b float64) float64 { return a - b }, nil),
	"*":        binary('b', func(a, b int64) int64 { return a * b }, func(a, b float64) float64 { return a * b }, and),
	"&":        binary('b', and, nil, and),
	"|":        binary('b', or, nil, or),
	"^":        binary('b', xor, nil, xor),
	"/":        {2, bindDivide},
	"//":       {2, bindDivision(func(q, _ float64) float64 { return q }, quotient)},
	"%":        {2, bindDivision(func(_, m float64) float64 { return m }, remainder)},
	"<<":       {2, bindShift(true)},
	">>":       {2, bindShift(false)},
	"**":       {2, bindPower},
	"power":    {2, bindPower},
	"pow":      {2, bindPower},
	"==":       compare(func(c int) bool { return c == 0 }),
	"!=":       compare(func(c int) bool { return c != 0 }),
	"<":        compare(func(c int) bool { return c == -1 }),
	"<=":       compare(func(c int) bool { return c == -1 || c == 0 }),
	">":        compare(func(c int) bool { return c == 1 }),
	">=":       compare(func(c int) bool { return c == 1 || c == 0 }),
	"minimum":  {2, bindExtreme(-1)},
	"maximum":  {2, bindExtreme(1)},
	"where":    {3, bindWhere},
	"arctan2":  floats2(math.Atan2),
	"hypot":    floats2(math.Hypot),
	"unary -":  unary(0, func(x int64) int64 { return -x }, func(x float64) float64 { return -x }),
	"unary +":  unary(0, func(x int64) int64 { return x }, func(x float64) float64 { return x }),
	"unary ~":  {1, bindInvert},
	"square":   {1, bindSquare},
	"sign":     {1, bindSign},
	"abs":      {1, bindAbs},
	"absolute": {1, bindAbs},
	"floor":    unary('b', func(x int64) int64 { return x }, math.Floor),
	"ceil":     unary('b', func(x int64) int64 { return x }, math.Ceil),
	"trunc":    unary('b', func(x int64) int64 { return x }, math.Trunc),
	"isnan":    test(math.IsNaN),
	"isinf":    test(func(x float64) bool { return math.IsInf(x, 0) }),
	"isfinite": {1, bindFinite},
	"sqrt":     floats(math.Sqrt),
	"exp":      floats(math.Exp),
	"exp2":     floats(math.Exp2),
	"expm1":    floats(math.Expm1),
	"log":      floats(math.Log),
	"log1p":    floats(math.Log1p),
	"log2":     floats(math.Log2),
	"log10":    floats(math.Log10),
	"sin":      floats(math.Sin),
	"cos":      floats(math.Cos),
	"tan":      floats(math.Tan),
	"arcsin":   floats(math.Asin),
	"arccos":   floats(math.Acos),
	"arctan":   floats(math.Atan),
	"sinh":     floats(math.Sinh),
	"cosh":     floats(math.Cosh),
	"tanh":     floats(math.Tanh),
	"arcsinh":  floats(math.Asinh),
	"arccosh":  floats(math.Acosh),
	"arctanh":  floats(math.Atanh),
}

func and(a, b int64) int64 { return a & b }
func or(a, b int64) int64  { return a | b }
func xor(a, b int64) int64 { return a ^ b }

// wrongType returns the error for arguments of a dtype that a function does not take.
func wrongType(d meta.DType) error {
	return fmt.Errorf("lazy: not for items of dtype %v: %w", d, ndarray.ErrType)
}

// pairs applies a function to items of the same dtype. One of the functions may be nil.
func pairs(d, out meta.DType, fi func(a, b int64) int64, ff func(a, b float64) float64) func([]vec) (vec, error) {
	return func(args []vec) (vec, error) {
		a, b := args[0].to(d), args[1].to(d)
		v := newVec(out, len(a.i)+len(a.f))
		for k, x := range a.i {
			v.i[k] = fi(x, b.i[k])
		}
		for k, x := range a.f {
			v.f[k] = ff(x, b.f[k])
		}
		return v, nil
	}
}

// binary is an operator with a result of the common dtype. With 'b' it has a function for booleans.
func binary(kind byte, fi func(a, b int64) int64, ff func(a, b float64) float64, fb func(a, b int64) int64) function {
	return function{2, func(args []*term) (meta.DType, func([]vec) (vec, error), error) {
		d, err := common(args[0], args[1])
		switch {
		case err != nil:
			return d, nil, err
		case d.Kind == 'b' && kind != 'b', isFloat(d) && ff == nil:
			return d, nil, wrongType(d)
		case d.Kind == 'b':
			return d, pairs(d, d, fb, nil), nil
		}
		return d, pairs(d, d, fi, ff), nil
	}}
}

// unary is a function of one argument with a result of its dtype. With 'b' it also takes booleans.
func unary(kind byte, fi func(x int64) int64, ff func(x float64) float64) function {
	return function{1, func(args []*term) (meta.DType, func([]vec) (vec, error), error) {
		d := args[0].d
		if d.Kind == 'b' && kind != 'b' {
			return d, nil, wrongType(d)
		}
		return d, each(d, fi, ff), nil
	}}
}

// each applies a function to all items.
func each(out meta.DType, fi func(x int64) int64, ff func(x float64) float64) func([]vec) (vec, error) {
	return func(args []vec) (vec, error) {
		v := newVec(out, len(args[0].i)+len(args[0].f))
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
	return function{1, func(args []*term) (meta.DType, func([]vec) (vec, error), error) {
		d := floatFor(args[0].d)
		apply := each(d, nil, f)
		return d, func(args []vec) (vec, error) { return apply([]vec{args[0].to(d)}) }, nil
	}}
}

// floats2 is a function of two floats.
func floats2(f func(x, y float64) float64) function {
	return function{2, func(args []*term) (meta.DType, func([]vec) (vec, error), error) {
		d := promote(floatFor(args[0].d), floatFor(args[1].d))
		for i, x := range args {
			if other := args[1-i]; x.literal && !other.literal && !(isFloat(x.d) && !isFloat(other.d)) {
				d = floatFor(other.d)
			}
		}
		return d, pairs(d, d, nil, f), nil
	}}
}

// test is a function from floats to booleans. It is false for other items.
func test(f func(x float64) bool) function {
	return function{1, func([]*term) (meta.DType, func([]vec) (vec, error), error) {
		return boolType, func(args []vec) (vec, error) {
			v := newVec(boolType, len(args[0].i)+len(args[0].f))
			for k, x := range args[0].f {
				v.i[k] = truthOf(f(x))
			}
			return v, nil
		}, nil
	}}
}

func bindFinite([]*term) (meta.DType, func([]vec) (vec, error), error) {
	return boolType, func(args []vec) (vec, error) {
		v := newVec(boolType, len(args[0].i)+len(args[0].f))
		for k := range v.i {
			v.i[k] = 1
		}
		for k, x := range args[0].f {
			v.i[k] = truthOf(x-x == 0)
		}
		return v, nil
	}, nil
}

func bindInvert(args []*term) (meta.DType, func([]vec) (vec, error), error) {
	d := args[0].d
	switch {
	case isFloat(d):
		return d, nil, wrongType(d)
	case d.Kind == 'b':
		return d, each(d, func(x int64) int64 { return x ^ 1 }, nil), nil
	}
	return d, each(d, func(x int64) int64 { return ^x }, nil), nil
}

func bindSquare(args []*term) (meta.DType, func([]vec) (vec, error), error) {
	d := args[0].d
	if d.Kind == 'b' {
		d = meta.Of('i', 1)
	}
	return d, each(d, func(x int64) int64 { return x * x }, func(x float64) float64 { return x * x }), nil
}

func bindAbs(args []*term) (meta.DType, func([]vec) (vec, error), error) {
	d := args[0].d
	return d, each(d, func(x int64) int64 {
		if x < 0 && d.Kind == 'i' {
			return -x
		}
		return x
	}, math.Abs), nil
}

func bindSign(args []*term) (meta.DType, func([]vec) (vec, error), error) {
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

// wholeType is the dtype of //, %, ** and shifts: booleans count as int8.
func wholeType(args []*term) (meta.DType, error) {
	d, err := common(args[0], args[1])
	if d.Kind == 'b' {
		d = meta.Of('i', 1)
	}
	return d, err
}

func bindDivide(args []*term) (meta.DType, func([]vec) (vec, error), error) {
	d, err := common(args[0], args[1])
	if !isFloat(d) {
		d = floatType
	}
	return d, pairs(d, d, nil, func(a, b float64) float64 { return a / b }), err
}

// bindDivision is // or %. whole divides integers; of the results of floats, part takes one.
func bindDivision(part func(q, m float64) float64, whole func(a, b int64, unsigned bool) int64) func(args []*term) (meta.DType, func([]vec) (vec, error), error) {
	return func(args []*term) (meta.DType, func([]vec) (vec, error), error) {
		d, err := wholeType(args)
		return d, pairs(d, d, func(a, b int64) int64 { return whole(a, b, isBig(d)) }, func(a, b float64) float64 {
			return part(divmod(a, b, d.Size))
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
	m = math.Mod(a, b)
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

func bindShift(left bool) func(args []*term) (meta.DType, func([]vec) (vec, error), error) {
	return func(args []*term) (meta.DType, func([]vec) (vec, error), error) {
		d, err := wholeType(args)
		if isFloat(d) {
			return d, nil, wrongType(d)
		}
		bits := uint64(8 * d.Size)
		return d, pairs(d, d, func(a, b int64) int64 {
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

func bindPower(args []*term) (meta.DType, func([]vec) (vec, error), error) {
	d, err := wholeType(args)
	if err != nil {
		return d, nil, err
	}
	base, exponent := args[0], args[1]
	if base.d.Kind == 'b' && exponent.literal && exponent.d.Kind == 'i' && exponent.value.i[0] == 2 {
		d = meta.Of('i', 1) // as in NumPy, where this is square
	}
	if base.literal && exponent.literal && !isFloat(d) && exponent.value.i[0] < 0 {
		d = floatType // as in Python
	}
	if isFloat(d) {
		return d, pairs(d, d, nil, math.Pow), nil
	}
	return d, func(args []vec) (vec, error) {
		b := args[1].to(d)
		for _, x := range b.i {
			if x < 0 && d.Kind == 'i' {
				return vec{}, fmt.Errorf("lazy: the power of an integer to %d: %w", x, ndarray.ErrValue)
			}
		}
		return pairs(d, d, intPower, nil)([]vec{args[0], b})
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

// compare is a comparison. is tells the result from -1, 0 or 1, or 2 if one of the items is NaN.
func compare(is func(c int) bool) function {
	return function{2, func(args []*term) (meta.DType, func([]vec) (vec, error), error) {
		x, y := args[0].d, args[1].d
		if !isFloat(x) && !isFloat(y) {
			return boolType, func(args []vec) (vec, error) {
				v := newVec(boolType, len(args[0].i))
				for k, a := range args[0].i {
					v.i[k] = truthOf(is(order(a, args[1].i[k], isBig(x), isBig(y))))
				}
				return v, nil
			}, nil
		}
		d, err := common(args[0], args[1])
		return boolType, func(args []vec) (vec, error) {
			a, b := args[0].to(d), args[1].to(d)
			v := newVec(boolType, len(a.f))
			for k, x := range a.f {
				c, y := 2, b.f[k]
				switch {
				case x < y:
					c = -1
				case x == y:
					c = 0
				case x > y:
					c = 1
				}
				v.i[k] = truthOf(is(c))
			}
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

// bindExtreme is minimum or maximum: the item that is before, -1, or after the other. NaN wins.
func bindExtreme(which int) func(args []*term) (meta.DType, func([]vec) (vec, error), error) {
	return func(args []*term) (meta.DType, func([]vec) (vec, error), error) {
		d, err := common(args[0], args[1])
		big := isBig(d)
		return d, pairs(d, d, func(a, b int64) int64 {
			if order(a, b, big, big) == which {
				return a
			}
			return b
		}, func(a, b float64) float64 {
			if a != a || which < 0 && a <= b || which > 0 && a >= b {
				return a
			}
			return b
		}), err
	}
}

func bindWhere(args []*term) (meta.DType, func([]vec) (vec, error), error) {
	d, err := common(args[1], args[2])
	return d, func(args []vec) (vec, error) {
		c, a, b := args[0].to(boolType), args[1].to(d), args[2].to(d)
		v := newVec(d, len(c.i))
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
	}, err
}

// dtypeNames are the names of dtypes that are not also their text.
var dtypeNames = map[string]string{
	"bool": "|b1", "bool_": "|b1", "int8": "|i1", "int16": "<i2", "int32": "<i4", "int64": "<i8", "int": "<i8", "uint8": "|u1",
	"uint16": "<u2", "uint32": "<u4", "uint64": "<u8", "float16": "<f2", "float32": "<f4", "float64": "<f8", "float": "<f8",
}

// astype returns the term of a conversion.
func (b *binder) astype(n *node) (*term, error) {
	args := n.args
	if to := n.named["dtype"]; to != nil && len(n.named) == 1 {
		args = append(args[:len(args):len(args)], to)
	}
	if len(args) != 2 || args[1].kind != name && args[1].kind != text {
		return nil, fault(n, errors.ErrUnsupported, "astype without a single dtype")
	}
	given := args[1].name
	if long, ok := dtypeNames[given]; ok {
		given = long
	}
	d, err := meta.ParseDType(given)
	if err != nil || d.Fields != nil || d.Elem != nil || d.Kind != 'b' && d.Kind != 'i' && d.Kind != 'u' && d.Kind != 'f' {
		return nil, fault(n, errors.ErrUnsupported, "astype to %q", given)
	}
	x, err := b.bind(args[0])
	if err != nil {
		return nil, err
	}
	d = meta.Of(d.Kind, d.Size)
	t := &term{d: d, shape: x.shape, literal: x.literal, args: []*term{x}}
	t.f = func(args []vec) (vec, error) { return args[0].to(d), nil }
	if t.literal {
		return t.fold(b.ctx, n)
	}
	return t, nil
}
