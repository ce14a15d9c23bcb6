package ndarray

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
)

// TestRefresh follows what another handle does to an array.
func TestRefresh(t *testing.T) {
	ctx := t.Context()
	for _, sparse := range []bool{false, true} {
		o := &Options{Chunks: []int32{4, 4}, Blocks: []int32{2, 2}}
		o.Sparse, o.NoSync = sparse, true
		name := filepath.Join(t.TempDir(), "x")
		w, err := Create(ctx, name, []int64{2, 3}, []int32{1, 2, 3, 4, 5, 6}, o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Open(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := r.Refresh(); err != nil || c {
			t.Error(c, err)
		}
		if err := w.Resize(ctx, 3, 5); err != nil {
			t.Fatal(err)
		}
		if err := Write(ctx, w, []int32{7}, Span(2, 3), Span(4, 5)); err != nil {
			t.Fatal(err)
		}
		if got := r.Shape(); !slices.Equal(got, []int64{2, 3}) {
			t.Error("before Refresh:", got)
		}
		if c, err := r.Refresh(); err != nil || !c {
			t.Error(c, err)
		}
		want := []int32{1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0, 7}
		if got, err := Read[int32](ctx, r); err != nil || !slices.Equal(got, want) || !slices.Equal(r.Shape(), []int64{3, 5}) {
			t.Error(r.Shape(), got, err)
		}
		w.Close()
		r.Close()
		if _, err := r.Refresh(); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
}
