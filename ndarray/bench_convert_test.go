package ndarray

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
)

// conversionPair reads an array in three ways: as stored, converted, and as an array that is stored as the values of
// the converted read.
type conversionPair struct {
	name string
	make func(b *testing.B, o *CreateOptions) (arrays []*Array, reads func(sel []Index, n int) [3]func() error)
}

// pairOf returns the pair of two dtypes, of which the second is stored as values of D. lossy means that the read needs
// AsType.
func pairOf[D any](from, to string, lossy bool) conversionPair {
	makeArrays := func(b *testing.B, o *CreateOptions) ([]*Array, func(sel []Index, n int) [3]func() error) {
		ctx := context.Background()
		f4, err := Create(ctx, "", benchShape, benchCounts(), nil)
		if err != nil {
			b.Fatal(err)
		}
		defer f4.Close()
		var arrays []*Array
		for _, dtype := range []string{from, to} {
			v, err := AsType(f4, dtype)
			if err != nil {
				b.Fatal(err)
			}
			a, err := Copy(ctx, "", v, o)
			if err != nil {
				b.Fatal(err)
			}
			arrays = append(arrays, a)
		}
		var r Reader = arrays[0]
		if lossy {
			if r, err = AsType(arrays[0], to); err != nil {
				b.Fatal(err)
			}
		}
		raw, dst := make([]byte, f4.Size()*int64(arrays[0].DType().Size)), make([]D, f4.Size())
		return arrays, func(sel []Index, n int) [3]func() error {
			size := n * arrays[0].DType().Size
			return [3]func() error{
				func() error { return arrays[0].ReadBytes(ctx, raw[:size], sel...) },
				func() error { return ReadInto(ctx, r, dst[:n], sel...) },
				func() error { return ReadInto(ctx, arrays[1], dst[:n], sel...) },
			}
		}
	}
	return conversionPair{from + "-" + fmt.Sprintf("%T", *new(D)), makeArrays}
}

// benchCounts returns items from 0 to 250 that all dtypes hold: a smooth field with some noise.
func benchCounts() []float32 {
	data := benchData()
	for i, x := range data {
		data[i] = float32(int(x*100 + 120))
	}
	return data
}

// BenchmarkConvert compares converting reads with plain reads of the same array ("plain"), and of an array that is
// stored as the values of the converting read ("wide"). It runs them in turn and reports the ratios of the medians.
func BenchmarkConvert(b *testing.B) {
	pairs := []conversionPair{
		pairOf[float64]("<f4", "<f8", false),
		pairOf[float32](">f4", "<f4", false),
		pairOf[float32]("<i2", "<f4", false),
		pairOf[float64]("<i4", "<f8", false),
		pairOf[float32]("|u1", "<f4", false),
		pairOf[float32]("<f2", "<f4", false),
		pairOf[float32]("<f8", "<f4", true),
		pairOf[bool]("|b1", "|b1", false),
	}
	for _, c := range []struct {
		name  string
		id    codec.ID
		level int
	}{{"lz4", codec.LZ4, 5}, {"blosclz", codec.BloscLZ, 5}, {"zstd", codec.Zstd, 1}, {"stored", codec.LZ4, codec.NoCompression}} {
		for _, p := range pairs {
			for _, goroutines := range []int{1, 2} {
				o := &CreateOptions{Chunks: []int64{96, 128, 128}, Blocks: []int64{32, 32, 32}, Concurrency: goroutines}
				o.setParams(chunk.Params{Codec: c.id, Level: c.level})
				var reads func(sel []Index, n int) [3]func() error
				var arrays []*Array
				for _, s := range []struct {
					name string
					sel  []Index
					n    int
				}{
					{"whole", nil, 160 * 256 * 256},
					{"cube", []Index{Span(16, 144), Span(64, 192), Span(64, 192)}, 128 * 128 * 128},
					{"plane", []Index{At(80)}, 256 * 256},
				} {
					b.Run(fmt.Sprintf("%s/%s/%d/%s", c.name, p.name, goroutines, s.name), func(b *testing.B) {
						if reads == nil {
							arrays, reads = p.make(b, o)
						}
						b.ReportAllocs()
						compareReads(b, reads(s.sel, s.n))
					})
				}
				for _, a := range arrays {
					a.Close()
				}
			}
		}
	}
}

// compareReads runs reads in turn, and reports the ratios of the median of the second to the medians of the others.
func compareReads(b *testing.B, reads [3]func() error) {
	var times [3][]time.Duration
	for b.Loop() {
		for k, f := range reads {
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
	middle := func(k int) float64 { return float64(times[k][len(times[k])/2]) }
	b.ReportMetric(middle(1)/1e3, "µs")
	b.ReportMetric(middle(1)/middle(0), "x-plain")
	b.ReportMetric(middle(1)/middle(2), "x-wide")
	b.ReportMetric(middle(1)/max(middle(0), middle(2)), "x")
	b.ReportMetric(0, "ns/op")
}
