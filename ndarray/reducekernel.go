package ndarray

import "math"

// kernel is how items of type T are reduced into cells of type A. Positions are those in C order of the axes that are
// reduced.
type kernel[T, A any] struct {
	empty  A                                    // a cell of no items
	placed bool                                 // positions count
	row    func(cell *A, items []T, at int64)   // adds items at positions from at on
	lane   func(cells []A, items []T, at int64) // adds an item to each cell, all at a position
	copies func(x T, n, at int64) A             // the cell of n times an item, first at a position
	merge  func(cell, with *A)                  // adds what comes from a later chunk
}

// sumInt sums whole numbers modulo 2^64.
func sumInt[T Real]() kernel[T, int64] {
	return kernel[T, int64]{
		row: func(cell *int64, items []T, _ int64) {
			n := int64(0)
			for _, x := range items {
				n += int64(x)
			}
			*cell += n
		},
		lane: func(cells []int64, items []T, _ int64) {
			for k, x := range items {
				cells[k] += int64(x)
			}
		},
		copies: func(x T, n, _ int64) int64 { return int64(x) * n },
		merge:  func(cell, with *int64) { *cell += *with },
	}
}

// noSum is what a sum of n items starts from: with -0, that of zeros keeps their sign.
func noSum(n int64) float64 {
	if n > 0 {
		return math.Copysign(0, -1)
	}
	return 0
}

// sumFloat sums numbers as float64.
func sumFloat[T Real](n int64) kernel[T, float64] {
	return kernel[T, float64]{
		empty: noSum(n),
		row:   func(cell *float64, items []T, _ int64) { *cell += pairwise(items) },
		lane: func(cells []float64, items []T, _ int64) {
			for k, x := range items {
				cells[k] += float64(x)
			}
		},
		copies: func(x T, n, _ int64) float64 { return float64(x) * float64(n) },
		merge:  func(cell, with *float64) { *cell += *with },
	}
}

// pairwise sums items so that errors grow with the logarithm of their number: halves, and eight sums side by side in
// what is short.
func pairwise[T Real](items []T) float64 {
	if n := len(items); n > 256 {
		half := n / 2 &^ 7
		return pairwise(items[:half]) + pairwise(items[half:])
	}
	z := noSum(1)
	s := [8]float64{z, z, z, z, z, z, z, z}
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

// sumComplex sums complex numbers as complex128.
func sumComplex[T complex64 | complex128](n int64) kernel[T, complex128] {
	z := complex(noSum(n), noSum(n))
	return kernel[T, complex128]{
		empty: z,
		row: func(cell *complex128, items []T, _ int64) {
			for len(items) > 0 { // sums of sums, as in pairwise
				s, n := complex(noSum(1), noSum(1)), min(len(items), 256)
				for _, x := range items[:n] {
					s += complex128(x)
				}
				*cell += s
				items = items[n:]
			}
		},
		lane: func(cells []complex128, items []T, _ int64) {
			for k, x := range items {
				cells[k] += complex128(x)
			}
		},
		copies: func(x T, n, _ int64) complex128 {
			c := complex128(x)
			return complex(real(c)*float64(n), imag(c)*float64(n))
		},
		merge: func(cell, with *complex128) { *cell += *with },
	}
}

// moments are the number of some items, their mean, and the sum of the squares of their distances from it.
type moments struct{ n, mean, m2 float64 }

// std returns the standard deviation.
func (m *moments) std(n int64, ddof int) float64 {
	return math.Sqrt(m.m2 / max(float64(n)-float64(ddof), 0))
}

// add adds an item: Welford's algorithm.
func (m *moments) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / m.n
	m.m2 += d * (x - m.mean)
}

// merge adds other items: the algorithm of Chan, Golub and LeVeque.
func (m *moments) merge(with *moments) {
	switch {
	case with.n == 0:
	case m.n == 0:
		*m = *with
	default:
		n, d := m.n+with.n, with.mean-m.mean
		m.m2 += with.m2 + d*d*(m.n*with.n/n)
		m.mean += d * (with.n / n)
		m.n = n
	}
}

// spread takes the moments of numbers.
func spread[T Real]() kernel[T, moments] {
	return kernel[T, moments]{
		row: func(cell *moments, items []T, _ int64) {
			m := moments{n: float64(len(items))}
			m.mean = pairwise(items) / m.n
			var s [4]float64
			for k, x := range items {
				d := float64(x) - m.mean
				s[k&3] += d * d
			}
			m.m2 = s[0] + s[1] + (s[2] + s[3])
			cell.merge(&m)
		},
		lane: func(cells []moments, items []T, _ int64) {
			part := 1 / (cells[0].n + 1) // lanes have as many items each: one division for all
			for k, x := range items {
				m := &cells[k]
				d := float64(x) - m.mean
				m.n++
				m.mean += d * part
				m.m2 += d * (float64(x) - m.mean)
			}
		},
		copies: func(x T, n, _ int64) moments { return equal(float64(x), n) },
		merge:  func(cell, with *moments) { cell.merge(with) },
	}
}

