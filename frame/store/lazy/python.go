package lazy

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/goblosc/blosc2/ndarray"
)

// python returns the literal for an operator of literals. Integers do not wrap, and booleans are integers.
func python(op string, args []*term) (*term, error) {
	x, y := args[0], args[len(args)-1]
	is, compares := comparisons[op]
	switch {
	case len(args) == 1:
		return pythonUnary(op, x)
	case compares:
		return boolean(truthOf(is(pythonOrder(x, y)))), nil
	case x.whole == nil || y.whole == nil:
		return pythonFloats(op, x, y)
	}
	t, err := pythonIntegers(op, x, y)
	if err == nil && t.whole != nil && t.whole.BitLen() > maxBits {
		return nil, tooLarge()
	}
	return t, err
}

// tooLarge returns the error for an integer of more than maxBits.
func tooLarge() error {
	return fmt.Errorf("lazy: an integer of more than %d bits: %w", maxBits, errors.ErrUnsupported)
}

// divisionByZero returns the error for a division of numbers by zero, which Python does not compute.
func divisionByZero() error { return fmt.Errorf("lazy: division by zero: %w", ndarray.ErrValue) }

// pythonOrder compares literals: -1, 0 or 1, or 2 if one of them is NaN.
func pythonOrder(x, y *term) int {
	var values [2]*big.Float
	for i, t := range []*term{x, y} {
		switch {
		case t.whole != nil:
			values[i] = new(big.Float).SetInt(t.whole) // exact
		case math.IsNaN(t.value.f[0]):
			return 2
		default:
			values[i] = big.NewFloat(t.value.f[0])
		}
	}
	return values[0].Cmp(values[1])
}

// pythonUnary returns the literal for a sign or ~.
func pythonUnary(op string, x *term) (*term, error) {
	switch {
	case x.whole == nil && op == "unary ~":
		return nil, wrongType(x.d)
	case x.whole == nil && op == "unary -":
		return float(-x.value.f[0]), nil
	case x.whole == nil:
		return x, nil
	case op == "unary ~":
		return integer(new(big.Int).Not(x.whole)), nil
	case op == "unary -":
		return integer(new(big.Int).Neg(x.whole)), nil
	}
	return integer(x.whole), nil
}

// pythonFloats returns the literal for an operator of a float and a number.
func pythonFloats(op string, x, y *term) (*term, error) {
	a, errA := x.float64()
	b, errB := y.float64()
	if err := errors.Join(errA, errB); err != nil {
		return nil, err
	}
	switch op {
	case "+":
		return float(a + b), nil
	case "-":
		return float(a - b), nil
	case "*":
		return float(a * b), nil
	case "**":
		return pythonPower(a, b)
	case "/", "//", "%":
		if b == 0 {
			return nil, divisionByZero()
		}
		q, m := divmod(a, b, 8)
		return float(map[string]float64{"/": a / b, "//": q, "%": m}[op]), nil
	}
	return nil, wrongType(floatType)
}

// pythonPower returns the literal for a power of floats.
func pythonPower(a, b float64) (*term, error) {
	x := pow(a, b)
	switch finite := a-a == 0 && b-b == 0; {
	case finite && a == 0 && b < 0:
		return nil, divisionByZero()
	case finite && a < 0 && b != math.Floor(b):
		return nil, fmt.Errorf("lazy: a complex number, %v ** %v: %w", a, b, errors.ErrUnsupported)
	case finite && math.IsInf(x, 0):
		return nil, fmt.Errorf("lazy: %v ** %v is no float: %w", a, b, ndarray.ErrValue)
	}
	return float(x), nil
}

// pythonIntegers returns the literal for an operator of integers.
func pythonIntegers(op string, x, y *term) (*term, error) {
	a, b, z := x.whole, y.whole, new(big.Int)
	switch op {
	case "+":
		return integer(z.Add(a, b)), nil
	case "-":
		return integer(z.Sub(a, b)), nil
	case "*":
		return integer(z.Mul(a, b)), nil
	case "&":
		z.And(a, b)
	case "|":
		z.Or(a, b)
	case "^":
		z.Xor(a, b)
	case "<<", ">>":
		return integerShift(a, b, op == "<<")
	case "**":
		if b.Sign() < 0 {
			return pythonFloats(op, x, y)
		}
		return integerPower(a, b)
	default:
		return integerDivision(op, a, b)
	}
	if x.d.Kind == 'b' && y.d.Kind == 'b' {
		return boolean(z.Int64()), nil
	}
	return integer(z), nil
}

// integerDivision returns the literal for /, // or % of integers.
func integerDivision(op string, a, b *big.Int) (*term, error) {
	if b.Sign() == 0 {
		return nil, divisionByZero()
	}
	if op == "/" {
		x, _ := new(big.Rat).SetFrac(a, b).Float64()
		switch {
		case math.IsInf(x, 0):
			return nil, fmt.Errorf("lazy: the quotient is no float: %w", ndarray.ErrValue)
		case x == 0 && (a.Sign() < 0) != (b.Sign() < 0):
			x = math.Copysign(0, -1)
		}
		return float(x), nil
	}
	q, m := new(big.Int).QuoRem(a, b, new(big.Int))
	if m.Sign() != 0 && m.Sign() != b.Sign() {
		q.Sub(q, big.NewInt(1))
		m.Add(m, b)
	}
	if op == "//" {
		return integer(q), nil
	}
	return integer(m), nil
}

// integerShift returns the literal for a shift. It checks the size of the result before it computes it.
func integerShift(a, b *big.Int, left bool) (*term, error) {
	n := uint(maxBits + 1)
	if b.IsInt64() {
		n = uint(min(uint64(b.Int64()), uint64(n)))
	}
	switch {
	case b.Sign() < 0:
		return nil, fmt.Errorf("lazy: a shift by a negative number: %w", ndarray.ErrValue)
	case !left:
		return integer(new(big.Int).Rsh(a, n)), nil
	case a.Sign() != 0 && uint(a.BitLen())+n > maxBits:
		return nil, tooLarge()
	}
	return integer(new(big.Int).Lsh(a, n)), nil
}

// integerPower returns the literal for a power of integers. It checks the size of the result before it computes it.
func integerPower(a, b *big.Int) (*term, error) {
	if a.BitLen() <= 1 { // -1, 0 or 1
		switch {
		case b.Sign() == 0:
			return integer(big.NewInt(1)), nil
		case b.Bit(0) == 0:
			return integer(new(big.Int).Mul(a, a)), nil
		}
		return integer(a), nil
	}
	if !b.IsInt64() || b.Int64() > maxBits || int64(a.BitLen()-1)*b.Int64() > maxBits {
		return nil, tooLarge()
	}
	return integer(new(big.Int).Exp(a, b, nil)), nil
}
