package table

import (
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/goblosc/blosc2/internal/manifest"
)

// TestClose closes columns of all kinds. Reads return fs.ErrClosed, but another column of the same name works.
func TestClose(t *testing.T) {
	ctx := t.Context()
	for _, m := range manifest.Tables(t) {
		tab, err := Open(ctx, mustOpen(t, filepath.Join("tables", m.File)), "/")
		if err != nil {
			t.Fatal(err)
		}
		n := tab.Rows()
		for _, info := range tab.Columns() {
			where := m.File + " " + info.Name
			c, err := tab.Column(ctx, info.Name)
			if err != nil {
				t.Fatal(where, err)
			}
			other, err := tab.Column(ctx, info.Name)
			if err != nil {
				t.Fatal(where, err)
			}
			want, err := Read[any](ctx, c, 0, n)
			if err != nil {
				t.Fatal(where, err)
			}
			if err := errors.Join(c.Close(), c.Close()); err != nil {
				t.Error(where, err)
			}
			_, err = Read[any](ctx, c, 0, n)
			if !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s: Read: %v", where, err)
			}
			if nulls, err := c.Nulls(ctx, 0, n); !errors.Is(err, fs.ErrClosed) && (nulls != nil || err != nil) {
				t.Errorf("%s: Nulls: %v, %v", where, nulls, err)
			}
			for _, err := range All[any](ctx, c) {
				if !errors.Is(err, fs.ErrClosed) {
					t.Errorf("%s: All: %v", where, err)
				}
			}
			if got, err := Read[any](ctx, other, 0, n); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: another column: %v, want %v, %v", where, got, want, err)
			}
		}
	}
}
