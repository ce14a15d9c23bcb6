// Package reduce contains the kernels of reductions, which compute sums, extremes, moments and counts of the items of a
// box.
package reduce

import (
	"math"
	"math/cmplx"
)

// Real is the constraint for Go types of real numbers.
type Real interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Kernel reduces items of type T into cells of type A. The position of an item is its number in C order of the reduced
// axes.
type Kernel[T, A any] struct {
	Empty  A                                    // the cell of no items
	Placed bool                                 // the kernel uses positions
	Row    func(cell *A, items []T, at int64)   // adds items; the first is at position at
	Lane   func(cells []A, items []T, at int64) // adds item k to cell k; all items are at position at
	Copies func(x T, n, at int64) A             // returns the cell of n copies of an item, the first at position at
	Merge  func(cells, with []A)                // adds cell k of a later chunk to cell k

	// Row does the same as Lane for one item after the other: Serial for all items, and Short for up to that number of
	// items, if the cell is empty. Products of complex numbers are not Serial: some CPUs round them only once, in one
	// of the two loops.
	Serial bool
	Short  int64
}

// mergeSums is Kernel.Merge for sums and counts.
func mergeSums[A int64 | float64 | complex128](cells, with []A) {
	for k, x := range with {
		cells[k] += x
	}
}

// SumInts sums integers modulo 2^64.
func SumInts[T Real]() Kernel[T, int64] {
	return Kernel[T, int64]{
		Row: func(cell *int64, items []T, _ int64) {
			n := int64(0)
			for _, x := range items {
				n += int64(x)
			}
			*cell += n
		},
		Lane: func(cells []int64, items []T, _ int64) {
			for k, x := range items {
				cells[k] += int64(x)
			}
		},
		Copies: func(x T, n, _ int64) int64 { return int64(x) * n },
		Merge:  mergeSums[int64],
		Serial: true,
	}
}

// SumFloats sums numbers as float64. As in NumPy, a sum of negative zeros is 0 and not -0.
func SumFloats[T Real]() Kernel[T, float64] {
	return Kernel[T, float64]{
		Row: func(cell *float64, items []T, _ int64) { *cell += pairwise(items) },
		Lane: func(cells []float64, items []T, _ int64) {
			for k, x := range items {
				cells[k] += float64(x)
			}
		},
		Copies: func(x T, n, _ int64) float64 { return float64(x)*float64(n) + 0 },
		Merge:  mergeSums[float64],
		Short:  3, // see pairwise
	}
}

// pairwise sums items so that errors grow with the logarithm of their number: it adds the sums of both halves, and
// keeps eight sums for up to 256 items.
func pairwise[T Real](items []T) float64 {
	if n := len(items); n > 256 {
		half := n / 2 &^ 7
		return pairwise(items[:half]) + pairwise(items[half:])
	}
	var s [8]float64
	for ; len(items) >= 8; items = items[8:] {
		for k, x := range items[:8] {
			s[k] += float64(x)
		}
	}
	for k, x := range items {
		s[k] += float64(x)
	}
	return (s[0] + s[1] + (s[2] + s[3])) + (s[4] + s[5] + (s[6] + s[7]))
}

// SumComplex sums complex numbers as complex128.
func SumComplex[T complex64 | complex128]() Kernel[T, complex128] {
	return Kernel[T, complex128]{
		Row: func(cell *complex128, items []T, _ int64) { *cell += pairwiseComplex(items) },
		Lane: func(cells []complex128, items []T, _ int64) {
			for k, x := range items {
				cells[k] += complex128(x)
			}
		},
		Copies: func(x T, n, _ int64) complex128 {
			c := complex128(x)
			return complex(real(c)*float64(n), imag(c)*float64(n)) + 0
		},
		Merge: mergeSums[complex128],
		Short: 32, // see pairwiseComplex
	}
}