// equal returns the moments of n times a number. The distance of an infinity from itself is NaN.
func equal(x float64, n int64) moments { return moments{float64(n), x, x - x} }

// spreadComplex takes the moments of the real and the imaginary parts.
func spreadComplex[T complex64 | complex128]() kernel[T, [2]moments] {
	return kernel[T, [2]moments]{
		row: func(cell *[2]moments, items []T, _ int64) {
			for _, x := range items {
				cell[0].add(real(complex128(x)))
				cell[1].add(imag(complex128(x)))
			}
		},
		lane: func(cells [][2]moments, items []T, _ int64) {
			for k, x := range items {
				cells[k][0].add(real(complex128(x)))
				cells[k][1].add(imag(complex128(x)))
			}
		},
		copies: func(x T, n, _ int64) [2]moments {
			return [2]moments{equal(real(complex128(x)), n), equal(imag(complex128(x)), n)}
		},
		merge: func(cell, with *[2]moments) {
			cell[0].merge(&with[0])
			cell[1].merge(&with[1])
		},
	}
}

// extreme is the least or the greatest of some items, and where it is first. A NaN comes before all others.
type extreme[T any] struct {
	value T
	at    int64
	some  bool
	nan   bool
}

func position[T any](x extreme[T]) int64 { return x.at }

// extremeOf looks for the first item by an order. nan tells which items come before all others.
func extremeOf[T any](before func(x, y T) bool, nan func(T) bool) kernel[T, extreme[T]] {
	add := func(cell *extreme[T], x T, at int64) {
		if cell.nan {
			return
		}
		if isNaN := nan(x); isNaN || !cell.some || before(x, cell.value) {
			*cell = extreme[T]{x, at, true, isNaN}
		}
	}
	return kernel[T, extreme[T]]{
		placed: true,
		row: func(cell *extreme[T], items []T, at int64) {
			for k, x := range items {
				add(cell, x, at+int64(k))
			}
		},
		lane: func(cells []extreme[T], items []T, at int64) {
			for k, x := range items {
				add(&cells[k], x, at)
			}
		},
		copies: func(x T, _, at int64) extreme[T] { return extreme[T]{x, at, true, nan(x)} },
		merge: func(cell, with *extreme[T]) {
			switch { // positions need not ascend from chunk to chunk
			case !with.some || cell.nan && !with.nan:
			case !cell.some || with.nan && !cell.nan:
				*cell = *with
			case !cell.nan && before(with.value, cell.value):
				*cell = *with
			case with.at < cell.at && (cell.nan || !before(cell.value, with.value)):
				*cell = *with
			}
		},
	}
}

// extremeReal is extremeOf for real numbers, without a call for each in rows and lanes.
func extremeReal[T Real](most bool) kernel[T, extreme[T]] {
	isNaN := func(x T) bool { return x != x }
	k := extremeOf(func(x, y T) bool { return x < y }, isNaN)
	if most {
		k = extremeOf(func(x, y T) bool { return x > y }, isNaN)
	}
	slowRow, slowLane := k.row, k.lane
	k.row = func(cell *extreme[T], items []T, at int64) {
		if !cell.some {
			slowRow(cell, items[:1], at)
		}
		if cell.nan {
			return
		}
		v, first := cell.value, -1
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
			*cell = extreme[T]{v, at + int64(first), true, v != v}
		}
	}
	k.lane = func(cells []extreme[T], items []T, at int64) {
		if len(cells) > 0 && !cells[0].some { // then none has
			slowLane(cells, items, at)
			return
		}
		for i, x := range items {
			c := &cells[i]
			if most && !(x <= c.value) || !most && !(x >= c.value) {
				if !c.nan {
					*c = extreme[T]{x, at, true, x != x}
				}
			}
		}
	}
	return k
}

// countItems counts the items that are something.
func countItems[T any](is func(T) bool) kernel[T, int64] {
	return kernel[T, int64]{
		row: func(cell *int64, items []T, _ int64) {
			n := int64(0)
			for _, x := range items {
				if is(x) {
					n++
				}
			}
			*cell += n
		},
		lane: func(cells []int64, items []T, _ int64) {
			for k, x := range items {
				if is(x) {
					cells[k]++
				}
			}
		},
		copies: func(x T, n, _ int64) int64 {
			if is(x) {
				return n
			}
			return 0
		},
		merge: func(cell, with *int64) { *cell += *with },
	}
}
