package paint

import (
	"math"
	"testing"
)

// TestMaps compares colors with those of matplotlib.
func TestMaps(t *testing.T) {
	for x, want := range map[float64][3]int{0: {68, 1, 84}, 0.25: {59, 82, 139}, 0.5: {33, 145, 140}, 0.75: {94, 201, 98}, 1: {253, 231, 37}} {
		c := MapOf("viridis").Color(x)
		for k, got := range []uint8{c.R, c.G, c.B} {
			if d := int(got) - want[k]; d < -4 || d > 4 {
				t.Errorf("viridis(%v) = %v, want %v", x, c, want)
			}
		}
	}
	if c := MapOf("gray").Color(0.5); c.R != 128 || c.R != c.G || c.G != c.B {
		t.Errorf("gray(0.5) = %v", c)
	}
}

// TestColors compares colors that come from a table with those of Color.
func TestColors(t *testing.T) {
	values := make([]float64, 100_000)
	for i := range values {
		values[i] = math.Sin(float64(i)) * float64(i) / 1000
	}
	values[7], values[8], values[9] = math.NaN(), math.Inf(1), math.Inf(-1)
	for _, s := range []Style{{Map: Viridis}, {Map: Gray, NaN: MissingColor}, {Map: Viridis, Log: true}} {
		low, high, err := s.Limits(values)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range s.Colors(values, low, high) {
			if want := s.Color(values[i], low, high); got != want {
				t.Fatalf("value %v has color %v, want %v", values[i], got, want)
			}
		}
	}
}

// TestLogColors expects the color of NaN for values that have no logarithm.
func TestLogColors(t *testing.T) {
	s := &Style{Map: Viridis, Log: true, NaN: MissingColor}
	values := []float64{0, math.Copysign(0, -1), -1, math.Inf(-1), 1}
	for i, c := range s.Colors(values, 1, 10) {
		if missing := i < 4; c != s.Color(values[i], 1, 10) || (c == MissingColor) != missing {
			t.Errorf("%v has color %v", values[i], c)
		}
	}
}

// TestLimits compares percentiles with numpy.percentile.
func TestLimits(t *testing.T) {
	values := []float64{4, math.NaN(), 1, 3, 2, 5, math.Inf(1), -1}
	if h := NewHistogram([]float64{-math.MaxFloat64, math.MaxFloat64, 0}, 4); h.Counts[0] != 1 || h.Counts[2] != 1 || h.Counts[3] != 1 {
		t.Errorf("%+v", h)
	}
	wide := &Style{Percentile: &[2]float64{25, 75}}
	if low, high, err := wide.Limits([]float64{-math.MaxFloat64, math.MaxFloat64}); err != nil || math.Abs(low/math.MaxFloat64+0.5) > 1e-12 || math.Abs(high/math.MaxFloat64-0.5) > 1e-12 {
		t.Errorf("%v, %v, %v", low, high, err)
	}
	for _, c := range []struct {
		style     Style
		low, high float64
	}{
		{Style{}, -1, 5},
		{Style{Log: true}, 1, 5},
		{Style{Log: true, Percentile: &[2]float64{10, 90}}, 1.4, 4.6},
		{Style{Log: true, Percentile: &[2]float64{50, 50}}, 3, 3},
		{Style{Range: &[2]float64{2, 7}, Percentile: &[2]float64{50, 50}}, 2, 7},
	} {
		low, high, err := c.style.Limits(values)
		if err != nil || math.Abs(low-c.low) > 1e-12 || math.Abs(high-c.high) > 1e-12 {
			t.Errorf("%+v: %v, %v, %v", c, low, high, err)
		}
	}
	for _, s := range []Style{{Log: true, Range: &[2]float64{0, 1}}, {Range: &[2]float64{2, 1}}, {Range: &[2]float64{math.NaN(), 1}}, {Range: &[2]float64{0, math.Inf(1)}}} {
		if low, high, err := s.Limits(values); err == nil {
			t.Errorf("%+v: %v, %v", s, low, high)
		}
	}
	if low, high, err := (&Style{Log: true}).Limits([]float64{-1, math.NaN()}); err != nil || low != 1 || high != 10 {
		t.Errorf("no values: %v, %v, %v", low, high, err)
	}
}

func TestHistogram(t *testing.T) {
	h := NewHistogram([]float64{0, 1, 2, 3, 4, math.NaN(), math.Inf(1), 4}, 4)
	if h.Low != 0 || h.High != 4 || h.NaN != 1 || h.Infinite != 1 || h.Counts[0] != 1 || h.Counts[3] != 3 {
		t.Errorf("%+v", h)
	}
	for _, values := range [][]float64{nil, {5}, {5, 5}, {-math.MaxFloat64, math.MaxFloat64}} {
		h, n := NewHistogram(values, 3), 0
		for _, c := range h.Counts {
			n += c
		}
		if n != len(values) {
			t.Errorf("%v: %+v", values, h)
		}
	}
}
