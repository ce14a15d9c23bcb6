//go:build unix

package table

import (
	"context"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/goblosc/blosc2/internal/tabletest"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// BenchmarkColumn reads and filters a float64 column of 10 million rows, with and without an index, and the array that
// holds it. Values grow along the column, as times do, so that the index is of use. 2% of the rows match.
func BenchmarkColumn(b *testing.B) {
	const n, segment = 10_000_000, 65_536
	const low = 0.98 * n
	data := make([]float64, n)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range data {
		data[i] = float64(i) + float64(rng.IntN(1000))
	}
	ctx := context.Background()
	indexed, plain := benchColumn(b, data, segment), benchColumn(b, data, 0)
	b.Run("array", func(b *testing.B) {
		run(b, func() (int, error) { v, err := ndarray.Read[float64](ctx, plain.Array()); return len(v), err }, n)
	})
	b.Run("column", func(b *testing.B) {
		run(b, func() (int, error) { v, err := Read[float64](ctx, plain, 0, n); return len(v), err }, n)
	})
	b.Run("column as iterator", func(b *testing.B) {
		run(b, func() (int, error) { return drain(All[float64](ctx, plain)) }, n)
	})
	matching := 0
	for _, v := range data {
		if v >= low {
			matching++
		}
	}
	b.Run("filter of array", func(b *testing.B) {
		run(b, func() (int, error) {
			v, err := ndarray.Read[float64](ctx, plain.Array())
			var found []int64
			for i, x := range v {
				if x >= low {
					found = append(found, int64(i))
				}
			}
			return len(found), err
		}, matching)
	})
	b.Run("filter without index", func(b *testing.B) {
		run(b, func() (int, error) { v, err := Find(ctx, plain, GreaterOrEqual, low); return len(v), err }, matching)
	})
	b.Run("filter with index", func(b *testing.B) {
		run(b, func() (int, error) { v, err := Find(ctx, indexed, GreaterOrEqual, low); return len(v), err }, matching)
	})
	b.Run("no rows without index", func(b *testing.B) {
		run(b, func() (int, error) { v, err := Find(ctx, plain, Greater, 2.0*n); return len(v), err }, 0)
	})
	b.Run("no rows with index", func(b *testing.B) {
		run(b, func() (int, error) { v, err := Find(ctx, indexed, Greater, 2.0*n); return len(v), err }, 0)
	})
}

// benchColumn returns a column of a table in a file, with an index of segments if their length is not 0.
func benchColumn(b *testing.B, data []float64, segment int) *Column {
	n := len(data)
	const columns = `{"version": 1, "columns": [{"name": "x", "kind": "float64"}]}`
	d := build(b, "", tabletest.AllLive(n))
	d.Schema(columns)
	array(d, "_cols/x", []int64{int64(n)}, data)
	if segment > 0 {
		type item struct {
			Min   float64 `b2:"min"`
			Max   float64 `b2:"max"`
			Flags uint8   `b2:"flags"`
		}
		var items []item
		for i := 0; i < n; i += segment {
			part := data[i:min(i+segment, n)]
			x := item{part[0], part[0], 0}
			for _, v := range part {
				x.Min, x.Max = min(x.Min, v), max(x.Max, v)
			}
			items = append(items, x)
		}
		catalog := map[string]any{"x": map[string]any{"stale": false, "built_value_epoch": 1, "dtype": "<f8", "shape": []int{n},
			"target": map[string]any{"source": "field", "field": nil},
			"levels": map[string]any{"block": map[string]any{"segment_len": segment, "nsegments": len(items),
				"path": "_indexes/x/summary.block.b2nd"}}}}
		d.Frame("_meta.b2f", nil, []meta.Layer{d.Layer("kind", "ctable"), d.Layer("value_epoch", 1), d.Layer("index_catalog", catalog),
			d.Layer("schema", columns)}, nil)
		array(d, "_indexes/x/summary.block", []int64{int64(len(items))}, items)
	}
	c, err := d.column("x")
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// run measures the time and the CPU time of read, and its memory. read returns the number of values.
func run(b *testing.B, read func() (int, error), want int) {
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		if n, err := read(); n != want || err != nil {
			b.Fatalf("%d values, %v, want %d", n, err, want)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// cpuTime returns the CPU time of the process.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
