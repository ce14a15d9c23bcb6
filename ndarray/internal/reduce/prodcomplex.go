package reduce

import "math"

// ComplexProduct is a product of complex numbers: frac times 2 to the power of exp. Like Product, it does not overflow
// or underflow, except for the smaller part of frac if it is less than about 1e-270 of the larger one.
type ComplexProduct struct {
	frac complex128
	exp  int64 // or none
}

// Complex128 returns the product.
func (p ComplexProduct) Complex128() complex128 {
	return complex(scale(real(p.frac), p.exp), scale(imag(p.frac), p.exp))
}

// isUsualComplex reports whether the larger part of x is finite, and so far from 0 that the smaller part is not
// subnormal, unless it is less than about 1e-270 of the larger one.
func isUsualComplex(x complex128) bool {
	const least, end = (1023 - 100) << 53, (1023 + 900) << 53 // exponents, see isUsual
	m := max(math.Float64bits(real(x))<<1, math.Float64bits(imag(x))<<1)
	return m-least < end-least
}

// isLimitComplex reports whether x is zero, or a part of it is infinite or NaN.
func isLimitComplex(x complex128) bool { return x == 0 || real(x)*0+imag(x)*0 != 0 }

// frexp returns the fraction of a complex number, whose larger part is from 0.5 to 1, and its exponent.
func frexp(x complex128) (complex128, int) {
	_, e := math.Frexp(max(math.Abs(real(x)), math.Abs(imag(x))))
	return complex(math.Ldexp(real(x), -e), math.Ldexp(imag(x), -e)), e
}

// begin sets the first factor, which is at position at. NumPy multiplies only the first number of all by 1: this makes
// the imaginary part of an infinity NaN.
func (p *ComplexProduct) begin(x complex128, at int64) {
	if at == 0 {
		x = p.frac * x // frac is 1
	}
	*p = ComplexProduct{frac: x}
}

// times adds a factor to others.
func (p *ComplexProduct) times(x complex128) {
	if y := p.frac * x; isUsualComplex(y) || isLimitComplex(p.frac) || isLimitComplex(x) {
		p.frac = y
		return
	}
	a, i := frexp(p.frac)
	b, j := frexp(x)
	p.frac, p.exp = a*b, addExp(p.exp, int64(i+j))
}

// merge adds the factors of another product.
func (p *ComplexProduct) merge(x *ComplexProduct) {
	switch {
	case p.exp == none:
		*p = *x
	case x.exp != none:
		p.times(x.frac)
		p.exp = addExp(p.exp, x.exp)
	}
}

// ProdComplex multiplies complex numbers as complex128. If skip is set, numbers with a NaN count as 1.
func ProdComplex[T complex64 | complex128](skip bool) Kernel[T, ComplexProduct] {
	empty := ComplexProduct{1, none}
	return Kernel[T, ComplexProduct]{
		Empty: empty,
		Row:   func(cell *ComplexProduct, items []T, at int64) { complexRow(cell, items, at, skip) },
		Lane:  func(cells []ComplexProduct, items []T, at int64) { complexLane(cells, items, at, skip) },
		Copies: func(item T, n, at int64) ComplexProduct {
			x, p := factor(item, skip), empty
			p.begin(x, at)
			return powerComplex(p.frac, x, n)
		},
		Merge: mergeComplexProducts,
	}
}

// factor returns an item, or 1 if skip is set and a part of it is NaN.
func factor[T complex64 | complex128](item T, skip bool) complex128 {
	if skip && IsNaN(item) {
		return 1
	}
	return complex128(item)
}

// complexRow is the Row of ProdComplex. See prodRow.
func complexRow[T complex64 | complex128](cell *ComplexProduct, items []T, at int64, skip bool) {
	if cell.exp == none {
		cell.begin(factor(items[0], skip), at)
		items = items[1:]
	}
	frac := cell.frac
	for _, item := range items {
		x := factor(item, skip)
		y := frac * x
		if !isUsualComplex(y) && !isLimitComplex(frac) {
			cell.frac = frac
			cell.times(x)
			y = cell.frac
		}
		frac = y
	}
	cell.frac = frac
}

// complexLane is the Lane of ProdComplex.
func complexLane[T complex64 | complex128](cells []ComplexProduct, items []T, at int64, skip bool) {
	cells = cells[:len(items)]
	if len(cells) > 0 && cells[0].exp == none { // then no cell has a factor
		for k, item := range items {
			cells[k].begin(factor(item, skip), at)
		}
		return
	}
	for k, item := range items {
		p, x := &cells[k], factor(item, skip)
		if y := p.frac * x; isUsualComplex(y) || isLimitComplex(p.frac) {
			p.frac = y
		} else {
			p.times(x)
		}
	}
}

// mergeComplexProducts is the Merge of ProdComplex.
func mergeComplexProducts(cells, with []ComplexProduct) {
	cells = cells[:len(with)]
	for k := range with {
		p, x := &cells[k], &with[k]
		if y := p.frac * x.frac; p.exp|x.exp == 0 && (isUsualComplex(y) || isLimitComplex(p.frac)) {
			p.frac = y
		} else {
			p.merge(x)
		}
	}
}
