package ndarray

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func ExampleParseSelection() {
	sel, err := ParseSelection("2:5, ..., ::-1")
	fmt.Println(sel, err)
	_, err = ParseSelection("2:5, x")
	fmt.Println(err)
	// Output:
	// [2:5 ... ::-1] <nil>
	// ndarray: invalid selection: column 6: unknown word "x"
}

func ExampleStep() {
	fmt.Println(At(-1), Span(2, 5), From(3), Until(-2), Step(0, 10, 2), Step(None, None, -1), All, Ellipsis, NewAxis)
	// Output: -1 2:5 3: :-2 0:10:2 ::-1 : ... None
}

// TestConstructors compares each constructor with the notation it stands for.
func TestConstructors(t *testing.T) {
	shape := []int64{7, 6, 5}
	for _, x := range []struct {
		sel  []Index
		text string
	}{
		{nil, ""},
		{[]Index{At(3), All, Span(2, 5)}, "3, :, 2:5"},
		{[]Index{At(-7), NewAxis, Ellipsis, From(-2)}, "-7, None, ..., -2:"},
		{[]Index{Until(3), Until(-3)}, ":3, :-3"},
		{[]Index{Step(None, None, -1), Step(0, 10, 2), Step(4, None, -3)}, "::-1, 0:10:2, 4::-3"},
		{[]Index{Span(None, 2), Span(2, None), Span(None, None)}, ":2, 2:, :"},
		{[]Index{Step(0, 7, math.MinInt64), Step(6, None, math.MinInt64), Step(0, 5, math.MaxInt64)},
			"0:7:-99999999999999999999, 6::-9223372036854775807, 0:5:99999999999999999999"},
	} {
		parsed, err := ParseSelection(x.text)
		if err != nil {
			t.Fatal(err)
		}
		got, err1 := resolve(shape, x.sel)
		want, err2 := resolve(shape, parsed)
		if err1 != nil || err2 != nil || got != want {
			t.Errorf("%s: %+v (%v), want %+v (%v)", x.text, got, err1, want, err2)
		}
	}
}

