package b2beam_test

import (
	"bytes"
	"context"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/goblosc/blosc2/examples/beam/b2beam"
	"github.com/goblosc/blosc2/ndarray"
)

func TestMain(m *testing.M) {
	flag.Parse()
	slog.SetLogLoggerLevel(slog.LevelError)
	beam.Init()
	os.Exit(m.Run())
}

// run runs the pipeline that build makes on Prism, and returns its error and counters.
func run(t *testing.T, build func(s beam.Scope)) (map[string]int64, error) {
	t.Helper()
	p, s := beam.NewPipelineWithRoot()
	build(s)
	result, err := beam.Run(context.Background(), "prism", p)
	counters := map[string]int64{}
	if err == nil {
		for _, c := range result.Metrics().Query(func(r beam.MetricResult) bool { return r.Namespace() == "blosc2" }).Counters() {
			counters[c.Name()] += c.Result()
		}
	}
	return counters, err
}

// mustRun is run for a pipeline that must not fail.
func mustRun(t *testing.T, build func(s beam.Scope)) map[string]int64 {
	t.Helper()
	counters, err := run(t, build)
	if err != nil {
		t.Fatal(err)
	}
	return counters
}

// create writes an array in which each item is a different small integer, and some are NaN.
func create(t *testing.T, name string, shape, chunks []int64) b2beam.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".b2nd")
	i := 0
	a, err := ndarray.FromFunc(context.Background(), path, shape, func(t ndarray.Tile[float32]) error {
		for k := range t.Items {
			t.Items[k] = float32((i + k) * 7919 % 1009)
		}
		i += len(t.Items)
		return nil
	}, &ndarray.CreateOptions{Chunks: chunks, Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return b2beam.File{Name: name, Path: path}
}

// open opens an array, which is closed after the test.
func open(t *testing.T, path string) *ndarray.Array {
	t.Helper()
	a, err := ndarray.Open(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// equal checks that two arrays have the same shape, dtype and bytes.
func equal(t *testing.T, got, want ndarray.Reader) {
	t.Helper()
	if !slices.Equal(got.Shape(), want.Shape()) || got.DType().String() != want.DType().String() {
		t.Fatalf("shape %v, dtype %v, want %v, %v", got.Shape(), got.DType(), want.Shape(), want.DType())
	}
	if g, w := items(t, got), items(t, want); !bytes.Equal(g, w) {
		t.Fatalf("other items in an array of shape %v", got.Shape())
	}
}

func items(t *testing.T, r ndarray.Reader) []byte {
	t.Helper()
	b := make([]byte, r.Size()*int64(r.DType().Size))
	if err := r.ReadBytes(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	return b
}

// files returns the content of all files below a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		all[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
