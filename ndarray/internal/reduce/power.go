package reduce

// power returns the product of n copies of x.
func power(x float64, n int64) Product {
	p, y := Product{frac: 1}, Product{frac: x}
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			p.merge(&y)
		}
		square := y
		y.merge(&square)
	}
	return p
}

// powerComplex returns first times the product of n-1 copies of x. Both are the same number, but zeros of first may
// have other signs.
func powerComplex(first, x complex128, n int64) ComplexProduct {
	p, y := ComplexProduct{frac: first}, ComplexProduct{frac: x}
	for n--; n > 0; n >>= 1 {
		if n&1 == 1 {
			p.merge(&y)
		}
		square := y
		y.merge(&square)
	}
	return p
}
