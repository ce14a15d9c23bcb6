package selection

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/golden"
)

// TestNotation compares indexes with the indexes parsed from their notation.
func TestNotation(t *testing.T) {
	shape := []int64{7, 6, 5}
	for _, x := range []struct {
		sel  []Index
		text string
	}{
		{nil, ""},
		{[]Index{Point(3), All, Span{2, 5, 1}}, "3, :, 2:5"},
		{[]Index{Point(-7), NewAxis, Ellipsis, Span{-2, None, 1}}, "-7, None, ..., -2:"},
		{[]Index{Span{None, 3, 1}, Span{None, -3, 1}}, ":3, :-3"},
		{[]Index{Span{None, None, -1}, Span{0, 10, 2}, Span{4, None, -3}}, "::-1, 0:10:2, 4::-3"},
		{[]Index{Span{None, 2, 1}, Span{2, None, 1}, Span{None, None, 1}}, ":2, 2:, :"},
		{[]Index{Span{0, 7, math.MinInt64}, Span{6, None, math.MinInt64}, Span{0, 5, math.MaxInt64}},
			"0:7:-99999999999999999999, 6::-9223372036854775807, 0:5:99999999999999999999"},
	} {
		parsed, err := Parse(x.text)
		if err != nil {
			t.Fatal(err)
		}
		got, err1 := Resolve(shape, x.sel)
		want, err2 := Resolve(shape, parsed)
		if err1 != nil || err2 != nil || got != want {
			t.Errorf("%s: %+v (%v), want %+v (%v)", x.text, got, err1, want, err2)
		}
	}
}

