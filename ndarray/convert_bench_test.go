package ndarray

import (
	"context"
	"slices"
	"testing"
	"time"
)

// BenchmarkRatios compares a converting read with a plain read of the same array, and a sum that skips NaNs with a
// plain sum. It runs both in turn and reports the ratio of the medians.
func BenchmarkRatios(b *testing.B) {
	ctx := context.Background()
	data := make([]float32, 4<<20)
	for i := range data {
		data[i] = float32(i%1000) * 0.25
	}
	a, err := Create(ctx, "", []int64{2048, 2048}, data, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	swapped, err := asTypeCopy(ctx, a, ">f4")
	if err != nil {
		b.Fatal(err)
	}
	defer swapped.Close()
	wide := make([]float64, len(data))
	sum := func(skip bool) error {
		_, err := ReduceAll[float32](ctx, a, OpSum, &ReduceOptions{SkipNaN: skip})
		return err
	}
	for _, c := range []struct {
		name  string
		plain func() error
		other func() error
	}{
		{"f4-to-float64", func() error { return ReadInto(ctx, a, data) }, func() error { return ReadInto(ctx, a, wide) }},
		{"big-f4-to-float32", func() error { return ReadInto(ctx, a, data) }, func() error { return ReadInto(ctx, swapped, data) }},
		{"big-f4-to-float64", func() error { return ReadInto(ctx, a, data) }, func() error { return ReadInto(ctx, swapped, wide) }},
		{"sum-skip-nan", func() error { return sum(false) }, func() error { return sum(true) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var times [2][]time.Duration
			for b.Loop() {
				for k, f := range []func() error{c.plain, c.other} {
					start := time.Now()
					if err := f(); err != nil {
						b.Fatal(err)
					}
					times[k] = append(times[k], time.Since(start))
				}
			}
			for _, t := range times {
				slices.Sort(t)
			}
			n := len(times[0]) / 2
			b.ReportMetric(float64(times[1][n])/float64(times[0][n]), "ratio")
		})
	}
}
