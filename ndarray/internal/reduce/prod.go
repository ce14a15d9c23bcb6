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

// ProdComplex multiplies complex numbers as complex128. If skip is set, numbers with a NaN count as 1.
func ProdComplex[T complex64 | complex128](skip bool) Kernel[T, complex128] {
	return prod(1, func(x T) complex128 {
		if skip && IsNaN(x) {
			return 1
		}
		return complex128(x)
	}, func(x complex128, n int64) complex128 {
		y := complex128(1)
		for ; n > 0; n >>= 1 {
			if n&1 == 1 {
				y *= x
			}
			if n > 1 {
				x *= x
			}
		}
		return y
	})
}

// prod multiplies items.
func prod[T any, A int64 | float64 | complex128](one A, of func(T) A, power func(x A, n int64) A) Kernel[T, A] {
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
		Merge:  func(cell, with *A) { *cell *= *with },
	}
}
