package store

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// Options that cannot apply to a call are ErrParam.
func TestOptions(t *testing.T) {
	ctx := context.Background()
	filter := func(dst, src []byte, _ chunk.BlockInfo) error { return nil }
	framesWith := func(o frame.OpenOptions) *OpenOptions { return &OpenOptions{Frames: &o} }
	dir, file := filepath.Join(t.TempDir(), "s.b2d"), filepath.Join(t.TempDir(), "s.b2e")
	for _, name := range []string{dir, file} {
		s, err := Create(ctx, name, &CreateOptions{OpenOptions: *framesWith(frame.OpenOptions{NoSync: true})})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	never := map[string]*OpenOptions{
		"Mmap":        framesWith(frame.OpenOptions{Mmap: true}),
		"Locking":     framesWith(frame.OpenOptions{Locking: true}),
		"Prefilter":   framesWith(frame.OpenOptions{Prefilter: filter}),
		"Postfilter":  framesWith(frame.OpenOptions{Postfilter: filter}),
		"MaxChunks":   framesWith(frame.OpenOptions{MaxChunks: -1}),
		"-MaxLeaves":  {MaxLeaves: -1},
		"-Threshold":  {Threshold: -1},
		"Concurrency": framesWith(frame.OpenOptions{Concurrency: -1}),
	}
	reading := map[string]*OpenOptions{"Threshold": {Threshold: 1}, "NoSync": framesWith(frame.OpenOptions{NoSync: true})}
	refused := func(what string, close func() error, err error) {
		t.Helper()
		if !errors.Is(err, ErrParam) {
			t.Errorf("%s: error %v, want %v", what, err, ErrParam)
		}
		if err == nil {
			close()
		}
	}
	for what, o := range never {
		s, err := Edit(ctx, dir, o)
		refused("Edit "+what, s.Close, err)
		s, err = Open(ctx, file, o)
		refused("Open "+what, s.Close, err)
		if _, err := OpenTensor(ctx, file, o); !errors.Is(err, ErrParam) {
			t.Errorf("OpenTensor %s: %v", what, err)
		}
	}
	for what, o := range reading {
		s, err := Open(ctx, dir, o)
		refused("Open "+what, s.Close, err)
	}
	s, err := Edit(ctx, file, reading["Threshold"])
	refused("Edit with Threshold", s.Close, err)
	s, err = Create(ctx, file, &CreateOptions{Layout: LayoutDict, Overwrite: true})
	refused("Create with Layout", s.Close, err)
	s, err = Create(ctx, filepath.Join(t.TempDir(), "new.b2d"), &CreateOptions{Overwrite: true})
	refused("Create with Overwrite", s.Close, err)
	if s, err = Open(ctx, dir, nil); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for what, o := range map[string]*CreateOptions{"Layout": {Layout: LayoutDict}, "MaxLeaves": {OpenOptions: OpenOptions{MaxLeaves: 1}},
		"Concurrency": {OpenOptions: *framesWith(frame.OpenOptions{Concurrency: 1})}} {
		if err := s.Pack(ctx, filepath.Join(t.TempDir(), "s.b2z"), o); !errors.Is(err, ErrParam) {
			t.Errorf("Pack with %s: error %v, want %v", what, err, ErrParam)
		}
	}
}

// TestMaxLeaves opens a store with the largest limits.
func TestMaxLeaves(t *testing.T) {
	for _, most := range []int{math.MaxInt / 4, math.MaxInt/4 + 1, math.MaxInt} {
		s, err := Open(t.Context(), "../../testdata/stores/tree.b2z", &OpenOptions{MaxLeaves: most})
		if err != nil {
			t.Errorf("%d: %v", most, err)
			continue
		}
		s.Close()
	}
}

// TestNilContext calls functions with a nil context, which is context.Background().
func TestNilContext(t *testing.T) {
	var ctx context.Context
	dir := t.TempDir()
	a, err := ndarray.Create(ctx, "", []int64{3}, []int32{1, 2, 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, base := range []string{"s.b2e", "s.b2d"} {
		name := filepath.Join(dir, base)
		s, err := Create(ctx, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(s.Put(ctx, "/g/a", a.Frame()), s.Put(ctx, "/g/b", a.Frame()), s.Delete(ctx, "/g/b"))
		if base == "s.b2d" {
			err = errors.Join(err, s.SetAttr(ctx, "/g", "x", 1), s.Pack(ctx, filepath.Join(dir, "s.b2z"), nil))
		}
		if err = errors.Join(err, s.Close()); err != nil {
			t.Error(err)
		}
		if s, err = Edit(ctx, name, nil); err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	for _, base := range []string{"s.b2e", "s.b2d", "s.b2z"} {
		s, err := Open(ctx, filepath.Join(dir, base), nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range s.Walk(ctx, "/") {
			if n++; err != nil {
				t.Error(err)
			}
		}
		_, attrsErr := s.Attrs(ctx, "/g")
		_, statErr := s.Stat(ctx, "/g/a")
		got, arrayErr := s.Array(ctx, "/g/a")
		if err := errors.Join(attrsErr, statErr, arrayErr); err != nil || n != 2 {
			t.Fatal(base, n, err)
		}
		entry, describeErr := Describe(ctx, got.Frame())
		if err := errors.Join(describeErr, got.Close(), s.Close()); err != nil || entry.Kind != KindArray {
			t.Error(base, entry, err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "s.b2z"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenReaderAt(ctx, bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if s, err = Open(ctx, "../../testdata/stores/tree.b2z", nil); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for e, err := range s.Walk(ctx, "/") {
		if err != nil {
			t.Error(err)
		}
		if e.Kind == KindStore {
			sub, err := s.Sub(ctx, e.Key)
			if err != nil {
				t.Fatal(err)
			}
			sub.Close()
		}
	}
}
