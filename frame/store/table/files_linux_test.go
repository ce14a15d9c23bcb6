package table

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/internal/tabletest"
)

// TestFilesOfBadColumns opens columns that do not fit the schema. No file of theirs stays open.
func TestFilesOfBadColumns(t *testing.T) {
	b := build(t, `{"name": "type", "kind": "int64"}, {"name": "short", "kind": "int64"}, 
		{"name": "text", "kind": "utf8"}, {"name": "objects", "kind": "object"}, {"name": "good", "kind": "int64"}`, tabletest.AllLive(3))
	array(b, "_cols/type", []int64{3}, []int32{1, 2, 3})
	array(b, "_cols/short", []int64{2}, []int64{1, 2})
	array(b, "_cols/text", []int64{4}, []int64{0, 1, 2, 3})
	array(b, "_cols/text.utf8", []int64{3}, []int16{65, 66, 67})
	array(b, "_cols/objects", []int64{3}, []int64{1, 2, 3})
	array(b, "_cols/good", []int64{3}, []int64{1, 2, 3})
	s, err := store.Open(t.Context(), b.Dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tab, err := Open(t.Context(), s, "/")
	if err != nil {
		t.Fatal(err)
	}
	before := b.OpenFiles()
	for _, name := range []string{"type", "short", "text", "objects"} {
		if _, err := tab.Column(t.Context(), name); !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
		if n := b.OpenFiles(); n != before {
			t.Fatalf("%s: %d files are open, want %d", name, n, before)
		}
	}
	if _, err := tab.Column(t.Context(), "good"); err != nil || b.OpenFiles() != before+1 {
		t.Errorf("%d files are open, want %d, %v", b.OpenFiles(), before+1, err)
	}
	if err := s.Close(); err != nil || b.OpenFiles() != 0 {
		t.Errorf("%d files are open after Close, %v", b.OpenFiles(), err)
	}
}

// TestFilesOfClosedColumns expects that Close closes the files of a column that no other column uses.
func TestFilesOfClosedColumns(t *testing.T) {
	ctx := t.Context()
	b := build(t, `{"name": "text", "kind": "utf8", "nullable": true, "null_storage": "mask"}, {"name": "objects", "kind": "object"},
		{"name": "codes", "kind": "dictionary"}`, tabletest.AllLive(1))
	array(b, "_cols/text", []int64{2}, []int64{0, 1})
	array(b, "_cols/text.utf8", []int64{1}, []byte{65})
	array(b, "_cols/text.notnull", []int64{1}, []bool{true})
	b.Items("_cols/objects", []any{int8(5)})
	array(b, "_cols/codes", []int64{1}, []int32{0})
	b.Items("_cols/codes_dict", []any{"A"})
	tab, err := b.open()
	if err != nil {
		t.Fatal(err)
	}
	before := b.OpenFiles()
	for name, files := range map[string]int{"text": 3, "objects": 1, "codes": 2} {
		var columns []*Column
		for range 2 {
			c, err := tab.Column(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			columns = append(columns, c)
		}
		for i, c := range columns {
			if n := b.OpenFiles() - before; n != files {
				t.Errorf("%s: %d files are open for %d columns, want %d", name, n, len(columns)-i, files)
			}
			if _, err := Read[any](ctx, c, 0, 1); err != nil {
				t.Error(err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		if n := b.OpenFiles(); n != before {
			t.Errorf("%s: %d files are open after Close, want %d", name, n, before)
		}
	}
	type row struct {
		Text  string `b2:"text"`
		Codes string `b2:"codes"`
	}
	for r, err := range Rows[row](ctx, tab, 0, 1) {
		if n := b.OpenFiles() - before; err != nil || n != 5 || r != (row{"A", "A"}) {
			t.Errorf("%v, %v, %d files are open, want 5", r, err, n)
		}
	}
	type wrong struct {
		Text string `b2:"text"`
		None string `b2:"none"`
	}
	for r, err := range Rows[wrong](ctx, tab, 0, 1) {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v, %v", r, err)
		}
	}
	if n := b.OpenFiles(); n != before {
		t.Errorf("%d files are open after Rows, want %d", n, before)
	}
}