// pairwiseComplex is pairwise for complex numbers, with one sum for up to 32 items.
func pairwiseComplex[T complex64 | complex128](items []T) complex128 {
	if n := len(items); n > 32 {
		half := n / 2
		return pairwiseComplex(items[:half]) + pairwiseComplex(items[half:])
	}
	s := complex128(0)
	for _, x := range items {
		s += complex128(x)
	}
	return s
}

// Moments holds the number of items, their mean, and the sum of the squared distances from the mean.
type Moments struct{ n, mean, m2 float64 }

// Var returns the variance of n items. ddof is subtracted from n in the divisor.
func (m *Moments) Var(n int64, ddof int) float64 {
	return m.m2 / max(float64(n)-float64(ddof), 0)
}

// add adds an item, with Welford's algorithm.
func (m *Moments) add(x float64) {
	d := x - m.mean
	if isFar(d) {
		one := equal(x, 1)
		m.merge(&one)
		return
	}
	m.n++
	m.mean += d / m.n
	m.m2 += d * (x - m.mean)
}

// merge adds the moments of other items, with the algorithm of Chan, Golub and LeVeque.
func (m *Moments) merge(with *Moments) {
	switch {
	case with.n == 0:
	case m.n == 0:
		*m = *with
	default:
		n, d := m.n+with.n, with.mean-m.mean
		m.m2 += with.m2 + d*d*(m.n*with.n/n)
		if isFar(d) {
			m.mean = m.mean*(m.n/n) + with.mean*(with.n/n)
		} else {
			m.mean += d * (with.n / n)
		}
		m.n = n
	}
}

// isFar reports whether a distance is infinite. The numbers may be infinite, or too far from each other.
func isFar(d float64) bool { return math.Abs(d) > math.MaxFloat64 }

// Variance computes the moments of real numbers.
func Variance[T Real]() Kernel[T, Moments] {
	return Kernel[T, Moments]{
		Row: func(cell *Moments, items []T, _ int64) {
			m := moments(items, func(items []T) Sum { return Sum{pairwise(items), int64(len(items))} }, squares)
			cell.merge(&m)
		},
		Lane: func(cells []Moments, items []T, _ int64) {
			if someLarge(items) {
				for k, x := range items {
					cells[k].add(float64(x))
				}
				return
			}
			part := 1 / (cells[0].n + 1) // all cells have the same number of items, so one division is enough
			for k, x := range items {
				m := &cells[k]
				d := float64(x) - m.mean
				m.n++
				m.mean += d * part
				m.m2 += d * (float64(x) - m.mean)
			}
		},
		Copies: func(x T, n, _ int64) Moments { return equal(float64(x), n) },
		Merge: func(cells, with []Moments) {
			for k := range with {
				cells[k].merge(&with[k])
			}
		},
	}
}

// someLarge reports whether the distance of an item from a finite mean may overflow.
func someLarge[T Real](items []T) bool {
	floats, _ := any(items).([]float64)
	for _, x := range floats {
		if math.Abs(x) > 0x1p969 { // less than half the last digit of the largest number
			return true
		}
	}
	return false
}

// moments returns the moments of items, from their sum and the squared distances from their mean. If the sum is no
// finite number, it merges the moments of both halves, as the sum of large items may have overflowed. An infinity or a
// NaN makes the result NaN, so the other half is not needed then: n is that of a part of the items.
func moments[T Real](items []T, sum func(items []T) Sum, squares func(items []T, mean float64) float64) Moments {
	s := sum(items)
	if s.N == 0 {
		return Moments{}
	}
	if half := len(items) / 2; half > 0 && s.Sum-s.Sum != 0 {
		m := moments(items[:half], sum, squares)
		if m.m2 >= 0 {
			with := moments(items[half:], sum, squares)
			m.merge(&with)
		}
		return m
	}
	m := Moments{n: float64(s.N)}
	m.mean = s.Sum / m.n
	m.m2 = squares(items, m.mean)
	return m
}

