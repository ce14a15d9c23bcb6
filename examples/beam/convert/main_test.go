package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	os.Exit(m.Run())
}

// TestRun compares the arrays with the .npy files of the sample.
func TestRun(t *testing.T) {
	ctx := context.Background()
	*out = t.TempDir()
	if err := run(ctx); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		name := fmt.Sprintf("volume-%d", i+1)
		want, err := os.ReadFile(filepath.Join(*out, "sample", name+".npy"))
		if err != nil {
			t.Fatal(err)
		}
		a, err := ndarray.Open(ctx, filepath.Join(*out, name+".b2nd"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		var got bytes.Buffer
		if err := npy.Write(ctx, &got, a); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: error %v, or other items", name, err)
		}
	}
}
