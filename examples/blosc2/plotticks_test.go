package main

import (
	"encoding/binary"
	"image/color"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

// TestPlotTicks checks that labels differ, are in the range, and read back close to their values.
func TestPlotTicks(t *testing.T) {
	const big = 1.7e18
	for _, r := range [][2]float64{
		{big, big + 4e10}, {big, big + 4e13}, {big, big + 512}, {-big - 4e10, -big}, {0.011, 0.0135}, {12.34, 12.41}, {1.1e8, 1.9e8}, {0, 1}, {-5, 0},
		{1, math.Nextafter(1, 2)}, {big, math.Nextafter(big, 2*big)}, {0, 5e-324}, {0, 1e-323}, {-5e-324, 0}, {-5e-324, 5e-324},
		{123456, 123457}, {1e-300, 2e-300}, {0, 1e300}, {1, 1e6}, {1e-5, 1e5}, {99999.9, 100000.1}, {3, 20},
	} {
		for name, ticks := range map[string]func(low, high float64) []plot.Tick{"linear": axisTicks, "axis": logAxisTicks, "color bar": exponentTicks} {
			value := func(x float64) float64 { return x }
			if name != "linear" && r[0] <= 0 {
				continue
			}
			if name == "color bar" {
				value = func(x float64) float64 { return math.Pow(10, x) }
			}
			last, n := math.Inf(-1), 0
			for _, tick := range ticks(r[0], r[1]) {
				x := value(tick.Value)
				if tick.Label == "" || x < r[0]-math.Abs(r[0])/1e13 || x > r[1]+math.Abs(r[1])/1e13 {
					continue
				}
				got, err := strconv.ParseFloat(tick.Label, 64)
				if step := (r[1] - r[0]) / 100; err != nil || math.Abs(got-x) > max(step/2, math.Abs(x)/1e13) && (name == "linear" || math.Abs(got-x) > x/100) || got <= last {
					t.Errorf("%s from %v to %v: %q for %v after %v", name, r[0], r[1], tick.Label, x, last)
				}
				last, n = got, n+1
			}
			if n < 2 {
				t.Errorf("%s from %v to %v: %d labels", name, r[0], r[1], n)
			}
		}
	}
}

// TestPlotPowers checks the labels of logarithmic axes.
func TestPlotPowers(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{1e-6, 1e-2, "1e-06 1e-05 0.0001 0.001 0.01"},
		{2e-7, 0.5, "1e-06 1e-05 0.0001 0.001 0.01 0.1"},
		{0.5, 2e6, "1 10 100 1000 10000 100000 1e+06"},
		{1e-8, 1e8, "1e-08 1e-06 0.0001 0.01 1 100 10000 1e+06 1e+08"},
		{5e-324, math.MaxFloat64, "1e-300 1e-250 1e-200 1e-150 1e-100 1e-50 1 1e+50 1e+100 1e+150 1e+200 1e+250 1e+300"},
		{1e306, math.MaxFloat64, "1e+306 1e+307 1e+308"},
	} {
		var labels []string
		for _, tick := range logAxisTicks(c.low, c.high) {
			if !(tick.Value >= c.low && tick.Value <= c.high) {
				t.Errorf("from %v to %v: a tick at %v", c.low, c.high, tick.Value)
			}
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("from %v to %v: %s, want %s", c.low, c.high, got, c.want)
		}
	}
	out := must(t, "", "plot", "-log", "-svg", itemsArray(t, "<f8", []float64{1e-7, 1e-6, 1e-5, 1}), "-")
	if !strings.Contains(out, ">1e-05<") || strings.Contains(out, "99999") {
		t.Errorf("labels: %q", regexp.MustCompile(`>[^<>]+</text>`).FindAllString(out, -1))
	}
}

// TestPlotLargeValues draws large values that are close together. Labels differ, and the color bar is in the picture.
func TestPlotLargeValues(t *testing.T) {
	var items []byte
	for i := range uint64(400) {
		items = binary.LittleEndian.AppendUint64(items, 1.7e18+i*1e8)
	}
	a := filepath.Join(t.TempDir(), "a.b2nd")
	must(t, string(items), "create", "-dtype", "<i8", "-shape", "20,20", a)
	text := regexp.MustCompile(`>(1\.[0-9]*e\+18)</text>`)
	for _, args := range [][]string{{a, "-"}, {"-log", a, "-"}, {"-kind", "histogram", a, "-"}, {a, "-", "0"}, {"-log", a, "-", "0"}} {
		var labels []string
		for _, m := range text.FindAllStringSubmatch(must(t, "", append([]string{"plot", "-svg"}, args...)...), -1) {
			labels = append(labels, m[1])
		}
		slices.Sort(labels)
		if n := len(labels); n < 2 || len(slices.Compact(labels)) != n {
			t.Errorf("%s: labels %s", strings.Join(args, " "), labels)
		}
	}
	img := picture(t, a, "-")
	if c := color.NRGBAModel.Convert(img.At(780, 530)).(color.NRGBA); c.R > 80 || c.G > 30 || c.B < 80 {
		t.Errorf("the color bar begins with %v", c)
	}
	if got := color.NRGBAModel.Convert(img.At(300, 545)).(color.NRGBA); got == (color.NRGBA{255, 255, 255, 255}) {
		t.Errorf("the plane is not in the picture")
	}
}
