package table

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/internal/manifest"
)

// copyLeaves copies all leaves of a table of testdata below a key of a store.
func copyLeaves(t *testing.T, to *store.Store, key, file string) {
	t.Helper()
	ctx := context.Background()
	from := mustOpen(t, "tables/"+file)
	for k := range from.Keys("/") {
		f, err := from.Frame(ctx, k)
		if err == nil {
			err = to.Put(ctx, key+k, f)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Tables inside other stores, and in one frame.
func TestTablesInStores(t *testing.T) {
	ctx := context.Background()
	byFile := map[string]manifest.Table{}
	for _, c := range manifest.Tables(t) {
		byFile[c.File] = c
	}
	for _, name := range []string{"s.b2d", "s.b2e"} {
		path := filepath.Join(t.TempDir(), name)
		s, err := store.Create(ctx, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for file, key := range map[string]string{"wide1.b2z": "/deep/a", "wide4.b2d": "/b"} {
			copyLeaves(t, s, key, file)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err = store.Open(ctx, path, nil); err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var entries []string
		for e, err := range s.Walk(ctx, "/") {
			if err != nil {
				t.Error(err)
			}
			entries = append(entries, e.Key+" "+e.Kind.String())
		}
		if want := []string{"/b table", "/deep group", "/deep/a table"}; !slices.Equal(entries, want) {
			t.Errorf("%s: entries %q, want %q", name, entries, want)
		}
		for file, key := range map[string]string{"wide1.b2z": "/deep/a", "wide4.b2d": "b"} {
			tab, err := Open(ctx, s, key)
			if err != nil {
				t.Fatal(err)
			}
			for _, info := range tab.Columns() {
				c, err := tab.Column(ctx, info.Name)
				if err != nil {
					t.Error(err)
					continue
				}
				want := byFile[file].Columns[info.Name]
				checkColumn(t, c, want.Values, want.Null)
			}
		}
	}
}

// A summary whose path begins with the key of the table is found, too.
func TestSummaryInStore(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../../testdata/stores/tree.b2d")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "w"), os.DirFS("../../../testdata/tables/wide2.b2d")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "w", "embed.b2e")); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tab, err := Open(ctx, s, "/w")
	if err != nil {
		t.Fatal(err)
	}
	c, err := tab.Column(ctx, "c5_float64")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"_indexes/c5_float64/summary.block.b2nd", "w/_indexes/c5_float64/summary.block.b2nd"} {
		var sum summary[float64]
		if err := sum.read(ctx, c, file, 7); err != nil || sum.segments() != 7 {
			t.Errorf("%s: %d segments, %v", file, sum.segments(), err)
		}
	}
}
