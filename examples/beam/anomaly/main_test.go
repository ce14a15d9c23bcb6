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
