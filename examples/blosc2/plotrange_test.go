package main

import (
	"math"
	"path/filepath"
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
