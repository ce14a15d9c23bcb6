package store

import (
	"bytes"
	"errors"
	"io/fs"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// TestHugeLeaf opens the file of a leaf that has many more bytes than the embed store: fs.ReadFile takes memory for all
// of them. A leaf whose bytes are stored needs no MaxBytes.
func TestHugeLeaf(t *testing.T) {
	const zeros = 80 << 20
	ctx := t.Context()
	a, _ := noise(t, 200000, 1)
	raw := saved(t, a)
	node := func(o, l int) map[string]any { return map[string]any{"offset": o, "length": l} }
	text, err := meta.Marshal(map[string]any{"embed_map": map[string]any{"/g/huge": node(len(raw), zeros), "/g/stored": node(0, len(raw))}})
	if err != nil {
		t.Fatal(err)
	}
	marker, err := meta.Marshal(map[string]any{"version": 1})
	if err != nil {
		t.Fatal(err)
	}
	b := buildFrame(t, []meta.Layer{{Name: "b2embed", Content: marker}}, []meta.Layer{{Name: embedLayer, Content: text}},
		append(bytes.Clone(raw), make([]byte, zeros)...))
	for limit, want := range map[int64]error{0: nil, 100000: ErrTooLarge, zeros: nil} {
		checkFiles(t, b, limit, want)
	}
	few := buildFrame(t, []meta.Layer{{Name: "b2embed", Content: marker}}, []meta.Layer{{Name: embedLayer, Content: text}},
		append(make([]byte, len(raw)), make([]byte, zeros)...))
	for limit, want := range map[int64]error{0: ErrTooLarge, zeros: nil} {
		checkFiles(t, few, limit, want)
	}
	s, err := OpenReaderAt(ctx, bytes.NewReader(few), int64(len(few)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Sub(ctx, "/g/huge"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Sub: %v, want %v", err, ErrTooLarge)
	}
}

// checkFiles opens the files of the leaves /g/huge and /g/stored of an embed store. want is the error for the first.
func checkFiles(t *testing.T, b []byte, limit int64, want error) {
	t.Helper()
	s, err := OpenReaderAt(t.Context(), bytes.NewReader(b), int64(len(b)), &OpenOptions{Frames: &frame.OpenOptions{MaxBytes: limit}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, err := fs.ReadDir(s, "g")
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for i, want := range []error{want, nil} {
		name := "g/" + list[i].Name()
		if _, err := list[i].Info(); !errors.Is(err, want) {
			t.Errorf("%d bytes, MaxBytes %d: Info of %s: %v, want %v", len(b), limit, name, err, want)
		}
		if f, err := s.Open(name); !errors.Is(err, want) {
			t.Errorf("%d bytes, MaxBytes %d: Open of %s: %v, want %v", len(b), limit, name, err, want)
		} else if err == nil {
			f.Close()
		}
	}
}
