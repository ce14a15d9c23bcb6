package b2beam_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/goblosc/blosc2/examples/beam/b2beam"
	"github.com/goblosc/blosc2/ndarray"
)

// TestReduce compares results with those of ndarray.Reduce.
func TestReduce(t *testing.T) {
	ctx := context.Background()
	f := create(t, "x", []int64{70, 10, 6}, []int64{3, 5, 6})
	e, err := ndarray.Edit(ctx, f.Path, nil)
	if err != nil {
		t.Fatal(err)
	}
	nan := float32(math.NaN())
	err = errors.Join(
		ndarray.Fill(ctx, e, nan, ndarray.Span(3, 30), ndarray.At(2), ndarray.At(1)),
		ndarray.Fill(ctx, e, nan, ndarray.All, ndarray.At(7), ndarray.At(3)), e.Close())
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		op ndarray.Op
		o  ndarray.ReduceOptions
	}{
		"sum":     {ndarray.OpSum, ndarray.ReduceOptions{Axes: []int{0}, SkipNaN: true}},
		"mean":    {ndarray.OpMean, ndarray.ReduceOptions{Axes: []int{0}, KeepDims: true}},
		"nanmean": {ndarray.OpMean, ndarray.ReduceOptions{Axes: []int{0, -1}, SkipNaN: true}},
		"min":     {ndarray.OpMin, ndarray.ReduceOptions{Axes: []int{1}, SkipNaN: true}},
		"max":     {ndarray.OpMax, ndarray.ReduceOptions{}},
		"nanstd":  {ndarray.OpStd, ndarray.ReduceOptions{Axes: []int{0}, SkipNaN: true, DDof: 1}},
		"std":     {ndarray.OpStd, ndarray.ReduceOptions{Axes: []int{2}}},
		"count":   {ndarray.OpCountNaN, ndarray.ReduceOptions{}},
	}
	out := t.TempDir()
	mustRun(t, func(s beam.Scope) {
		tiles := b2beam.Read(s, []b2beam.File{f}, nil)
		for name, c := range cases {
			reduced := b2beam.Reduce(s, c.op, tiles, &c.o)
			b2beam.Write(s, filepath.Join(out, name), b2beam.Rechunk(s, reduced, b2beam.RechunkOptions{Chunks: whole(c.o)}), &ndarray.CreateOptions{NoSync: true})
		}
	})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want, err := ndarray.Reduce(ctx, open(t, f.Path), c.op, &c.o)
			if err != nil {
				t.Fatal(err)
			}
			got := open(t, filepath.Join(out, name, "x.b2nd"))
			if c.op != ndarray.OpStd { // other results are exact
				equal(t, got, want)
				return
			}
			x, errX := ndarray.Read[float64](ctx, got)
			y, errY := ndarray.Read[float64](ctx, want)
			if errX != nil || errY != nil || len(x) != len(y) {
				t.Fatal(errX, errY, len(x), len(y))
			}
			for i := range x {
				if d := x[i] - y[i]; !(d < 1e-4 && d > -1e-4) && (x[i] == x[i] || y[i] == y[i]) {
					t.Errorf("item %d is %v, want %v", i, x[i], y[i])
				}
			}
		})
	}
}

