package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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

// TestZFP converts files with automatic chunks of codecs that have others than Zstd.
func TestZFP(t *testing.T) {
	ctx := t.Context()
	defer func() { *in, *codecName, *codecMeta = "", "zstd", 0 }()
	for name, test := range map[string]struct {
		dtype string
		shape []int64
		param uint
	}{
		"zfp_acc":  {"<f4", []int64{3000, 2000}, 0},
		"zfp_rate": {"<f8", []int64{1000, 1000}, 50},
	} {
		a, err := ndarray.Zeros(ctx, "", test.shape, test.dtype, nil)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		*out = t.TempDir()
		*in, *codecName, *codecMeta = filepath.Join(*out, "z.npy"), name, test.param
		if err := errors.Join(npy.Write(ctx, &file, a), os.WriteFile(*in, file.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
		if err := run(ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	*codecMeta = 256
	if err := run(ctx); err == nil {
		t.Error("a parameter above 255")
	}
}

// TestAboveLink reads and writes in a folder whose name has ".." after a symbolic link, which leads above its target.
func TestAboveLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows removes .. by name")
	}
	t.Chdir(t.TempDir())
	if err := errors.Join(os.MkdirAll("there/below", 0o777), os.Mkdir("here", 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../there/below", "here/link"); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	*in, *out = "", "here/link/../out"
	if err := run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if *in != *out+"/sample/*.npy" {
		t.Errorf("-in is %s", *in)
	}
	a, err := ndarray.Open(t.Context(), "there/out/volume-1.b2nd", nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	if list, err := os.ReadDir("here"); err != nil || len(list) != 1 {
		t.Errorf("%v beside the link, %v", list, err)
	}
}
