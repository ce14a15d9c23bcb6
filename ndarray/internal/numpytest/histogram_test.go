package numpytest

import (
	"context"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/internal/golden"
	"github.com/goblosc/blosc2/ndarray"
)

// floats parses numbers with commas between them.
func floats(t *testing.T, s string) []float64 {
	t.Helper()
	var list []float64
	for f := range strings.SplitSeq(s, ",") {
		x, err := strconv.ParseFloat(hexFloat(f), 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, x)
	}
	return list
}

// hexFloat turns Python's hexadecimal notation of a float into Go's.
func hexFloat(s string) string {
	if strings.Contains(s, "0x") && !strings.Contains(s, "p") {
		return s + "p0"
	}
	return s
}

// TestCountsAsNumPy compares histograms and quantiles with those of NumPy in testdata/counts.py, bit by bit.
func TestCountsAsNumPy(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(7, 2))
	cases := map[string]int{}
	part := 1 // one line of each part runs
	if testing.Short() {
		part = 4
	}
	for i, line := range golden.Lines(t, "testdata/counts.txt.gz") {
		if i%part > 0 {
			continue
		}
		c := strings.Split(line, ";")
		shape := golden.Ints(t, c[2])
		data, err := hex.DecodeString(c[3])
		if err != nil {
			t.Fatal(err)
		}
		opts := &ndarray.CreateOptions{}
		opts.Chunks, opts.Blocks = randomPartition(rng, shape)
		a, err := ndarray.CreateBytes(ctx, "", shape, c[1], data, opts)
		if err != nil {
			t.Fatal(err)
		}
		args := floats(t, c[4])
		cases[c[0]]++
		if c[0] == "histogram" {
			got, err := ndarray.Histogram(ctx, a, args)
			if err != nil || !slices.Equal(got, golden.Ints(t, c[6])) {
				t.Errorf("%s: %v, %v", line, got, err)
			}
		} else {
			got, err := ndarray.Quantiles(ctx, a, args, &ndarray.ReduceOptions{SkipNaN: c[5] == "1"})
			same := func(x, y float64) bool { return x == y || x != x && y != y }
			if want := floats(t, c[6]); err != nil || !slices.EqualFunc(got, want, same) {
				t.Errorf("%s: %v, want %v, %v", line, got, want, err)
			}
		}
		a.Close()
	}
	if cases["histogram"] < 900/part || cases["quantile"] < 900/part {
		t.Error(cases)
	}
}

// TestCounts checks histograms and quantiles of views, special chunks, no items, and errors.
func TestCounts(t *testing.T) {
	ctx := context.Background()
	a, err := ndarray.Zeros(ctx, "", []int64{100, 30}, "<i2", &ndarray.CreateOptions{Chunks: []int64{10, 30}, Blocks: []int64{5, 30}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ndarray.Fill(ctx, a, 7, ndarray.Span(0, 25)); err != nil {
		t.Fatal(err)
	}
	counts := func(r ndarray.Reader, want ...int64) {
		t.Helper()
		if got, err := ndarray.Histogram(ctx, r, []float64{0, 1, 7, 8}); err != nil || !slices.Equal(got, want) {
			t.Error(got, want, err)
		}
	}
	quantiles := func(r ndarray.Reader, want ...float64) {
		t.Helper()
		if got, err := ndarray.Quantiles(ctx, r, []float64{0, 0.5, 1}, nil); err != nil || !slices.Equal(got, want) {
			t.Error(got, want, err)
		}
	}
	counts(a, 75*30, 0, 25*30)
	quantiles(a, 0, 0, 7)
	v, err := ndarray.Slice(a, ndarray.Step(ndarray.None, ndarray.None, 20), ndarray.Span(2, 4))
	if err != nil {
		t.Fatal(err)
	}
	counts(v, 6, 0, 4)
	quantiles(v, 0, 0, 7)
	none, err := ndarray.Slice(a, ndarray.Span(3, 3))
	if err != nil {
		t.Fatal(err)
	}
	counts(none, 0, 0, 0)
	if got, err := ndarray.Quantiles(ctx, none, []float64{0.5}, nil); err != nil || len(got) != 1 || !math.IsNaN(got[0]) {
		t.Error(got, err)
	}
	if got, err := ndarray.Quantiles(ctx, a, nil, nil); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
	text, err := ndarray.Zeros(ctx, "", []int64{3}, "<U2", nil)
	if err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	for name, c := range map[string]struct {
		do   func() error
		want error
	}{
		"text":     {func() error { _, err := ndarray.Histogram(ctx, text, []float64{0, 1}); return err }, ndarray.ErrType},
		"text q":   {func() error { _, err := ndarray.Quantiles(ctx, text, []float64{0}, nil); return err }, ndarray.ErrType},
		"one edge": {func() error { _, err := ndarray.Histogram(ctx, a, []float64{0}); return err }, ndarray.ErrParam},
		"order":    {func() error { _, err := ndarray.Histogram(ctx, a, []float64{0, 2, 1}); return err }, ndarray.ErrParam},
		"NaN":      {func() error { _, err := ndarray.Histogram(ctx, a, []float64{0, math.NaN()}); return err }, ndarray.ErrParam},
		"q":        {func() error { _, err := ndarray.Quantiles(ctx, a, []float64{1.1}, nil); return err }, ndarray.ErrParam},
		"axes": {func() error {
			_, err := ndarray.Quantiles(ctx, a, nil, &ndarray.ReduceOptions{Axes: []int{0}})
			return err
		}, ndarray.ErrParam},
		"canceled": {func() error { _, err := ndarray.Histogram(canceled, a, []float64{0, 1}); return err }, context.Canceled},
	} {
		if err := c.do(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// BenchmarkCounts compares histograms and quantiles with a mean of the same array.
func BenchmarkCounts(b *testing.B) {
	ctx := context.Background()
	data := make([]float32, 1<<22)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range data {
		data[i] = float32(math.Floor(rng.NormFloat64() * 1000))
	}
	a, err := ndarray.Create(ctx, "", []int64{1 << 22}, data, nil)
	if err != nil {
		b.Fatal(err)
	}
	edges := make([]float64, 101)
	for i := range edges {
		edges[i] = float64(i-50) * 60
	}
	for name, do := range map[string]func() error{
		"mean":      func() error { _, err := ndarray.ReduceAll[float32](ctx, a, ndarray.OpMean, nil); return err },
		"histogram": func() error { _, err := ndarray.Histogram(ctx, a, edges); return err },
		"median":    func() error { _, err := ndarray.Quantiles(ctx, a, []float64{0.5}, nil); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(4 << 22)
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
