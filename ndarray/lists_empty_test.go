package ndarray

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
)

// emptyMask returns an all-false mask of a shape that has a 0.
func emptyMask(shape ...int64) Index { return MaskND(shape, nil) }

// emptyCases are selections with empty index arrays from an array of shape (6, 5, 4, 3), with the shapes that NumPy 2
// gives. nil is an IndexError.
var emptyCases = []struct {
	sel  []Index
	want []int64
}{
	{[]Index{emptyMask(6, 0, 4)}, []int64{0, 3}},
	{[]Index{emptyMask(0)}, []int64{0, 5, 4, 3}},
	{[]Index{emptyMask(0, 0)}, []int64{0, 4, 3}},
	{[]Index{emptyMask(0, 5)}, []int64{0, 4, 3}},
	{[]Index{emptyMask(6, 0)}, []int64{0, 4, 3}},
	{[]Index{emptyMask(7, 0)}, nil},
	{[]Index{emptyMask(0, 4)}, nil},
	{[]Index{emptyMask(6, 5, 4, 0)}, []int64{0}},
	{[]Index{emptyMask(0, 0, 0, 0)}, []int64{0}},
	{[]Index{emptyMask(0, 5, 4, 3)}, []int64{0}},
	{[]Index{emptyMask(0, 5, 4, 3, 2)}, nil},
	{[]Index{Ellipsis, emptyMask(0)}, []int64{6, 5, 4, 0}},
	{[]Index{emptyMask(0), At(1)}, []int64{0, 4, 3}},
	{[]Index{emptyMask(0), Coords(1)}, []int64{0, 4, 3}},
	{[]Index{emptyMask(0), Coords(1, 2)}, nil},
	{[]Index{emptyMask(0), Coords(9)}, []int64{0, 4, 3}},
	{[]Index{emptyMask(0), At(9)}, nil},
	{[]Index{At(1), emptyMask(0)}, []int64{0, 4, 3}},
	{[]Index{All, emptyMask(0)}, []int64{6, 0, 4, 3}},
	{[]Index{emptyMask(0), All, emptyMask(0)}, []int64{0, 5, 3}},
	{[]Index{NewAxis, emptyMask(6, 0)}, []int64{1, 0, 4, 3}},
	{[]Index{Coords(), Coords()}, []int64{0, 4, 3}},
	{[]Index{Coords(), Coords(9)}, []int64{0, 4, 3}},
	{[]Index{CoordsND([]int64{2, 0}, nil)}, []int64{2, 0, 5, 4, 3}},
	{[]Index{Coords(1, 2), Coords()}, nil},
	{[]Index{MaskND([]int64{1}, []bool{false})}, nil},
	{[]Index{emptyMask(0), MaskND([]int64{6}, make([]bool, 6))}, nil},
	{[]Index{MaskND(nil, []bool{false}), emptyMask(0)}, []int64{0, 5, 4, 3}},
	{[]Index{Mask(), Mask(make([]bool, 5)...), Pick(1), Pick(0, 1)}, []int64{0, 0, 1, 2}}, // numpy.ix_
	{[]Index{Pick(), Pick()}, []int64{0, 0, 4, 3}},
	{[]Index{Mask(false)}, nil},
	{[]Index{emptyMask(6, 0, 4), At(2)}, []int64{0}},
	{[]Index{At(2), emptyMask(0, 4)}, []int64{0, 3}},
	{[]Index{Flat()}, []int64{0}},
}

// TestEmptyLists compares the shapes of selections with empty index arrays with NumPy's, and reads, writes and fills
// them, in the array and in a view of it.
func TestEmptyLists(t *testing.T) {
	ctx := context.Background()
	a, err := Zeros("", []int64{6, 5, 4, 3}, "<i2", &Options{Chunks: []int32{4, 3, 4, 2}, Blocks: []int32{2, 3, 2, 2}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.FillBytes(ctx, []byte{1, 2}); err != nil {
		t.Fatal(err)
	}
	before := contents(t, a)
	view, err := Slice(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range emptyCases {
		shape, err := a.SelectionShape(c.sel...)
		if c.want == nil {
			if !errors.Is(err, ErrBounds) {
				t.Errorf("%v: shape %v (%v), want ErrBounds", c.sel, shape, err)
			}
			continue
		}
		if err != nil || !slices.Equal(shape, c.want) {
			t.Errorf("%v: shape %v (%v), want %v", c.sel, shape, err, c.want)
			continue
		}
		if shape, err := view.SelectionShape(c.sel...); err != nil || !slices.Equal(shape, c.want) {
			t.Errorf("%v of a view: shape %v (%v), want %v", c.sel, shape, err, c.want)
		}
		if err := a.ReadBytes(ctx, nil, c.sel...); err != nil {
			t.Errorf("%v: reading: %v", c.sel, err)
		}
		if err := view.ReadBytes(ctx, nil, c.sel...); err != nil {
			t.Errorf("%v: reading a view: %v", c.sel, err)
		}
		if values, err := Read[int16](ctx, a, c.sel...); err != nil || len(values) != 0 {
			t.Errorf("%v: %d values (%v)", c.sel, len(values), err)
		}
		if err := a.WriteBytes(ctx, nil, c.sel...); err != nil {
			t.Errorf("%v: writing: %v", c.sel, err)
		}
		if err := view.WriteBytes(ctx, nil, c.sel...); err != nil {
			t.Errorf("%v: writing a view: %v", c.sel, err)
		}
		if err := a.FillBytes(ctx, []byte{9, 9}, c.sel...); err != nil {
			t.Errorf("%v: filling: %v", c.sel, err)
		}
		if err := a.ReadBytes(ctx, make([]byte, 2), c.sel...); !errors.Is(err, ErrShape) {
			t.Errorf("%v: reading into 2 bytes: %v", c.sel, err)
		}
	}
	if !bytes.Equal(contents(t, a), before) {
		t.Error("writing to empty selections changed the array")
	}
}

// contents returns the items of an array.
func contents(t *testing.T, a *Array) []byte {
	t.Helper()
	b := make([]byte, a.Size()*int64(a.ItemSize()))
	if err := a.ReadBytes(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestParseEmptyLists reads empty lists as text. NumPy takes them for integers.
func TestParseEmptyLists(t *testing.T) {
	for text, want := range map[string][]int64{
		"[]": {0, 5, 4, 3}, "[], []": {0, 4, 3}, "[[], []]": {2, 0, 5, 4, 3}, "[], 1": {0, 4, 3}, ":, []": {6, 0, 4, 3},
		"[], [True, False, False, False, False]": {0, 4, 3}, "False": {0, 6, 5, 4, 3}, "[], [[9]]": {1, 0, 4, 3},
	} {
		sel, err := ParseSelection(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		s, err := resolve([]int64{6, 5, 4, 3}, sel)
		if err != nil || !slices.Equal(s.shape(), want) {
			t.Errorf("%s: shape %v (%v), want %v", text, slices.Clone(s.shape()), err, want)
		}
	}
}
