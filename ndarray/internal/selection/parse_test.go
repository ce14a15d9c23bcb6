package selection

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/errs"
)

// TestParseLists parses lists, and compares them with their notation.
func TestParseLists(t *testing.T) {
	yes, no := true, false
	for text, want := range map[string][]Index{
		"[3, 1, 2]":            {Coords([]int64{3, 1, 2}, nil)},
		" [ -3 ,+1,] ":         {Coords([]int64{-3, 1}, nil)},
		"[3]":                  {Coords([]int64{3}, nil)},
		"[3],":                 {Coords([]int64{3}, nil)},
		"([3], 1)":             {Coords([]int64{3}, nil), Point(1)},
		"[([3], 1)]":           {Coords([]int64{3}, nil), Point(1)},
		"[[3], :]":             {Coords([]int64{3}, nil), All},
		"[[[3]], None]":        {Coords([]int64{3}, []int64{1, 1}), NewAxis},
		"[3, 1], [0, 1], :":    {Coords([]int64{3, 1}, nil), Coords([]int64{0, 1}, nil), All},
		"[[3, 1], [0, 1]]":     {Coords([]int64{3, 1, 0, 1}, []int64{2, 2})},
		"[[3], [1]], ..., [0]": {Coords([]int64{3, 1}, []int64{2, 1}), Ellipsis, Coords([]int64{0}, nil)},
		"[[[1, 2]], [[3, 4]]]": {Coords([]int64{1, 2, 3, 4}, []int64{2, 1, 2})},
		"[]":                   {Coords(nil, []int64{0})},
		"[[], []]":             {Coords(nil, []int64{2, 0})},
		"[[[]],]":              {Coords(nil, []int64{1, 1, 0})},
		"True":                 {Bool(yes)},
		"False, ...":           {Bool(no), Ellipsis},
		"[True]":               {Mask([]bool{yes}, []int64{1})},
		"[True,False], 1:2":    {Mask([]bool{yes, no}, []int64{2}), Span{1, 2, 1}},
		"[[True], [False]]":    {Mask([]bool{yes, no}, []int64{2, 1})},
		"1, [2]":               {Point(1), Coords([]int64{2}, nil)},
		"-9223372036854775808:, [9223372036854775807]": {Span{-9223372036854775807, None, 1}, Coords([]int64{9223372036854775807}, nil)},
	} {
		got, err := Parse(text)
		if err != nil || !sameIndexes(got, want) {
			t.Errorf("%s: %v, error %v, want %v", text, got, err, want)
		}
		if again, err := Parse(strings.Join(words(want), ", ")); err != nil || !sameIndexes(again, want) {
			t.Errorf("%s: %v, error %v, of %v", text, again, err, words(want))
		}
	}
}

func sameIndexes(a, b []Index) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, ok := a[i].(*IndexArray)
		y, _ := b[i].(*IndexArray)
		if !ok {
			if a[i] != b[i] {
				return false
			}
			continue
		}
		if y == nil || x.Kind != y.Kind || fmt.Sprint(x.Shape, x.At, x.Keep) != fmt.Sprint(y.Shape, y.At, y.Keep) {
			return false
		}
	}
	return true
}

// TestParseListErrors checks that errors name the column.
func TestParseListErrors(t *testing.T) {
	deep := strings.Repeat("[", MaxResultDims+1)
	for _, x := range []struct {
		text   string
		column int
	}{
		{"[1", 3}, {"[1,", 4}, {"[", 2}, {"[[1]", 5}, {"[1]]", 4}, {"[1] [2]", 5}, {"[1 2]", 4}, {"[,]", 2}, {"[1,,2]", 4}, {"[-]", 3},
		{"[1, x]", 5}, {"[1, Tru]", 5}, {"[Truely]", 2}, {"[True, 1]", 8}, {"[1, False]", 5}, {"[1, [2]]", 5}, {"[[1], 2]", 7}, {"[[1, 2], [3]]", 12},
		{"[[], [1]]", 8}, {"[[[]], []]", 9}, {"[[], 1]", 6}, {"1, [2:3]", 6}, {"[1, 9223372036854775808]", 5}, {"1, [None]", 5}, {"[(1, [2)]", 2},
		{deep, MaxResultDims + 1}, {"True]", 5}, {"[1], [2}", 8}, {"[1.5]", 3}, {"[1, \x00]", 5},
		{"1:Nones", 3}, {"Nones:2", 1}, {"None:None2", 6}, {"::None:1", 7}, {"None 2", 6}, {"None:2:0", 1},
	} {
		sel, err := Parse(x.text)
		if want := fmt.Sprintf("column %d:", x.column); !errors.Is(err, frame.ErrBounds) || sel != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, error %v, want %s", x.text, sel, err, want)
		}
	}
	for _, text := range []string{"é", "1 é", "[é]"} {
		if _, err := Parse(text); !errors.Is(err, frame.ErrBounds) || !strings.Contains(err.Error(), "unexpected 'é', ") {
			t.Errorf("%q: error %v, want one that quotes the character", text, err)
		}
	}
}

