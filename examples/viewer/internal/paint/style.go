package paint

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
)

// A Style is how numbers become colors.
type Style struct {
	Map        Map
	Log        bool        // logarithmic colors
	Percentile *[2]float64 // the range between two percentiles; nil = from the minimum to the maximum
	Range      *[2]float64 // the range itself; it precedes Percentile
	NaN        color.NRGBA
}

// MissingColor is the usual color of NaN.
var MissingColor = color.NRGBA{200, 200, 200, 255}

// ParseColor parses a color such as ff0000. Anything else is MissingColor.
func ParseColor(s string) color.NRGBA {
	n, err := strconv.ParseUint(s, 16, 32)
	if err != nil || len(s) != 6 {
		return MissingColor
	}
	return color.NRGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 255}
}

// Limits returns the values with the first and the last color.
func (s *Style) Limits(values []float64) (low, high float64, err error) {
	switch {
	case s.Range != nil:
		low, high = s.Range[0], s.Range[1]
	case s.Percentile != nil:
		if p := s.Percentile; !(p[0] >= 0 && p[0] <= p[1] && p[1] <= 100) {
			return 0, 0, fmt.Errorf("the percentiles %g and %g are not valid", p[0], p[1])
		}
		low, high = s.percentiles(values)
	default:
		low, high = s.bounds(values)
	}
	if s.Log && low <= 0 {
		return 0, 0, fmt.Errorf("a logarithmic range cannot begin at %g", low)
	}
	if !(low <= high) || math.IsInf(low, 0) || math.IsInf(high, 0) {
		return 0, 0, fmt.Errorf("the range from %g to %g is not valid", low, high)
	}
	return low, high, nil
}

// counts reports whether a value counts for the range.
func (s *Style) counts(x float64) bool {
	return !math.IsNaN(x) && !math.IsInf(x, 0) && !(s.Log && x <= 0)
}

// bounds returns the smallest and the largest value.
func (s *Style) bounds(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, x := range values {
		if s.counts(x) {
			low, high = min(low, x), max(high, x)
		}
	}
	if low > high {
		return s.nothing()
	}
	return low, high
}

// nothing is the range of no values.
func (s *Style) nothing() (low, high float64) {
	if s.Log {
		return 1, 10
	}
	return 0, 1
}

// percentiles returns two percentiles as numpy.percentile does.
func (s *Style) percentiles(values []float64) (low, high float64) {
	sorted := slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return !s.counts(x) })
	if len(sorted) == 0 {
		return s.nothing()
	}
	slices.Sort(sorted)
	at := func(percent float64) float64 {
		x := percent / 100 * float64(len(sorted)-1)
		i := int(x)
		if i+1 >= len(sorted) {
			return sorted[len(sorted)-1]
		}
		first, second, part := sorted[i], sorted[i+1], x-math.Floor(x)
		if math.IsInf(second-first, 0) {
			return first*(1-part) + second*part
		}
		return first + (second-first)*part
	}
	return at(s.Percentile[0]), at(s.Percentile[1])
}

// Color returns the color of a value between limits.
func (s *Style) Color(x, low, high float64) color.NRGBA {
	switch {
	case math.IsNaN(x) || s.Log && x <= 0:
		return s.NaN
	case s.Log:
		x, low, high = math.Log(x), math.Log(low), math.Log(high)
	}
	return s.Map.Color(place(x, low, high))
}

// place returns where x is between low and high, from 0 to 1.
func place(x, low, high float64) float64 {
	if high == low {
		if x > low {
			return 1
		}
		return 0
	}
	x = max(low, min(high, x))
	if math.IsInf(high-low, 0) {
		return (x/2 - low/2) / (high/2 - low/2)
	}
	return (x - low) / (high - low)
}

// Colors returns the colors of values, as in Color. It looks most of them up in a table.
func (s *Style) Colors(values []float64, low, high float64) []color.NRGBA {
	const n = 1 << 14
	type cell struct {
		color color.NRGBA
		same  bool // both ends of the cell have the color
	}
	out := make([]color.NRGBA, len(values))
	if s.Log {
		low, high = math.Log(low), math.Log(high)
	}
	var table []cell
	if len(values) > n {
		table = make([]cell, n+1)
		for i := range table {
			table[i].color = s.Map.Color(float64(i) / n)
			if i > 0 {
				table[i-1].same = table[i-1].color == table[i].color
			}
		}
	}
	for i, x := range values {
		if math.IsNaN(x) || s.Log && x <= 0 {
			out[i] = s.NaN
			continue
		}
		if s.Log {
			x = math.Log(x)
		}
		t := place(x, low, high)
		if table != nil {
			if c := &table[int(t*n)]; c.same {
				out[i] = c.color
				continue
			}
		}
		out[i] = s.Map.Color(t)
	}
	return out
}
