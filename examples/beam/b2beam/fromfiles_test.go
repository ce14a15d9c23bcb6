package b2beam_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/goblosc/blosc2/examples/beam/b2beam"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

// TestFromFiles converts .npy files in both orders, and a file of raw items.
func TestFromFiles(t *testing.T) {
	in, out := t.TempDir(), t.TempDir()
	a := open(t, create(t, "x", []int64{13, 9, 5}, []int64{13, 9, 5}).Path)
	raw := items(t, a)
	write := func(name string, head []byte, r ndarray.Reader) {
		if err := os.WriteFile(filepath.Join(in, name), append(head, items(t, r)...), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	reversed, err := ndarray.Transpose(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, fortran := range []bool{false, true} {
		head, err := npy.Header{DType: a.DType(), Shape: a.Shape(), Fortran: fortran}.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		if fortran {
			write("fortran.npy", head, reversed)
		} else {
			write("c.npy", head, a)
		}
	}
	write("raw.bin", []byte("header"), a)
	npys, err := b2beam.Glob(in, "*.npy")
	if err != nil {
		t.Fatal(err)
	}
	bins, err := b2beam.Glob(in, "*.bin")
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, func(s beam.Scope) {
		chunks := []int64{4, 5, 5}
		tiles := b2beam.FromFiles(s, npys, &b2beam.FilesOptions{Chunks: chunks, ReadOptions: b2beam.ReadOptions{MaxTile: 1000}})
		b2beam.Write(s, out, tiles, &ndarray.CreateOptions{Chunks: chunks})
		b2beam.Write(s, out, b2beam.FromFiles(s, bins, &b2beam.FilesOptions{Raw: &b2beam.Raw{Offset: 6, Shape: a.Shape(), DType: "<f4"}}), nil)
	})
	for _, name := range []string{"c", "fortran", "raw"} {
		equal(t, open(t, filepath.Join(out, name+".b2nd")), a)
	}
	if len(raw) != 13*9*5*4 {
		t.Errorf("%d bytes", len(raw))
	}
	if _, err := b2beam.Glob(in, "*.none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v for a pattern without a match", err)
	}
}

// TestFromFilesVersion reads a .npy file over HTTP that is replaced while a pipeline reads it.
func TestFromFilesVersion(t *testing.T) {
	a := open(t, create(t, "x", []int64{20, 50}, []int64{5, 50}).Path)
	b, err := npy.Header{DType: a.DType(), Shape: a.Shape()}.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, items(t, a)...)
	var requests, change atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version := 1
		if n := change.Load(); n > 0 && requests.Add(1) > n {
			version = 2
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, version))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}))
	defer server.Close()
	read := func(version string) error {
		_, err := run(t, func(s beam.Scope) {
			f := b2beam.File{Name: "x", Path: server.URL + "/x.npy", Version: version}
			b2beam.FromFiles(s, []b2beam.File{f}, nil)
		})
		return err
	}
	if err := errors.Join(read(""), read(`"1"`)); err != nil {
		t.Error(err)
	}
	changed := func(err error) bool {
		return err != nil && strings.Contains(err.Error(), `array "x"`) && strings.Contains(err.Error(), ndarray.ErrChanged.Error())
	}
	if err := read(`"0"`); !changed(err) {
		t.Errorf("error %v for another version, want ErrChanged", err)
	}
	change.Store(1)
	if err := read(""); !changed(err) {
		t.Errorf("error %v for a file that is replaced after its version is known, want ErrChanged", err)
	}
}

// TestHostileFiles reads .npy files whose headers claim items without bytes, or more items than fit an int64.
func TestHostileFiles(t *testing.T) {
	for text, c := range map[string]struct {
		shape, chunks []int64
		want          error
	}{
		"|S0": {[]int64{3}, []int64{-1}, ndarray.ErrType},
		"<f8": {[]int64{1<<62 - 1}, []int64{-1}, ndarray.ErrShape},
		"<f4": {[]int64{1 << 32, 1 << 32}, []int64{100, 100}, ndarray.ErrShape},
		"<i2": {[]int64{1 << 32, 1 << 32}, nil, ndarray.ErrShape},
		"<u2": {[]int64{33}, nil, ndarray.ErrShape},
	} {
		d, err := meta.ParseDType(text)
		if err != nil {
			t.Fatal(err)
		}
		b, err := npy.Header{DType: d, Shape: c.shape}.Append(nil)
		name := filepath.Join(t.TempDir(), "a.npy")
		if err == nil {
			err = os.WriteFile(name, append(b, make([]byte, 64)...), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = run(t, func(s beam.Scope) {
			b2beam.FromFiles(s, []b2beam.File{{Name: "a", Path: name}}, &b2beam.FilesOptions{Chunks: c.chunks})
		})
		if err == nil || !strings.Contains(err.Error(), `array "a"`) || !strings.Contains(err.Error(), c.want.Error()) {
			t.Errorf("dtype %s, shape %v: %v, want %v", text, c.shape, err, c.want)
		}
	}
}

// TestRawSize reads files of raw items whose size, shape or offset is wrong. None must be a pipeline that does nothing.
func TestRawSize(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.raw")
	if err := os.WriteFile(name, make([]byte, 100), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		raw  b2beam.Raw
		want error
	}{
		{b2beam.Raw{Offset: 4, Shape: []int64{4, 6}, DType: "<f4"}, nil},
		{b2beam.Raw{Shape: []int64{4, 6}, DType: "<f4"}, ndarray.ErrShape},
		{b2beam.Raw{Offset: 5, Shape: []int64{4, 6}, DType: "<f4"}, ndarray.ErrShape},
		{b2beam.Raw{Shape: []int64{-5, -5}, DType: "<f4"}, ndarray.ErrParam},
		{b2beam.Raw{Offset: -4, Shape: []int64{26}, DType: "<f4"}, ndarray.ErrParam},
	} {
		_, err := run(t, func(s beam.Scope) {
			b2beam.FromFiles(s, []b2beam.File{{Name: "a", Path: name}}, &b2beam.FilesOptions{Chunks: slices.Repeat([]int64{2}, len(c.raw.Shape)), Raw: &c.raw})
		})
		if (err == nil) != (c.want == nil) || err != nil && !strings.Contains(err.Error(), c.want.Error()) {
			t.Errorf("%+v: error %v, want %v", c.raw, err, c.want)
		}
	}
}
