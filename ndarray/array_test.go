package ndarray

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/manifest"
)

// fixture is an array of the test data.
type fixture struct{ manifest.Case }

// fixtures returns the arrays of a directory of testdata.
func fixtures(t testing.TB, folder string) []fixture {
	t.Helper()
	var out []fixture
	for _, c := range manifest.Read(t, folder) {
		if c.Kind == "b2nd" {
			out = append(out, fixture{c})
		}
	}
	return out
}

// sum returns the SHA-256 of b in hexadecimal.
func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// TestFixtures reads the arrays of the test data, and compares them and their slices with the manifest.
func TestFixtures(t *testing.T) {
	ctx := context.Background()
	for folder, want := range map[string]int{"python-blosc2": 202, "legacy": 18} {
		cases := fixtures(t, folder)
		if len(cases) != want {
			t.Errorf("%s: %d arrays, want %d", folder, len(cases), want)
		}
		for _, c := range cases {
			t.Run(c.File, func(t *testing.T) {
				a, err := Open(ctx, c.Path, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				b := make([]byte, c.NBytes)
				err = a.ReadBytes(ctx, b)
				if err != nil {
					t.Fatal(err)
				}
				if sum(b) != c.SHA256 {
					t.Error("the contents differ")
				}
				for i, s := range c.Slices {
					sel := make([]Index, len(s.Start))
					n := int64(c.ItemSize)
					for k := range sel {
						sel[k] = Step(s.Start[k], s.Stop[k], s.Step[k])
						n *= s.Shape[k]
					}
					b := make([]byte, n)
					if err := a.ReadBytes(ctx, b, sel...); err != nil {
						t.Errorf("slice %d %v: %v", i, sel, err)
					} else if sum(b) != s.SHA256 {
						t.Errorf("slice %d %v: the contents differ", i, sel)
					}
				}
			})
		}
	}
}

// TestRefresh refreshes an array that another handle has edited.
func TestRefresh(t *testing.T) {
	ctx := t.Context()
	for _, sparse := range []bool{false, true} {
		o := &CreateOptions{Chunks: []int64{4, 4}, Blocks: []int64{2, 2}}
		o.Sparse, o.NoSync = sparse, true
		name := filepath.Join(t.TempDir(), "x")
		w, err := Create(ctx, name, []int64{2, 3}, []int32{1, 2, 3, 4, 5, 6}, o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Open(ctx, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := r.Refresh(ctx); err != nil || c {
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
		if c, err := r.Refresh(ctx); err != nil || !c {
			t.Error(c, err)
		}
		want := []int32{1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0, 7}
		if got, err := Read[int32](ctx, r); err != nil || !slices.Equal(got, want) || !slices.Equal(r.Shape(), []int64{3, 5}) {
			t.Error(r.Shape(), got, err)
		}
		w.Close()
		r.Close()
		if _, err := r.Refresh(ctx); !errors.Is(err, fs.ErrClosed) {
			t.Error(err)
		}
	}
}

// TestRequireChecksums opens arrays with and without checksums.
func TestRequireChecksums(t *testing.T) {
	o := &OpenOptions{RequireChecksums: true}
	if _, err := Open(ctx, "../testdata/python-blosc2/full.b2nd", o); !errors.Is(err, frame.ErrChecksum) {
		t.Errorf("without checksums: %v", err)
	}
	name := filepath.Join(t.TempDir(), "x")
	a, err := Create(ctx, name, []int64{3}, []int16{1, 2, 3}, &CreateOptions{Checksums: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if !a.Frame().Info().Checksums {
		t.Error("a new array has no checksums")
	}
	b, err := Open(ctx, name, o)
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
}

// TestAttrs sets, reads and deletes attributes of all kinds, one by one and in a batch, and reads them from the file.
func TestAttrs(t *testing.T) {
	ctx := context.Background()
	name := filepath.Join(t.TempDir(), "a.b2nd")
	a, err := Create(ctx, name, []int64{4, 5}, make([]float32, 20), nil)
	if err != nil {
		t.Fatal(err)
	}
	type station struct {
		Name   string
		Height float64
	}
	mask, err := Create(ctx, "", []int64{3}, []uint8{1, 0, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer mask.Close()
	if err := errors.Join(
		a.SetAttr(ctx, "units", "K"), a.SetAttr(ctx, "scale", 0.5), a.SetAttr(ctx, "mask", mask),
		a.SetAttr(ctx, "station", station{"Jena", 155}), a.SetAttr(ctx, "gone", nil), a.DeleteAttr(ctx, "gone"),
	); err != nil {
		t.Fatal(err)
	}
	b, err := a.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Flip(mask, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.SetAttr(ctx, "levels", []int{3, 1}), b.SetAttr(ctx, "flipped", v), b.DeleteAttr(ctx, "scale"), b.Commit()); err != nil {
		t.Fatal(err)
	}
	if err := b.SetAttr(ctx, "late", 1); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if a, err = Open(ctx, name, nil); err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if got, want := a.Attrs(), []string{"units", "mask", "station", "levels", "flipped"}; !slices.Equal(got, want) {
		t.Errorf("attributes %q, want %q", got, want)
	}
	var (
		units  string
		levels []int
		place  station
		value  any
		m, f   *Array
	)
	if err := errors.Join(a.Attr("units", &units), a.Attr("levels", &levels), a.Attr("station", &place), a.Attr("station", &value),
		a.Attr("mask", &m), a.Attr("flipped", &f)); err != nil {
		t.Fatal(err)
	}
	if units != "K" || !slices.Equal(levels, []int{3, 1}) || place != (station{"Jena", 155}) ||
		!reflect.DeepEqual(value, map[string]any{"Name": "Jena", "Height": 155.0}) {
		t.Errorf("%q, %v, %v, %#v", units, levels, place, value)
	}
	if got, err := Read[uint8](ctx, m); err != nil || !slices.Equal(got, []uint8{1, 0, 1}) {
		t.Error(got, err)
	}
	if got, err := Read[uint8](ctx, f, At(0)); err != nil || !slices.Equal(got, []uint8{1}) {
		t.Error(got, err)
	}
	if err := a.Attr("none", &units); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, v := range []any{&m, new(int)} {
		if err := a.Attr("units", v); err == nil || !strings.Contains(err.Error(), `attribute "units"`) {
			t.Errorf("%T: %v", v, err)
		}
	}
	if err := a.SetAttr(ctx, "x", 1); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	if err := m.SetAttr(ctx, "x", 1); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
}

// TestInfo describes arrays and views in a line, and checks them.
func TestInfo(t *testing.T) {
	ctx := context.Background()
	o := &CreateOptions{Chunks: []int64{10, 10}, Blocks: []int64{5, 5}}
	a, err := Create(ctx, "", []int64{20, 10}, make([]int16, 200), o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := a.String(), "[20 10] <i2, chunks [10 10], blocks [5 5], zstd level 5, 400 bytes"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if err := Write(ctx, a, []int16{1, 2, 3}, At(0), Span(0, 3)); err != nil {
		t.Fatal(err)
	}
	if got := a.String(); !strings.HasPrefix(got, "[20 10] <i2, chunks [10 10], blocks [5 5], zstd level 5, 400 bytes stored in ") || !strings.Contains(got, "ratio ") {
		t.Errorf("%q", got)
	}
	v, err := Slice(a, At(0))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.String(); !strings.HasPrefix(got, "[10] <i2, view of [20 10] <i2, chunks") {
		t.Errorf("%q", got)
	}
	if a.NBytes() != 400 || a.CBytes() == 0 {
		t.Errorf("%d bytes in %d", a.NBytes(), a.CBytes())
	}
	if err := a.Verify(ctx, nil); err != nil {
		t.Error(err)
	}
	if err := a.Compact(ctx); !errors.Is(err, ErrParam) { // it is in memory
		t.Error(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if got, want := a.String(), "[20 10] <i2, closed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
