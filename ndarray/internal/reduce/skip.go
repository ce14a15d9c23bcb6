package reduce

import (
	"math"
	"unsafe"
)

// Sum holds the sum of items that are not NaN, and their number.
type Sum struct {
	Sum float64
	N   int64
}

// SumSkip sums numbers that are not NaN as float64. Without NaNs the sums are those of SumFloats.
func SumSkip[T Real]() Kernel[T, Sum] {
	return Kernel[T, Sum]{
		Row: func(cell *Sum, items []T, _ int64) {
			s := pairwiseSkip(items)
			cell.Sum += s.Sum
			cell.N += s.N
		},
		Lane: func(cells []Sum, items []T, _ int64) {
			for k, x := range items {
				if x == x {
					cells[k].Sum += float64(x)
					cells[k].N++
				}
			}
		},
		Copies: func(x T, n, _ int64) Sum {
			if x != x {
				return Sum{}
			}
			return Sum{float64(x)*float64(n) + 0, n}
		},
		Merge: func(cells, with []Sum) {
			for k, x := range with {
				cells[k].Sum += x.Sum
				cells[k].N += x.N
			}
		},
		Short: 3,
	}
}

// pairwiseSkip is pairwise for the items that are not NaN.
func pairwiseSkip[T Real](items []T) Sum {
	if n := len(items); n > 256 {
		half := n / 2 &^ 7
		a, b := pairwiseSkip(items[:half]), pairwiseSkip(items[half:])
		return Sum{a.Sum + b.Sum, a.N + b.N}
	}
	var s [8]float64
	n := int64(0)
	for ; len(items) >= 8; items = items[8:] {
		for k, x := range items[:8] {
			if x == x {
				s[k] += float64(x)
				n++
			}
		}
	}
	for k, x := range items {
		if x == x {
			s[k] += float64(x)
			n++
		}
	}
	return Sum{(s[0] + s[1] + (s[2] + s[3])) + (s[4] + s[5] + (s[6] + s[7])), n}
}

// ComplexSum is Sum for complex numbers.
type ComplexSum struct {
	Sum complex128
	N   int64
}

// IsNaN reports whether a part of x is NaN.
func IsNaN[T complex64 | complex128](x T) bool {
	r, i := real(complex128(x)), imag(complex128(x))
	return r != r || i != i
}

// SumComplexSkip sums complex numbers of which no part is NaN as complex128.
func SumComplexSkip[T complex64 | complex128]() Kernel[T, ComplexSum] {
	return Kernel[T, ComplexSum]{
		Row: func(cell *ComplexSum, items []T, _ int64) {
			s := pairwiseComplexSkip(items)
			cell.Sum += s.Sum
			cell.N += s.N
		},
		Lane: func(cells []ComplexSum, items []T, _ int64) {
			for k, x := range items {
				if !IsNaN(x) {
					cells[k].Sum += complex128(x)
					cells[k].N++
				}
			}
		},
		Copies: func(x T, n, _ int64) ComplexSum {
			if IsNaN(x) {
				return ComplexSum{}
			}
			c := complex128(x)
			return ComplexSum{complex(real(c)*float64(n), imag(c)*float64(n)) + 0, n}
		},
		Merge: func(cells, with []ComplexSum) {
			for k, x := range with {
				cells[k].Sum += x.Sum
				cells[k].N += x.N
			}
		},
		Short: 32,
	}
}

// pairwiseComplexSkip is pairwiseComplex for the items of which no part is NaN.
func pairwiseComplexSkip[T complex64 | complex128](items []T) ComplexSum {
	if n := len(items); n > 32 {
		half := n / 2
		a, b := pairwiseComplexSkip(items[:half]), pairwiseComplexSkip(items[half:])
		return ComplexSum{a.Sum + b.Sum, a.N + b.N}
	}
	var s ComplexSum
	for _, x := range items {
		if !IsNaN(x) {
			s.Sum += complex128(x)
			s.N++
		}
	}
	return s
}

// MeanOf returns the mean of a sum, rounded as NumPy does: complex128 is multiplied by the reciprocal of the count.
func MeanOf[T complex64 | complex128](x ComplexSum) complex128 {
	re, im, n := real(x.Sum), imag(x.Sum), float64(x.N)
	re, im = re+im*0, im-re*0 // a NaN in one part makes both NaN
	if unsafe.Sizeof(*new(T)) == 8 {
		return complex(re/n, im/n)
	}
	return complex(re*(1/n), im*(1/n))
}

