package store

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
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