// TestParseSelectionForms parses selections in brackets and parentheses.
func TestParseSelectionForms(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "()": "", " ( ) ": "", "\t\n": "", "3,": "3", "(3,)": "3", "(1, 2)": "1, 2", "[:]": ":", "[2:5, ...]": "2:5, ...",
		"[1, None]": "1, None", "[(1, :)]": "1, :", " +3 ": "3", "007": "7", "1 : 2 : 3": "1:2:3", "1::": "1:", "::": ":", "::1": ":",
		"None:2": ":2", "1:None, None": "1:, None", "::None": ":", "None:None:-1": "::-1", "[None : None]": ":",
		"None:3:None": ":3", "1:2:": "1:2", "newaxis,np.newaxis,numpy.newaxis": "None, None, None", "Ellipsis": "...", "-0": "0", "..., ": "...",
		"::-1": "::-1", "-9223372036854775808:": "-9223372036854775807:",
	} {
		sel, err := Parse(text)
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

// TestParseSelectionErrors checks that errors name the column.
func TestParseSelectionErrors(t *testing.T) {
	for _, x := range []struct {
		text   string
		err    error
		column int
	}{
		{",", frame.ErrBounds, 1}, {"1,,2", frame.ErrBounds, 3}, {"1 2", frame.ErrBounds, 3}, {"a", frame.ErrBounds, 1}, {"1, b:2", frame.ErrBounds, 4},
		{"--1", frame.ErrBounds, 2}, {"-", frame.ErrBounds, 2}, {"1:2:3:4", frame.ErrBounds, 6}, {"..", frame.ErrBounds, 1}, {"....", frame.ErrBounds, 4},
		{"1.5", frame.ErrBounds, 2}, {"0x10", frame.ErrBounds, 2}, {"1:-", frame.ErrBounds, 4}, {"(1", frame.ErrBounds, 1}, {"1)", frame.ErrBounds, 2},
		{"(1), 2", frame.ErrBounds, 1}, {"::0", frame.ErrBounds, 1}, {"2, 1:2:0", frame.ErrBounds, 4}, {"\x00", frame.ErrBounds, 1}, {"1:\x00", frame.ErrBounds, 3},
		{"3, 9223372036854775808", frame.ErrBounds, 4}, {"(,)", frame.ErrBounds, 2}, {"é", frame.ErrBounds, 1}, {"1]", frame.ErrBounds, 2},
	} {
		sel, err := Parse(x.text)
		if !errors.Is(err, x.err) || sel != nil {
			t.Errorf("%q: %v, error %v, want %v", x.text, sel, err, x.err)
			continue
		}
		if named := fmt.Sprintf("column %d:", x.column); !strings.Contains(err.Error(), named) {
			t.Errorf("%q: %v, want %s", x.text, err, named)
		}
	}
}

// TestResolveErrors checks the errors of selections that do not match a shape.
func TestResolveErrors(t *testing.T) {
	for _, x := range []struct {
		shape []int64
		sel   []Index
		err   error
	}{
		{[]int64{3}, []Index{Point(3)}, frame.ErrBounds},
		{[]int64{3}, []Index{Point(-4)}, frame.ErrBounds},
		{[]int64{3}, []Index{Point(math.MinInt64)}, frame.ErrBounds},
		{[]int64{0}, []Index{Point(0)}, frame.ErrBounds},
		{nil, []Index{All}, frame.ErrBounds},
		{[]int64{3}, []Index{All, All}, frame.ErrBounds},
		{[]int64{3}, []Index{Ellipsis, Ellipsis}, frame.ErrBounds},
		{[]int64{3}, []Index{Span{0, 1, 0}}, frame.ErrBounds},
		{[]int64{3}, []Index{nil}, frame.ErrBounds},
		{[]int64{3}, []Index{Marker(7)}, frame.ErrBounds},
		{[]int64{3}, slices.Repeat([]Index{NewAxis}, MaxResultDims), frame.ErrBounds},
		{make([]int64, 17), nil, errs.ErrShape},
		{[]int64{1 << 40, 1 << 40}, nil, errs.ErrTooLarge},
	} {
		if s, err := Resolve(x.shape, x.sel); !errors.Is(err, x.err) {
			t.Errorf("%v of %v: %v, error %v, want %v", x.sel, x.shape, s.Shape(), err, x.err)
		}
	}
	s, err := Resolve([]int64{3}, append(slices.Repeat([]Index{NewAxis}, MaxResultDims), Point(1)))
	if err != nil || len(s.Shape()) != MaxResultDims || s.Items != 1 {
		t.Errorf("%v, %v", s.Shape(), err)
	}
}

// TestResolveAllocates checks that Resolve allocates nothing.
func TestResolveAllocates(t *testing.T) {
	shape, i := []int64{5000, 6000, 700}, int64(1000)
	if n := testing.AllocsPerRun(100, func() {
		if s, err := Resolve(shape, []Index{Point(i), All, Span{i / 3, 2 * i, 1}}); err != nil || s.Items == 0 {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzSelection parses any text. The result must be an error, or a selection inside the array whose notation parses to
// the same selection.
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
		sel, err := Parse(text)
		if err != nil {
			if !errors.Is(err, frame.ErrBounds) && !errors.Is(err, errors.ErrUnsupported) {
				t.Fatal(err)
			}
			return
		}
		s, err := Resolve(shape, sel)
		if err != nil {
			if !errors.Is(err, frame.ErrBounds) && !errors.Is(err, errs.ErrTooLarge) {
				t.Fatal(err)
			}
			return
		}
		for i, a := range s.Axes[:2] {
			if s.ListAxes.owner[i] > 0 {
				continue // listed
			}
			if a.Count < 0 || a.Count > shape[i] || a.Step == 0 || a.Count < 2 && a.Step != 1 {
				t.Fatalf("axis %d of %v: %+v", i, shape, a)
			}
			if last := a.Start + (a.Count-1)*a.Step; a.Count > 0 && (a.Start < 0 || a.Start >= shape[i] || last < 0 || last >= shape[i]) {
				t.Fatalf("axis %d of %v: %+v", i, shape, a)
			}
		}
		checkNotation(t, shape, sel, &s)
	})
}

// positions returns the positions in C order of the selected items, in the order of the result.
func positions(shape []int64, s *Selection) []int64 {
	if s.Items == 0 { // other axes may be too long to iterate over
		return nil
	}
	list := []int64{0}
	for i, n := range shape {
		var next []int64
		for _, p := range list {
			for k := range s.Axes[i].Count {
				next = append(next, p*n+s.Axes[i].Start+k*s.Axes[i].Step)
			}
		}
		list = next
	}
	return list
}

// TestSelectionsAsNumPy compares selections with NumPy's results in a file that testdata/selections.py wrote.
func TestSelectionsAsNumPy(t *testing.T) {
	lines, failed := golden.Lines(t, "testdata/selections.txt.gz"), 0
	for _, line := range lines {
		f := strings.Split(line, ";")
		if f[0] == "long" {
			checkLongSlice(t, line, f)
			continue
		}
		shape := golden.Ints(t, f[0])
		sel, err := Parse(f[1])
		var s Selection
		if err == nil {
			s, err = Resolve(shape, sel)
		}
		if f[2] == "error" {
			if failed++; !errors.Is(err, frame.ErrBounds) {
				t.Errorf("%s: error %v", line, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if !slices.Equal(s.Shape(), golden.Ints(t, f[2])) {
			t.Errorf("%s: shape %v", line, s.Shape())
		}
		sum, at := crc32.NewIEEE(), positions(shape, &s)
		binary.Write(sum, binary.LittleEndian, at)
		if want, _ := strconv.ParseUint(f[3], 16, 32); uint64(sum.Sum32()) != want || int64(len(at)) != s.Items {
			t.Errorf("%s: items %v differ", line, at)
		}
		checkNotation(t, shape, sel, &s)
	}
	if len(lines) < 5000 || failed < 100 {
		t.Errorf("%d cases, %d of them errors", len(lines), failed)
	}
}

// checkNotation checks that the String methods return the parsed notation.
func checkNotation(t *testing.T, shape []int64, sel []Index, want *Selection) {
	t.Helper()
	words := make([]string, len(sel))
	for i, x := range sel {
		words[i] = x.String()
	}
	text := strings.Join(words, ", ")
	again, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if got, err := Resolve(shape, again); err != nil || got != *want {
		t.Fatalf("%s: %v after a round trip (%v)", text, got, err)
	}
}

func checkLongSlice(t *testing.T, line string, f []string) {
	n := golden.Ints(t, f[1])
	sel, err := Parse(f[2])
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	s, err := Resolve(n, sel)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	start, _ := strconv.ParseInt(f[3], 10, 64)
	step, _ := strconv.ParseInt(f[4], 10, 64) // a step that does not fit in 64 bits becomes the nearest number
	count, _ := strconv.ParseInt(f[5], 10, 64)
	a := s.Axes[0]
	if a.Count != count || count > 0 && a.Start != start || count > 1 && a.Step != step || count < 2 && a.Step != 1 {
		t.Errorf("%s: %+v", line, a)
	}
}
