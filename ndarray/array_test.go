package ndarray

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"slices"
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
				a, err := Open(c.Path, nil)
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

// TestMaxDims opens an array with the allowed number of dimensions, and with fewer allowed.
func TestMaxDims(t *testing.T) {
	a, err := Zeros("", []int64{2, 3, 4}, "<i2", nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Frame().AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FromBytes(b, &Options{MaxDims: 3}); err != nil {
		t.Error(err)
	}
	if _, err := FromBytes(b, &Options{MaxDims: 2}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("three dimensions, two allowed: %v", err)
	}
}

// TestRefresh refreshes an array that another handle has edited.
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

// TestRequireChecksums opens arrays with and without checksums.
func TestRequireChecksums(t *testing.T) {
	o := &Options{}
	o.RequireChecksums = true
	if _, err := Open("../testdata/python-blosc2/full.b2nd", o); !errors.Is(err, frame.ErrChecksum) {
		t.Errorf("without checksums: %v", err)
	}
	a, err := Create(context.Background(), "", []int64{3}, []int16{1, 2, 3}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if !a.Frame().Info().Checksums {
		t.Error("a new array has no checksums")
	}
}