// TestReduceDDof compares variances with a divisor of 0, of integers and floats, with those of ndarray.Reduce.
func TestReduceDDof(t *testing.T) {
	ctx := context.Background()
	var files []b2beam.File
	for _, dtype := range []string{"<i4", "<u1", "<f4"} {
		f := b2beam.File{Name: dtype[1:], Path: filepath.Join(t.TempDir(), "a.b2nd")}
		a, err := ndarray.Zeros(ctx, f.Path, []int64{4, 3}, dtype, &ndarray.CreateOptions{Chunks: []int64{2, 3}})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(ndarray.Fill(ctx, a, 5, ndarray.At(1), ndarray.Span(0, 2)), a.Close()); err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	out := t.TempDir()
	each := func(do func(op ndarray.Op, o *ndarray.ReduceOptions, dir string)) {
		for _, op := range []ndarray.Op{ndarray.OpVar, ndarray.OpStd} {
			for _, skip := range []bool{false, true} {
				do(op, &ndarray.ReduceOptions{Axes: []int{0}, DDof: 4, SkipNaN: skip}, filepath.Join(out, fmt.Sprint(op, skip)))
			}
		}
	}
	mustRun(t, func(s beam.Scope) {
		tiles := b2beam.Read(s, files, nil)
		each(func(op ndarray.Op, o *ndarray.ReduceOptions, dir string) {
			b2beam.Write(s, dir, b2beam.Reduce(s, op, tiles, o), &ndarray.CreateOptions{NoSync: true})
		})
	})
	for _, f := range files {
		each(func(op ndarray.Op, o *ndarray.ReduceOptions, dir string) {
			t.Run(fmt.Sprint(f.Name, op, o.SkipNaN), func(t *testing.T) {
				want, err := ndarray.Reduce(ctx, open(t, f.Path), op, o)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, open(t, filepath.Join(dir, f.Name+".b2nd")), want)
			})
		})
	}
}

// TestReduceOrder compares results for items in big-endian order, and with a divisor of less than 1, with those of
// ndarray.Reduce.
func TestReduceOrder(t *testing.T) {
	ctx := context.Background()
	nan := math.NaN()
	array := []float64{1, nan, 3, 4, 4, nan, 7, 2, 0, nan, nan, 3} // variances are exact
	var files []b2beam.File
	for _, dtype := range []string{">f8", ">f4", "<f4", ">f2"} {
		a, err := ndarray.Create(ctx, "", []int64{4, 3}, array, nil)
		if err != nil {
			t.Fatal(err)
		}
		v, err := ndarray.AsType(a, dtype)
		if err != nil {
			t.Fatal(err)
		}
		f := b2beam.File{Name: dtype[1:] + map[byte]string{'<': "little", '>': "big"}[dtype[0]]}
		f.Path = filepath.Join(t.TempDir(), "a.b2nd")
		c, err := ndarray.Copy(ctx, f.Path, v, &ndarray.CreateOptions{Chunks: []int64{2, 3}})
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		files = append(files, f)
	}
	out := t.TempDir()
	ops := []ndarray.Op{ndarray.OpSum, ndarray.OpProd, ndarray.OpMin, ndarray.OpMax, ndarray.OpMean, ndarray.OpVar}
	options := []ndarray.ReduceOptions{{Axes: []int{0}}, {Axes: []int{0}, SkipNaN: true}}
	with := func(op ndarray.Op, o ndarray.ReduceOptions) (*ndarray.ReduceOptions, string) {
		if op == ndarray.OpVar {
			o.DDof = 2
		}
		return &o, filepath.Join(out, fmt.Sprint(op, o.SkipNaN))
	}
	mustRun(t, func(s beam.Scope) {
		tiles := b2beam.Read(s, files, nil)
		for _, op := range ops {
			for _, o := range options {
				o, dir := with(op, o)
				b2beam.Write(s, dir, b2beam.Reduce(s, op, tiles, o), &ndarray.CreateOptions{NoSync: true})
			}
		}
	})
	for _, f := range files {
		for _, op := range ops {
			for _, o := range options {
				t.Run(fmt.Sprint(f.Name, op, o.SkipNaN), func(t *testing.T) {
					o, dir := with(op, o)
					want, err := ndarray.Reduce(ctx, open(t, f.Path), op, o)
					if err != nil {
						t.Fatal(err)
					}
					equal(t, open(t, filepath.Join(dir, f.Name+".b2nd")), want)
				})
			}
		}
	}
}

// whole returns chunks of whole axes for the result of a reduction of three axes.
func whole(o ndarray.ReduceOptions) []int64 {
	n := 3 - len(o.Axes)
	if o.Axes == nil {
		n = 0
	}
	if o.KeepDims {
		n = 3
	}
	return []int64{-1, -1, -1}[:n]
}