// VarianceSkip computes the moments of the numbers that are not NaN.
func VarianceSkip[T Real]() Kernel[T, Moments] {
	k := Variance[T]()
	copies := k.Copies
	k.Row = func(cell *Moments, items []T, _ int64) {
		m := moments(items, pairwiseSkip, squaresSkip)
		cell.merge(&m)
	}
	k.Lane = func(cells []Moments, items []T, _ int64) {
		for k, x := range items {
			if x == x {
				cells[k].add(float64(x))
			}
		}
	}
	k.Copies = func(x T, n, at int64) Moments {
		if x != x {
			return Moments{}
		}
		return copies(x, n, at)
	}
	return k
}

// squaresSkip is squares for the items that are not NaN.
func squaresSkip[T Real](items []T, mean float64) float64 {
	if n := len(items); n > 256 {
		half := n / 2 &^ 7
		return squaresSkip(items[:half], mean) + squaresSkip(items[half:], mean)
	}
	var s [8]float64
	for k, x := range items {
		if x == x {
			d := float64(x) - mean
			s[k&7] += d * d
		}
	}
	return (s[0] + s[1] + (s[2] + s[3])) + (s[4] + s[5] + (s[6] + s[7]))
}

// Skip returns a kernel that ignores the items for which nan returns true.
func Skip[T, A any](k Kernel[T, A], nan func(T) bool) Kernel[T, A] {
	row, lane, copies, empty := k.Row, k.Lane, k.Copies, k.Empty
	k.Row = func(cell *A, items []T, at int64) {
		for i := 0; i < len(items); i++ {
			first := i
			for i < len(items) && !nan(items[i]) {
				i++
			}
			if i > first {
				row(cell, items[first:i], at+int64(first))
			}
		}
	}
	k.Lane = func(cells []A, items []T, at int64) {
		for i := range items {
			if !nan(items[i]) {
				lane(cells[i:i+1], items[i:i+1], at)
			}
		}
	}
	k.Copies = func(x T, n, at int64) A {
		if nan(x) {
			return empty
		}
		return copies(x, n, at)
	}
	return k
}

// Some reports whether any item was added.
func (x *Extreme[T]) Some() bool { return x.some }

// ExtremeRealSkip is ExtremeReal for the numbers that are not NaN.
func ExtremeRealSkip[T Real](most bool) Kernel[T, Extreme[T]] {
	before := func(x, y T) bool { return x < y }
	if most {
		before = func(x, y T) bool { return x > y }
	}
	isNaN := func(x T) bool { return x != x }
	k := Skip(ExtremeOf(before, isNaN), isNaN)
	k.Row = func(cell *Extreme[T], items []T, at int64) {
		first, v := -1, cell.Value
		if !cell.some {
			for first = 0; first < len(items) && items[first] != items[first]; first++ {
			}
			if first == len(items) {
				return
			}
			v = items[first]
		}
		if most {
			for i, x := range items {
				if x > v {
					v, first = x, i
				}
			}
		} else {
			for i, x := range items {
				if x < v {
					v, first = x, i
				}
			}
		}
		if first >= 0 {
			*cell = Extreme[T]{Value: v, At: at + int64(first), some: true}
		}
	}
	k.Lane = func(cells []Extreme[T], items []T, at int64) {
		for i, x := range items {
			c := &cells[i]
			if most && x > c.Value || !most && x < c.Value || !c.some && x == x {
				*c = Extreme[T]{Value: x, At: at, some: true}
			}
		}
	}
	return k
}

// VarOf returns the variance of the items that were added. It is NaN if they are not more than ddof.
func (m *Moments) VarOf(ddof int) float64 {
	if m.n <= float64(ddof) {
		return math.NaN()
	}
	return m.m2 / (m.n - float64(ddof))
}

// VarOf returns the variance of the items that were added. See Moments.VarOf.
func (m *ComplexMoments) VarOf(ddof int) float64 {
	both := Moments{n: m[0].n, m2: m[0].m2 + m[1].m2}
	return both.VarOf(ddof)
}
