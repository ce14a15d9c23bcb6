package paint

import "math"

// A Histogram counts values in bins of equal width.
type Histogram struct {
	Low, High     float64 // of the finite values
	Counts        []int
	NaN, Infinite int
}

// NewHistogram counts values in n bins from the smallest to the largest finite value.
func NewHistogram(values []float64, n int) Histogram {
	h := Histogram{Counts: make([]int, n)}
	all := Style{}
	h.Low, h.High = all.bounds(values)
	for _, x := range values {
		switch {
		case math.IsNaN(x):
			h.NaN++
		case math.IsInf(x, 0):
			h.Infinite++
		case h.High > h.Low:
			h.Counts[min(int(place(x, h.Low, h.High)*float64(n)), n-1)]++
		default:
			h.Counts[0]++
		}
	}
	return h
}
