package reduce

import "math"

// ProdInts multiplies integers modulo 2^64.
func ProdInts[T Real]() Kernel[T, int64] {
	return Kernel[T, int64]{
		Empty: 1,
		Row: func(cell *int64, items []T, _ int64) {
			for _, x := range items {
				*cell *= int64(x)
			}
		},
		Lane: func(cells []int64, items []T, _ int64) {
			for k, x := range items {
				cells[k] *= int64(x)
			}
		},
		Copies: func(item T, n, _ int64) int64 {
			x, y := int64(item), int64(1)
			for ; n > 0; n >>= 1 {
				if n&1 == 1 {
					y *= x
				}
				x *= x
			}
			return y
		},
		Merge: func(cells, with []int64) {
			for k, x := range with {
				cells[k] *= x
			}
		},
		Serial: true,
	}
}

// Product is a product of floats: frac times 2 to the power of exp. It does not overflow or underflow, so it does not
// depend on the order of large and small factors, except for rounding. frac is zero, infinite or NaN only if a factor
// is.
type Product struct {
	frac float64
	exp  int64
}

const (
	none   = math.MinInt64 // the exponent of a product without factors, whose frac is 1
	maxExp = 1 << 61       // the largest exponent of a product
)

// Float64 returns the product, which is rounded only if it is subnormal.
func (p Product) Float64() float64 { return scale(p.frac, p.exp) }

// scale returns the fraction of a product times 2 to the power of its exponent.
func scale(x float64, exp int64) float64 {
	const most = 1 << 12 // more makes every float zero or infinite
	if exp == 0 || exp == none {
		return x
	}
	return math.Ldexp(x, int(min(max(exp, -most), most)))
}

// addExp adds exponents. Only arrays with exabytes of the largest or smallest floats have a larger sum than maxExp.
func addExp(a, b int64) int64 { return min(max(a+b, -maxExp), maxExp) }

// isUsual reports whether x is finite and at least 2^-1021, so that it was not rounded as a subnormal number.
func isUsual(x float64) bool {
	const least, end = 2 << 53, 0x7ff << 53 // exponents, after a shift that removes the sign
	return math.Float64bits(x)<<1-least < end-least
}

// isLimit reports whether x is zero, infinite or NaN.
func isLimit(x float64) bool { return x == 0 || x-x != 0 }

// times adds a factor to others.
func (p *Product) times(x float64) {
	if y := p.frac * x; isUsual(y) || isLimit(p.frac) || isLimit(x) {
		p.frac = y
		return
	}
	a, i := math.Frexp(p.frac)
	b, j := math.Frexp(x)
	p.frac, p.exp = a*b, addExp(p.exp, int64(i+j))
}

// merge adds the factors of another product.
func (p *Product) merge(x *Product) {
	switch {
	case p.exp == none:
		*p = *x
	case x.exp != none:
		p.times(x.frac)
		p.exp = addExp(p.exp, x.exp)
	}
}

// ProdFloats multiplies numbers as float64. If skip is set, NaNs count as 1.
func ProdFloats[T Real](skip bool) Kernel[T, Product] {
	return Kernel[T, Product]{
		Empty:  Product{1, none},
		Row:    func(cell *Product, items []T, _ int64) { prodRow(cell, items, skip) },
		Lane:   func(cells []Product, items []T, _ int64) { prodLane(cells, items, skip) },
		Copies: func(item T, n, _ int64) Product { return power(realFactor(item, skip), n) },
		Merge:  mergeProducts,
		Serial: true,
	}
}

// realFactor returns an item, or 1 if skip is set and it is NaN.
func realFactor[T Real](item T, skip bool) float64 {
	if skip && item != item {
		return 1
	}
	return float64(item)
}

// prodRow is the Row of ProdFloats. It is no function literal, because the compiler would not inline calls in that.
func prodRow[T Real](cell *Product, items []T, skip bool) {
	if cell.exp == none {
		cell.exp = 0
	}
	frac := cell.frac
	for _, item := range items {
		x := float64(item)
		if skip && x != x {
			continue
		}
		y := frac * x
		if !isUsual(y) && !isLimit(frac) {
			cell.frac = frac
			cell.times(x)
			y = cell.frac
		}
		frac = y
	}
	cell.frac = frac
}

// prodLane is the Lane of ProdFloats.
func prodLane[T Real](cells []Product, items []T, skip bool) {
	cells = cells[:len(items)]
	if len(cells) > 0 && cells[0].exp == none { // then no cell has a factor
		for k, item := range items {
			cells[k] = Product{frac: realFactor(item, skip)}
		}
		return
	}
	for k, item := range items {
		p, x := &cells[k], float64(item)
		if skip && x != x {
			continue
		}
		if y := p.frac * x; isUsual(y) || isLimit(p.frac) {
			p.frac = y
		} else {
			p.times(x)
		}
	}
}

// mergeProducts is the Merge of ProdFloats.
func mergeProducts(cells, with []Product) {
	cells = cells[:len(with)]
	for k := range with {
		p, x := &cells[k], &with[k]
		if y := p.frac * x.frac; p.exp|x.exp == 0 && (isUsual(y) || isLimit(p.frac)) {
			p.frac = y
		} else {
			p.merge(x)
		}
	}
}
