package b2arrow

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/goblosc/blosc2/internal/tabletest"
)

// TestFiles expects that a reader closes its columns when it is released, or after an error.
func TestFiles(t *testing.T) {
	b := build(t, `{"name": "i", "kind": "int64"}, {"name": "s", "kind": "vlstring"}`, tabletest.AllLive(2))
	write(b, "_cols/i", []int64{2}, []int64{1, 2})
	b.Items("_cols/s", []any{"a", "b"})
	tab := b.open()
	before := b.OpenFiles()
	check := func(what string, want int) {
		t.Helper()
		if n := b.OpenFiles() - before; n != want {
			t.Errorf("%s: %d files are open, want %d", what, n, want)
		}
	}
	if _, err := Schema(t.Context(), tab, nil); err != nil {
		t.Fatal(err)
	}
	check("Schema", 0)
	if _, err := Schema(t.Context(), tab, &Options{Columns: []string{"i", "none"}}); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	check("a missing column", 0)
	r, err := NewReader(t.Context(), tab, &Options{Rows: 1, Allocator: checked(t)})
	if err != nil || !r.Next() {
		t.Fatal(err)
	}
	check("NewReader", 2)
	batch := r.RecordBatch()
	batch.Retain()
	defer batch.Release()
	r.Release()
	check("Release", 0)
	if got := batch.Column(0).ValueStr(0) + batch.Column(1).ValueStr(0); got != "1a" {
		t.Errorf("the batch has %q after Release", got)
	}
}
