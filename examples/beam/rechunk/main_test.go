package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/goblosc/blosc2/ndarray"
)

func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	os.Exit(m.Run())
}

// TestRun compares the copy of the sample with the sample.
func TestRun(t *testing.T) {
	ctx := context.Background()
	*out = t.TempDir()
	*memory = 500_000 // an eighth of the array
	if err := run(ctx); err != nil {
		t.Fatal(err)
	}
	var data [2][]byte
	for i, name := range []string{*in, filepath.Join(*out, "t2m.b2nd")} {
		a, err := ndarray.Open(ctx, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		data[i] = make([]byte, a.NBytes())
		if err := a.ReadBytes(ctx, data[i]); err != nil {
			t.Fatal(err)
		}
		if c := a.Chunks(); i == 1 && (c[0] != 60*24 || c[1] != 8 || c[2] != 8) {
			t.Errorf("chunks %v", c)
		}
	}
	if !bytes.Equal(data[0], data[1]) {
		t.Error("other items")
	}
}