// TestListErrors checks that errors name the index, the axis, the value and its bounds.
func TestListErrors(t *testing.T) {
	shape := []int64{3, 4, 5}
	for _, x := range []struct {
		sel   []Index
		parts []string
	}{
		{[]Index{All, Pick(1, 4)}, []string{"index 1", "entry 1 of the list is 4", "axis 1", "length 4"}},
		{[]Index{NewAxis, Pick(-4)}, []string{"index 1", "is -4", "axis 0", "length 3"}},
		{[]Index{Ellipsis, Coords([]int64{0, -6}, nil)}, []string{"index 1", "entry 1 of the list is -6", "axis 2", "length 5"}},
		{[]Index{Coords([]int64{0, 1}, nil), Point(4)}, []string{"index 1", "4 is out of range for axis 1 of length 4"}},
		{[]Index{Coords([]int64{0, 1, 2, 3}, []int64{2, 2})}, []string{"index 0", "entry 3 of the list is 3", "axis 0", "length 3"}},
		{[]Index{Flat(0, 60)}, []string{"index 0", "entry 1 of the list is 60", "60 items"}},
		{[]Index{Mask([]bool{true, false}, nil)}, []string{"index 0", "length 2", "axis 0", "length 3"}},
		{[]Index{Point(0), Mask(make([]bool, 16), []int64{4, 4})}, []string{"index 1", "length 4", "axis 2", "length 5"}},
		{[]Index{Coords([]int64{1, 2}, nil), Coords([]int64{1, 2, 3}, nil)}, []string{"index 1", "[2]", "[3]", "broadcast"}},
		{[]Index{Coords(make([]int64, 5), []int64{2, 3})}, []string{"index 0", "[2 3]", "5"}},
		{[]Index{Coords(nil, []int64{-1})}, []string{"index 0", "[-1]"}},
		{[]Index{Mask(make([]bool, 2), []int64{3})}, []string{"index 0", "[3]", "2"}},
		{[]Index{Pick(0), All, Coords([]int64{1}, nil)}, []string{"index 0", "Pick", "index 2", "Coords"}},
		{[]Index{Mask(make([]bool, 3), []int64{3}), Pick(0)}, []string{"index 0", "Mask", "index 1", "Pick"}},
		{[]Index{Flat(0), All}, []string{"index 0", "Flat", "only index"}},
		{[]Index{Flat(0), NewAxis}, []string{"index 0", "Flat", "only index"}},
		{[]Index{Coords([]int64{0}, nil), Coords([]int64{0}, nil), Coords([]int64{0}, nil), Coords([]int64{0}, nil)}, []string{"4 axes", "has 3"}},
		{[]Index{Coords([]int64{0}, ones(60)), NewAxis, NewAxis, NewAxis}, []string{"65 dimensions"}},
		{[]Index{Coords([]int64{0}, ones(65))}, []string{"index 0"}},
	} {
		s, err := Resolve(shape, x.sel)
		if !errors.Is(err, frame.ErrBounds) {
			t.Errorf("%v: shape %v, error %v", x.sel, s.Shape(), err)
			continue
		}
		for _, part := range x.parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v: error %v does not contain %q", x.sel, err, part)
			}
		}
	}
	wide := make([]int64, 1<<16)
	var sel []Index
	for i := range 4 {
		lengths := ones(4)
		lengths[i] = int64(len(wide))
		sel = append(sel, Coords(wide, lengths))
	}
	if _, err := Resolve([]int64{1, 1, 1, 1}, sel); !errors.Is(err, errs.ErrTooLarge) {
		t.Errorf("2^64 items: %v", err)
	}
}

func ones(n int) []int64 {
	return slices.Repeat([]int64{1}, n)
}
