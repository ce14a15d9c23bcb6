package ndarray

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

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
	if err := b.SetAttr(ctx, "late", 1); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if a, err = Open(name, nil); err != nil {
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
	if err := a.Attr("none", &units); !errors.Is(err, ErrNotFound) {
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
	o := &Options{Chunks: []int32{10, 10}, Blocks: []int32{5, 5}}
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