// squares sums the squared distances of items from their mean. See pairwise.
func squares[T Real](items []T, mean float64) float64 {
	if n := len(items); n > 256 {
		half := n / 2 &^ 7
		return squares(items[:half], mean) + squares(items[half:], mean)
	}
	var s [8]float64
	for k, x := range items {
		d := float64(x) - mean
		s[k&7] += d * d
	}
	return (s[0] + s[1] + (s[2] + s[3])) + (s[4] + s[5] + (s[6] + s[7]))
}

// equal returns the moments of n copies of a number. The distance of an infinity from itself is NaN.
func equal(x float64, n int64) Moments { return Moments{float64(n), x, x - x} }

// ComplexMoments holds the moments of the real and the imaginary parts of complex numbers.
type ComplexMoments [2]Moments

// Var returns the variance. See Moments.Var.
func (m *ComplexMoments) Var(n int64, ddof int) float64 {
	both := Moments{m2: m[0].m2 + m[1].m2}
	return both.Var(n, ddof)
}

// VarianceComplex computes the moments of complex numbers.
func VarianceComplex[T complex64 | complex128]() Kernel[T, ComplexMoments] {
	return Kernel[T, ComplexMoments]{
		Row: func(cell *ComplexMoments, items []T, _ int64) {
			m := complexMoments(items)
			cell.merge(&m)
		},
		Lane: func(cells []ComplexMoments, items []T, _ int64) {
			for k, x := range items {
				cells[k][0].add(real(complex128(x)))
				cells[k][1].add(imag(complex128(x)))
			}
		},
		Copies: func(x T, n, _ int64) ComplexMoments {
			return ComplexMoments{equal(real(complex128(x)), n), equal(imag(complex128(x)), n)}
		},
		Merge: func(cells, with []ComplexMoments) {
			for k := range with {
				cells[k].merge(&with[k])
			}
		},
	}
}

func (m *ComplexMoments) merge(with *ComplexMoments) {
	m[0].merge(&with[0])
	m[1].merge(&with[1])
}

// complexMoments returns the moments of complex numbers. See moments.
func complexMoments[T complex64 | complex128](items []T) ComplexMoments {
	n, sum := float64(len(items)), pairwiseComplex(items)
	mean := complex(real(sum)/n, imag(sum)/n)
	if half := len(items) / 2; half > 0 && (cmplx.IsInf(mean) || cmplx.IsNaN(mean)) {
		m := complexMoments(items[:half])
		if m[0].m2+m[1].m2 >= 0 {
			with := complexMoments(items[half:])
			m.merge(&with)
		}
		return m
	}
	m2 := squaresComplex(items, mean)
	return ComplexMoments{{n, real(mean), real(m2)}, {n, imag(mean), imag(m2)}}
}

// squaresComplex is squares for both parts of complex numbers.
func squaresComplex[T complex64 | complex128](items []T, mean complex128) complex128 {
	if n := len(items); n > 32 {
		half := n / 2
		return squaresComplex(items[:half], mean) + squaresComplex(items[half:], mean)
	}
	var s complex128
	for _, x := range items {
		d := complex128(x) - mean
		s += complex(real(d)*real(d), imag(d)*imag(d))
	}
	return s
}

// Extreme is the minimum or maximum of the items so far, with its first position. A NaN comes before all other items.
type Extreme[T any] struct {
	Value T
	At    int64
	some  bool // at least one item was added
	nan   bool // Value is a NaN
}

