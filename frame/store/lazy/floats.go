package lazy

import (
	"math"

	"github.com/goblosc/blosc2/internal/double"
)

// The functions of this file are those of package math, except where these are wrong or less accurate than NumPy's.

// smallestNormal is the smallest positive float that is not subnormal.
const smallestNormal = 0x1p-1022

// isSubnormal reports whether x is a positive subnormal number.
func isSubnormal(x float64) bool { return x > 0 && x < smallestNormal }

// atan2 has the sign of y. That of math.Atan2 is wrong if y/x underflows and x is negative.
func atan2(y, x float64) float64 { return math.Copysign(math.Atan2(math.Abs(y), x), y) }

// exp computes large results as squares. On amd64, math.Exp is +Inf for results near the largest float.
func exp(x float64) float64 {
	if x > 709 {
		e := math.Exp(x / 2)
		return e * e
	}
	return math.Exp(x)
}

// sinh computes large results without e to the power of x, which overflows before its half does.
func sinh(x float64) float64 {
	if math.Abs(x) > 709 {
		return math.Copysign(halfExp(math.Abs(x)), x)
	}
	return math.Sinh(x)
}

// cosh is like sinh.
func cosh(x float64) float64 {
	if math.Abs(x) > 709 {
		return halfExp(math.Abs(x))
	}
	return math.Cosh(x)
}

// halfExp returns half of e to the power of x.
func halfExp(x float64) float64 {
	e := math.Exp(x / 2)
	return 0.5 * e * e
}

// log scales subnormal numbers. On amd64, math.Log takes them for larger numbers.
func log(x float64) float64 {
	if isSubnormal(x) {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// log10 scales subnormal numbers, because math.Log10 calls math.Log.
func log10(x float64) float64 {
	if isSubnormal(x) {
		return math.Log10(x*0x1p54) - 54*(math.Ln2/math.Ln10)
	}
	return math.Log10(x)
}

// log2 is accurate near 1, where math.Log2 subtracts almost equal numbers.
func log2(x float64) float64 {
	if x > 0.5 && x < 2 {
		return math.Log1p(x-1) / math.Ln2
	}
	return math.Log2(x)
}

// acos is accurate near 1, where math.Acos subtracts almost equal numbers.
func acos(x float64) float64 { return 2 * math.Atan2(math.Sqrt(1-x), math.Sqrt(1+x)) }

// asin is accurate near 1, where math.Asin subtracts almost equal numbers.
func asin(x float64) float64 { return math.Atan2(x, math.Sqrt((1-x)*(1+x))) }

// mod is math.Mod, except for the sign of zeros. For small quotients q it computes a - q*b with one operation, whose
// result is exact. Because a/b is rounded, q may be 1 too far from 0. Then the result and a have opposite signs.
func mod(a, b float64) float64 {
	q := math.Trunc(a / b)
	if !(math.Abs(q) < 1<<52) || b-b != 0 {
		return math.Mod(a, b)
	}
	m := math.FMA(-q, b, a)
	switch {
	case m == 0 || (m < 0) == (a < 0):
		return m
	case (b < 0) == (a < 0):
		return m + b
	}
	return m - b
}

// pow returns x to the power of y, with an error of less than 0.6 units of the last digit if the result is not
// subnormal. The error of math.Pow grows with y. As in the pow of FreeBSD's msun, log2(x) and its product with y are
// sums of two floats.
func pow(x, y float64) float64 {
	switch {
	case x == 0 || y == 0 || x-x != 0 || y-y != 0: // or an infinity or NaN
		return math.Pow(x, y)
	case x > 0:
		return powerOf2(y, log2Sum(x))
	case y != math.Trunc(y):
		return math.NaN()
	case math.Abs(y) < 1<<53 && int64(y)%2 != 0:
		return -powerOf2(y, log2Sum(-x))
	}
	return powerOf2(y, log2Sum(-x))
}

// log2Sum returns the logarithm of a positive number, with an error of about 2 to the power of -70 of it. For a number
// m near 1, ln(m) is 2*(s + s*s*s/3 + ...) with s = (m-1)/(m+1). Only the first terms of the series need two floats.
func log2Sum(x float64) double.Number {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	n, d := m-1, double.Sum(1, m)
	s := n / d.Hi
	r := double.Sum(s, (math.FMA(-s, d.Hi, n)-s*d.Lo)/d.Hi)
	z := r.Times(r)
	w := z.Hi
	q := 1./7 + w*(1./9+w*(1./11+w*(1./13+w*(1./15+w*(1./17+w*(1./19+w*(1./21+w*(1./23+w*(1./25+w*(1./27))))))))))
	t := double.Number{Hi: 0x1.999999999999ap-3, Lo: -0x1.999999999999ap-57}.Plus(z.Times(double.Number{Hi: q}))
	t = double.Number{Hi: 0x1.5555555555555p-2, Lo: 0x1.5555555555555p-56}.Plus(z.Times(t))
	t = double.Number{Hi: 1}.Plus(z.Times(t))
	return double.Number{Hi: float64(e)}.Plus(t.Times(r).Times(double.Number{Hi: 0x1.71547652b82fep+1, Lo: 0x1.777d0ffda0d24p-55}))
}

// powerOf2 returns 2 to the power of y*l.
func powerOf2(y float64, l double.Number) float64 {
	p := float64(y * l.Hi)
	if p > 1025 || p < -1077 {
		return math.Exp2(p) // +Inf or 0
	}
	n := math.RoundToEven(p)
	x := double.Sum(p-n, math.FMA(y, l.Hi, -p)+y*l.Lo).Times(double.Number{Hi: 0x1.62e42fefa39efp-1, Lo: 0x1.abc9e3b39803fp-56})
	// e to the power of x is 1 + x + x*x/2 + x*x*x*q.
	v := x.Hi
	q := 1./6 + v*(1./24+v*(1./120+v*(1./720+v*(1./5040+v*(1./40320+v*(1./362880+v*(1./3628800+v*(1./39916800+
		v*(1./479001600+v*(1./6227020800+v*(1./87178291200)))))))))))
	square := x.Times(x)
	a := double.Sum(1, x.Hi)
	b := double.Sum(a.Hi, square.Hi/2)
	return math.Ldexp(b.Hi+(b.Lo+a.Lo+x.Lo+square.Lo/2+square.Hi*x.Hi*q), int(n))
}
