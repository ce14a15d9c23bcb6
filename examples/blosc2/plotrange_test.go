package main

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// TestPlotLargeRange draws the histogram of items whose range times the number of bins is infinite.
func TestPlotLargeRange(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.b2nd")
	must(t, strings.Repeat("\x00", 16), "create", "-dtype", "<f8", name)
	must(t, "", "set", name, "1", "-value", "1e308")
	picture(t, "-kind", "histogram", name, "-")
}

// TestPlotRange draws items whose range has no finite width. It must end, with one error.
func TestPlotRange(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.b2nd")
	items := make([]float64, 20*20)
	for i := range items {
		items[i] = []float64{-math.MaxFloat64, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1), 0}[i%6]
	}
	a, err := ndarray.Create(t.Context(), name, []int64{20, 20}, items, nil)
	if err == nil {
		err = a.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{name, "-"}, {"-kind", "histogram", name, "-"}, {"-kind", "line", name, "-", "0"}, {"-range", "-1e308,1e308", name, "-"}} {
		var errOut strings.Builder
		code := run(t.Context(), append([]string{"plot"}, args...), strings.NewReader(""), &limitedOutput{1 << 20}, &errOut)
		if text := errOut.String(); code != 1 || strings.Count(text, "\n") != 1 || !strings.Contains(text, "finite") {
			t.Errorf("%s: exit status %d, %q", args, code, text)
		}
	}
	var errOut strings.Builder
	if code := run(t.Context(), []string{"plot", "-range", "0,1", name, "-"}, strings.NewReader(""), &limitedOutput{1 << 20}, &errOut); code != 0 {
		t.Errorf("-range 0,1: exit status %d, %q", code, errOut.String())
	}
}

// TestPlotLargest draws items that all are the largest or the least finite number.
func TestPlotLargest(t *testing.T) {
	for _, x := range []float64{math.MaxFloat64, -math.MaxFloat64} {
		line, plane := filepath.Join(t.TempDir(), "a.b2nd"), filepath.Join(t.TempDir(), "b.b2nd")
		for name, shape := range map[string][]int64{line: {8}, plane: {2, 4}} {
			a, err := ndarray.Create(t.Context(), name, shape, slices.Repeat([]float64{x}, 8), nil)
			if err == nil {
				err = a.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, args := range [][]string{{line}, {"-kind", "histogram", line}, {"-kind", "histogram", plane}, {plane}} {
			args = append(args, "-")
			text := must(t, "", append([]string{"plot", "-svg"}, args...)...)
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("%s of %v: the picture has places that are not finite", args, x)
			}
			if x > 0 {
				must(t, "", append([]string{"plot", "-log"}, args...)...)
			}
		}
	}
}

// TestPlotNothingLogarithmic draws values that have no logarithm. Only a range of the user is named in the error.
func TestPlotNothingLogarithmic(t *testing.T) {
	const none, given = "no finite value is above 0, so the range cannot be logarithmic", "a logarithmic range cannot begin at 0"
	for _, a := range []string{quadrants(t, "0", "-1", "nan", "0"), quadrants(t, "nan", "nan", "nan", "nan")} {
		for _, sel := range []string{":", "0"} {
			fails(t, 1, none, "", "plot", "-log", a, "-", sel)
			fails(t, 1, given, "", "plot", "-log", "-range", "0,1", a, "-", sel)
		}
	}
}
