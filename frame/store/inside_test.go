package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"
)

// TestPackInside packs a store to names in its own directory, which would become leaves, or replace them.
func TestPackInside(t *testing.T) {
	ctx := context.Background()
	parent := t.TempDir()
	dir := filepath.Join(parent, "s.b2d")
	s, err := Create(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, err := frame.OpenBytes(buildFrame(t, nil, nil, []byte("items")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(ctx, "g/leaf", f); err != nil {
		t.Fatal(err)
	}
	linked := os.Symlink(filepath.Join(dir, "g"), filepath.Join(parent, "link")) == nil
	over := &CreateOptions{Overwrite: true}
	before := leafFiles(t, dir)
	for _, name := range []string{"x.b2z", "g/x.b2z", "g/leaf.b2f", "embed.b2e", "g/../x.b2z", "../link/x.b2z"} {
		if !linked && strings.Contains(name, "link") {
			continue
		}
		if err := s.Pack(ctx, dir+"/"+name, over); !errors.Is(err, ErrParam) {
			t.Errorf("%s: %v, want %v", name, err, ErrParam)
		}
	}
	if after := leafFiles(t, dir); !slices.Equal(after, before) {
		t.Errorf("files %q, want %q", after, before)
	}
	for _, name := range []string{"out.b2z", "s.b2d.b2z", "s.b2d/../out.b2z", "s.b2d/g/../../out.b2z"} {
		if err := s.Pack(ctx, parent+"/"+name, over); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Chdir(parent)
	for name, want := range map[string]error{"here.b2z": nil, "s.b2d/x.b2z": ErrParam} {
		if err := s.Pack(ctx, name, over); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	// A zip store may replace itself.
	z, err := Open(ctx, "out.b2z", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if err := z.Pack(ctx, "out.b2z", over); err != nil && runtime.GOOS != "windows" {
		t.Errorf("onto itself: %v", err)
	}
}

// TestPackEdited packs a store from which another Store has moved a leaf, out of embed.b2e to a file of its own.
func TestPackEdited(t *testing.T) {
	ctx, parent := t.Context(), t.TempDir()
	dir, zip := filepath.Join(parent, "s.b2d"), filepath.Join(parent, "s.b2z")
	w, err := Create(ctx, dir, &CreateOptions{OpenOptions: OpenOptions{Threshold: 100}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Put(ctx, "/a", contentFrame(t, make([]byte, 10))); err != nil {
		t.Fatal(err)
	}
	r, err := Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := w.Put(ctx, "/a", contentFrame(t, make([]byte, 200))); err != nil {
		t.Fatal(err)
	}
	if err := r.Pack(ctx, zip, nil); !errors.Is(err, frame.ErrChanged) {
		t.Errorf("%v, want %v", err, frame.ErrChanged)
	}
	if _, err := os.Stat(zip); err == nil {
		t.Error("there is a zip file")
	}
	if err := w.Pack(ctx, zip, nil); err != nil {
		t.Error(err)
	}
}

// TestDeepDirectory opens a store with a directory so deep that each step of a walk takes long.
func TestDeepDirectory(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "s.b2d")
	s, err := Create(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	root, err := os.OpenRoot(dir)
	for i := 0; err == nil && i <= maxDepth; i++ {
		err = root.Mkdir("d", 0o700)
		var next *os.Root
		if err == nil {
			next, err = root.OpenRoot("d")
		}
		root.Close()
		root = next
	}
	if err != nil {
		t.Skip("no deep directories: ", err)
	}
	root.Close()
	if s, err := Open(ctx, dir, nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v, %v, want %v", s, err, ErrTooLarge)
	}
}

// Pack uses one buffer for all files.
func TestPackMemory(t *testing.T) {
	s := mustOpen(t, "tables/wide2.b2d") // 19 files
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := s.Pack(t.Context(), filepath.Join(t.TempDir(), "wide.b2z"), nil); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("%d bytes allocated", used)
	}
}
