package reduce

import (
	"math"
	"math/bits"

	"github.com/goblosc/blosc2/internal/double"
)

// The powers of this file square and multiply numbers of about 106 bits, so that a special chunk of up to 2^31 equal
// items adds no more errors to a product than one item. They scale numbers that get farther from 1 than far.
const far = 0x1p200

// power returns the product of n copies of x.
func power(x float64, n int64) Product {
	if isLimit(x) {
		if n%2 == 0 {
			x *= x // the sign is that of the product
		}
		return Product{frac: x}
	}
	m, e := math.Frexp(x)
	p, exp := double.Number{Hi: 1}, int64(0)
	for i := bits.Len64(uint64(n)) - 1; i >= 0; i-- {
		p, exp = p.Times(p), addExp(exp, exp)
		if n>>i&1 == 1 {
			p, exp = p.Times(double.Number{Hi: m}), addExp(exp, int64(e))
		}
		if math.Abs(p.Hi) < 1/far {
			_, k := math.Frexp(p.Hi)
			p, exp = shift(p, -k), addExp(exp, int64(k))
		}
	}
	return Product{p.Hi, exp}
}

// shift returns x times 2 to the power of k.
func shift(x double.Number, k int) double.Number {
	return double.Number{Hi: math.Ldexp(x.Hi, k), Lo: math.Ldexp(x.Lo, k)}
}

// complexDouble is a complex number of two sums of floats.
type complexDouble struct{ re, im double.Number }

// powerComplex returns first times the product of n-1 copies of x. Both are the same number, but zeros of first may
// have other signs.
func powerComplex(first, x complex128, n int64) ComplexProduct {
	if isLimitComplex(x) {
		for n--; n > 0; n >>= 1 {
			if n&1 == 1 {
				first *= x
			}
			x *= x
		}
		return ComplexProduct{frac: first}
	}
	first, _ = frexp(first)
	x, e := frexp(x)
	p, exp := complexDouble{double.Number{Hi: real(first)}, double.Number{Hi: imag(first)}}, int64(e)
	y := complexDouble{double.Number{Hi: real(x)}, double.Number{Hi: imag(x)}}
	for i := bits.Len64(uint64(n)) - 2; i >= 0; i-- {
		p, exp = p.times(p), addExp(exp, exp)
		if n>>i&1 == 1 {
			p, exp = p.times(y), addExp(exp, int64(e))
		}
		if m := max(math.Abs(p.re.Hi), math.Abs(p.im.Hi)); m < 1/far || m > far {
			_, k := math.Frexp(m)
			p, exp = complexDouble{shift(p.re, -k), shift(p.im, -k)}, addExp(exp, int64(k))
		}
	}
	return ComplexProduct{complex(p.re.Hi, p.im.Hi), exp}
}

// times returns a*b. The signs of zeros are those of a product of complex128.
func (a complexDouble) times(b complexDouble) complexDouble {
	minus := double.Number{Hi: -a.im.Hi, Lo: -a.im.Lo}
	c := complexDouble{addProducts(a.re, b.re, minus, b.im), addProducts(a.re, b.im, a.im, b.re)}
	signs := complex(a.re.Hi, a.im.Hi) * complex(b.re.Hi, b.im.Hi)
	if c.re.Hi == 0 {
		c.re.Hi = math.Copysign(0, real(signs))
	}
	if c.im.Hi == 0 {
		c.im.Hi = math.Copysign(0, imag(signs))
	}
	return c
}

// addProducts returns a*b + c*d.
func addProducts(a, b, c, d double.Number) double.Number {
	x, y := a.Times(b), c.Times(d)
	if math.Abs(x.Hi) < math.Abs(y.Hi) {
		x, y = y, x
	}
	return x.Plus(y)
}