// ExtremeOf finds the first item by an order. nan reports whether an item comes before all others.
func ExtremeOf[T any](before func(x, y T) bool, nan func(T) bool) Kernel[T, Extreme[T]] {
	add := func(cell *Extreme[T], x T, at int64) {
		if cell.nan {
			return
		}
		if isNaN := nan(x); isNaN || !cell.some || before(x, cell.Value) {
			*cell = Extreme[T]{x, at, true, isNaN}
		}
	}
	return Kernel[T, Extreme[T]]{
		Placed: true,
		Row: func(cell *Extreme[T], items []T, at int64) {
			for k, x := range items {
				add(cell, x, at+int64(k))
			}
		},
		Lane: func(cells []Extreme[T], items []T, at int64) {
			for k, x := range items {
				add(&cells[k], x, at)
			}
		},
		Copies: func(x T, _, at int64) Extreme[T] { return Extreme[T]{x, at, true, nan(x)} },
		Merge: func(cells, with []Extreme[T]) {
			for k := range with {
				cells[k].merge(&with[k], before)
			}
		},
		Serial: true,
	}
}

// merge adds the extreme of other items.
func (x *Extreme[T]) merge(with *Extreme[T], before func(x, y T) bool) {
	switch { // positions need not ascend from chunk to chunk
	case !with.some || x.nan && !with.nan:
	case !x.some || with.nan && !x.nan:
		*x = *with
	case !x.nan && before(with.Value, x.Value):
		*x = *with
	case with.At < x.At && (x.nan || !before(x.Value, with.Value)):
		*x = *with
	}
}

// ExtremeReal finds the minimum or, if most is set, the maximum of real numbers. It compares without a call per item.
func ExtremeReal[T Real](most bool) Kernel[T, Extreme[T]] {
	isNaN := func(x T) bool { return x != x }
	k := ExtremeOf(func(x, y T) bool { return x < y }, isNaN)
	if most {
		k = ExtremeOf(func(x, y T) bool { return x > y }, isNaN)
	}
	slowRow := k.Row
	firstLane := func(cells []Extreme[T], items []T, at int64) {
		for i, x := range items {
			cells[i] = Extreme[T]{x, at, true, x != x}
		}
	}
	k.Row = func(cell *Extreme[T], items []T, at int64) {
		if !cell.some {
			slowRow(cell, items[:1], at)
		}
		if cell.nan {
			return
		}
		v, first := cell.Value, -1
		if most {
			for i, x := range items {
				if !(x <= v) {
					if v, first = x, i; x != x {
						break
					}
				}
			}
		} else {
			for i, x := range items {
				if !(x >= v) {
					if v, first = x, i; x != x {
						break
					}
				}
			}
		}
		if first >= 0 {
			*cell = Extreme[T]{v, at + int64(first), true, v != v}
		}
	}
	k.Lane = func(cells []Extreme[T], items []T, at int64) {
		if len(cells) > 0 && !cells[0].some { // then no cell has an item
			firstLane(cells, items, at)
			return
		}
		for i, x := range items {
			c := &cells[i]
			if most && !(x <= c.Value) || !most && !(x >= c.Value) {
				if !c.nan {
					*c = Extreme[T]{x, at, true, x != x}
				}
			}
		}
	}
	merge := k.Merge
	k.Merge = func(cells, with []Extreme[T]) {
		for i := range with {
			x, y := &cells[i], &with[i]
			switch {
			case x.some && y.some && (most && y.Value < x.Value || !most && y.Value > x.Value):
			case x.some && y.some && !x.nan && (most && y.Value > x.Value || !most && y.Value < x.Value):
				*x = *y
			default:
				merge(cells[i:i+1], with[i:i+1])
			}
		}
	}
	return k
}

// Count counts the items for which is returns true.
func Count[T any](is func(T) bool) Kernel[T, int64] {
	return Kernel[T, int64]{
		Row: func(cell *int64, items []T, _ int64) {
			n := int64(0)
			for _, x := range items {
				if is(x) {
					n++
				}
			}
			*cell += n
		},
		Lane: func(cells []int64, items []T, _ int64) {
			for k, x := range items {
				if is(x) {
					cells[k]++
				}
			}
		},
		Copies: func(x T, n, _ int64) int64 {
			if is(x) {
				return n
			}
			return 0
		},
		Merge:  mergeSums[int64],
		Serial: true,
	}
}
