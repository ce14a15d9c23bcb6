package reduce

import "math"

// ProdInts multiplies integers modulo 2^64.
func ProdInts[T Real]() Kernel[T, int64] {
	return prod(int64(1), func(x T) int64 { return int64(x) }, func(x int64, n int64) int64 {
		y := int64(1)
		for ; n > 0; n >>= 1 {
			if n&1 == 1 {
				y *= x
			}
			x *= x
		}
		return y
	})
}

// ProdFloats multiplies numbers as float64. If skip is set, NaNs count as 1.
func ProdFloats[T Real](skip bool) Kernel[T, float64] {
	return prod(1.0, func(x T) float64 {
		if skip && x != x {
			return 1
		}
		return float64(x)
	}, func(x float64, n int64) float64 { return math.Pow(x, float64(n)) })
}

// ComplexProduct is a product of complex numbers.
type ComplexProduct struct {
	Product complex128
	some    bool // there are factors
}

// multiply adds the number x at position at. NumPy multiplies only the first number of all by 1: this makes the
// imaginary part of an infinity NaN.
func (p *ComplexProduct) multiply(x complex128, at int64) {
	if p.some || at == 0 {
		x = p.Product * x
	}
	p.Product, p.some = x, true
}

// ProdComplex multiplies complex numbers as complex128. If skip is set, numbers with a NaN count as 1.
func ProdComplex[T complex64 | complex128](skip bool) Kernel[T, ComplexProduct] {
	of := func(x T) complex128 {
		if skip && IsNaN(x) {
			return 1
		}
		return complex128(x)
	}
	return Kernel[T, ComplexProduct]{
		Empty: ComplexProduct{Product: 1},
		Row: func(cell *ComplexProduct, items []T, at int64) {
			cell.multiply(of(items[0]), at)
			p := cell.Product
			for _, x := range items[1:] {
				p *= of(x)
			}
			cell.Product = p
		},
		Lane: func(cells []ComplexProduct, items []T, at int64) {
			for k, x := range items {
				cells[k].multiply(of(x), at)
			}
		},
		Copies: func(item T, n, at int64) ComplexProduct {
			p := ComplexProduct{Product: 1}
			x := of(item)
			p.multiply(x, at)
			for n--; n > 0; n >>= 1 {
				if n&1 == 1 {
					p.Product *= x
				}
				if n > 1 {
					x *= x
				}
			}
			return p
		},
		Merge: func(cells, with []ComplexProduct) {
			for k := range with {
				if cell := &cells[k]; cell.some {
					cell.Product *= with[k].Product
				} else {
					*cell = with[k]
				}
			}
		},
	}
}

// prod multiplies real numbers.
func prod[T any, A int64 | float64](one A, of func(T) A, power func(x A, n int64) A) Kernel[T, A] {
	return Kernel[T, A]{
		Empty: one,
		Row: func(cell *A, items []T, _ int64) {
			for _, x := range items {
				*cell *= of(x)
			}
		},
		Lane: func(cells []A, items []T, _ int64) {
			for k, x := range items {
				cells[k] *= of(x)
			}
		},
		Copies: func(x T, n, _ int64) A { return power(of(x), n) },
		Merge: func(cells, with []A) {
			for k, x := range with {
				cells[k] *= x
			}
		},
		Serial: true,
	}
}