func TestParseSelectionForms(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "()": "", " ( ) ": "", "\t\n": "", "3,": "3", "(3,)": "3", "(1, 2)": "1, 2", "[:]": ":", "[2:5, ...]": "2:5, ...",
		"[1, None]": "1, None", "[(1, :)]": "1, :", " +3 ": "3", "007": "7", "1 : 2 : 3": "1:2:3", "1::": "1:", "::": ":", "::1": ":",
		"1:2:": "1:2", "newaxis,np.newaxis,numpy.newaxis": "None, None, None", "Ellipsis": "...", "-0": "0", "..., ": "...",
		"::-1": "::-1", "-9223372036854775808:": "-9223372036854775807:",
	} {
		sel, err := ParseSelection(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := strings.Trim(strings.Join(words(sel), ", "), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func words(sel []Index) []string {
	var w []string
	for _, x := range sel {
		w = append(w, x.String())
	}
	return w
}

func TestParseSelectionErrors(t *testing.T) {
	for _, x := range []struct {
		text   string
		err    error
		column int
	}{
		{",", ErrBounds, 1}, {"1,,2", ErrBounds, 3}, {"1 2", ErrBounds, 3}, {"a", ErrBounds, 1}, {"1, b:2", ErrBounds, 4},
		{"--1", ErrBounds, 2}, {"-", ErrBounds, 2}, {"1:2:3:4", ErrBounds, 6}, {"..", ErrBounds, 1}, {"....", ErrBounds, 4},
		{"1.5", ErrBounds, 2}, {"0x10", ErrBounds, 2}, {"1:-", ErrBounds, 4}, {"(1", ErrBounds, 1}, {"1)", ErrBounds, 2},
		{"(1), 2", ErrBounds, 1}, {"::0", ErrBounds, 1}, {"2, 1:2:0", ErrBounds, 4}, {"\x00", ErrBounds, 1}, {"1:\x00", ErrBounds, 3},
		{"3, 9223372036854775808", ErrBounds, 4}, {"(,)", ErrBounds, 2}, {"é", ErrBounds, 1}, {"1]", ErrBounds, 2},
	} {
		sel, err := ParseSelection(x.text)
		if !errors.Is(err, x.err) || sel != nil {
			t.Errorf("%q: %v, error %v, want %v", x.text, sel, err, x.err)
			continue
		}
		if named := fmt.Sprintf("column %d:", x.column); !strings.Contains(err.Error(), named) {
			t.Errorf("%q: %v, want %s", x.text, err, named)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	for _, x := range []struct {
		shape []int64
		sel   []Index
		err   error
	}{
		{[]int64{3}, []Index{At(3)}, ErrBounds},
		{[]int64{3}, []Index{At(-4)}, ErrBounds},
		{[]int64{3}, []Index{At(math.MinInt64)}, ErrBounds},
		{[]int64{0}, []Index{At(0)}, ErrBounds},
		{nil, []Index{All}, ErrBounds},
		{[]int64{3}, []Index{All, All}, ErrBounds},
		{[]int64{3}, []Index{Ellipsis, Ellipsis}, ErrBounds},
		{[]int64{3}, []Index{Step(0, 1, 0)}, ErrBounds},
		{[]int64{3}, []Index{nil}, ErrBounds},
		{[]int64{3}, []Index{marker(7)}, ErrBounds},
		{[]int64{3}, slices.Repeat([]Index{NewAxis}, maxResultDims), ErrBounds},
		{make([]int64, 17), nil, ErrShape},
		{[]int64{1 << 40, 1 << 40}, nil, ErrTooLarge},
	} {
		if s, err := resolve(x.shape, x.sel); !errors.Is(err, x.err) {
			t.Errorf("%v of %v: %v, error %v, want %v", x.sel, x.shape, s.shape(), err, x.err)
		}
	}
	s, err := resolve([]int64{3}, append(slices.Repeat([]Index{NewAxis}, maxResultDims), At(1)))
	if err != nil || len(s.shape()) != maxResultDims || s.items != 1 {
		t.Errorf("%v, %v", s.shape(), err)
	}
}

func TestResolveAllocates(t *testing.T) {
	shape, i := []int64{5000, 6000, 700}, int64(1000)
	if n := testing.AllocsPerRun(100, func() {
		if s, err := resolve(shape, []Index{At(i), All, Span(i/3, 2*i)}); err != nil || s.items == 0 {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzSelection checks that any text gives an error or a selection inside the array that its own notation repeats.
func FuzzSelection(f *testing.F) {
	for _, s := range []string{"", "2:5, ..., ::-1", "(1, None)", "[...]", "-1:-9:-2,0", "9223372036854775807::-9223372036854775807",
		"[]", "[3, -1], :", "[[3], [1]], 0", "True, ...", "[True, False]", "[[[]], []]"} {
		f.Add(s, int64(7), int64(4))
	}
	f.Add("::3", int64(math.MaxInt64), int64(1))
	f.Fuzz(func(t *testing.T, text string, n0, n1 int64) {
		if n0 < 0 || n1 < 0 {
			return
		}
		shape := []int64{n0, n1}
		sel, err := ParseSelection(text)
		if err != nil {
			if !errors.Is(err, ErrBounds) && !errors.Is(err, ErrUnsupported) {
				t.Fatal(err)
			}
			return
		}
		s, err := resolve(shape, sel)
		if err != nil {
			if !errors.Is(err, ErrBounds) && !errors.Is(err, ErrTooLarge) {
				t.Fatal(err)
			}
			return
		}
		for i, a := range s.axes[:2] {
			if s.place.owner[i] > 0 {
				continue // listed
			}
			if a.count < 0 || a.count > shape[i] || a.step == 0 || a.count < 2 && a.step != 1 {
				t.Fatalf("axis %d of %v: %+v", i, shape, a)
			}
			if last := a.start + (a.count-1)*a.step; a.count > 0 && (a.start < 0 || a.start >= shape[i] || last < 0 || last >= shape[i]) {
				t.Fatalf("axis %d of %v: %+v", i, shape, a)
			}
		}
		checkNotation(t, shape, sel, &s)
	})
}
