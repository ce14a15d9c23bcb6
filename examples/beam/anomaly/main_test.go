package main

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/goblosc/blosc2/examples/beam/internal/cli"
	"github.com/goblosc/blosc2/ndarray"
)

func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	os.Exit(m.Run())
}

// TestRun compares the results for the sample with those of package ndarray: the mean byte for byte, as its sums are
// exact.
func TestRun(t *testing.T) {
	ctx := context.Background()
	*out = t.TempDir()
	*chunks = "-1,5,5"
	if err := run(ctx); err != nil {
		t.Fatal(err)
	}
	files, err := cli.Files(*in)
	if err != nil {
		t.Fatal(err)
	}
	var days []ndarray.Reader
	for _, f := range files {
		days = append(days, open(t, f.Path))
	}
	all, err := ndarray.Concat(ctx, "", 0, days, nil)
	if err != nil {
		t.Fatal(err)
	}
	mean, err := ndarray.Reduce(ctx, all, ndarray.OpMean, &ndarray.ReduceOptions{Axes: []int{0}, KeepDims: true, SkipNaN: true})
	if err != nil {
		t.Fatal(err)
	}
	x, m := read(t, all), read(t, mean)
	if got := read(t, open(t, filepath.Join(*out, "mean", "data.b2nd"))); !slices.Equal(got, m) {
		t.Error("another mean")
	}
	for i := range x {
		x[i] -= m[i%len(m)]
	}
	a := open(t, filepath.Join(*out, "anomaly", "data.b2nd"))
	if got := read(t, a); !slices.Equal(got, x) {
		t.Error("another anomaly")
	}
	if c := a.Chunks(); c[0] != a.Shape()[0] || c[1] != 5 || c[2] != 5 {
		t.Errorf("chunks %v", c)
	}
}

// TestFiles joins files of integers that have other chunks.
func TestFiles(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	items := []int64{1 << 40, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	for name, chunks := range map[string][]int64{"1.b2nd": {2, 2}, "2.b2nd": {4, 1}} {
		a, err := ndarray.Create(ctx, filepath.Join(dir, name), []int64{4, 3}, items, &ndarray.CreateOptions{Chunks: chunks})
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
	}
	*out, *in, *chunks = t.TempDir(), filepath.Join(dir, "*.b2nd"), "-1,2"
	if err := run(ctx); err != nil {
		t.Fatal(err)
	}
	mean, err := ndarray.Read[float64](ctx, open(t, filepath.Join(*out, "mean", "data.b2nd")))
	if err != nil {
		t.Fatal(err)
	}
	got, err := ndarray.Read[float64](ctx, open(t, filepath.Join(*out, "anomaly", "data.b2nd")))
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range got {
		if want := float64(items[i%len(items)]) - mean[i%3]; x != want {
			t.Errorf("item %d is %v, want %v", i, x, want)
		}
	}
	if want := (float64(items[0]) + 4 + 7 + 10) / 4; mean[0] != want {
		t.Errorf("the mean is %v, want %v", mean[0], want)
	}
}

// TestURL reads one file, and the directory of a sparse array, from a server.
func TestURL(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	if err := cli.SampleDays(ctx, dir, 1); err != nil {
		t.Fatal(err)
	}
	file, err := cli.Files(filepath.Join(dir, "*.b2nd"))
	if err != nil {
		t.Fatal(err)
	}
	day := open(t, file[0].Path)
	sparse, err := ndarray.Copy(ctx, filepath.Join(dir, "sparse.b2nd"), day, &ndarray.CreateOptions{Sparse: true})
	if err != nil {
		t.Fatal(err)
	}
	sparse.Close()
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for _, name := range []string{filepath.Base(file[0].Path), "sparse.b2nd/"} {
		*out, *in, *chunks = t.TempDir(), server.URL+"/"+name, ""
		if err := run(ctx); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		x := read(t, day)
		mean := read(t, open(t, filepath.Join(*out, "mean", "data.b2nd")))
		for i := range x {
			x[i] -= mean[i%len(mean)]
		}
		if got := read(t, open(t, filepath.Join(*out, "anomaly", "data.b2nd"))); !slices.Equal(got, x) {
			t.Errorf("%s: another anomaly", name)
		}
	}
}

func open(t *testing.T, name string) *ndarray.Array {
	t.Helper()
	a, err := ndarray.Open(context.Background(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func read(t *testing.T, r ndarray.Reader) []float32 {
	t.Helper()
	x, err := ndarray.Read[float32](context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
