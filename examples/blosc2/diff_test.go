package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// itemsArray creates an array from items of fixed size, and returns its name.
func itemsArray(t *testing.T, dtype string, items any) string {
	t.Helper()
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, items); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.b2nd")
	must(t, b.String(), "create", "-dtype", dtype, path)
	return path
}

// TestDiffComplex compares complex numbers by their distance. Equal infinities and NaNs have the distance 0.
func TestDiffComplex(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		a, b   complex128
		args   []string
		differ bool
	}{
		{3 + 4i, 0, []string{"-tolerance", "4.5"}, true},
		{3 + 4i, 0, []string{"-tolerance", "5"}, false},
		{3 + 4i, 3 + 4i, nil, false},
		{3 + 4i, 3 + 5i, nil, true},
		{8 + 6i, 8 + 6.5i, []string{"-relative", "0.05"}, false},
		{8 + 6i, 8 + 7i, []string{"-relative", "0.05"}, true},
		{10, 10 + 0.5i, []string{"-relative", "0.1"}, false}, // of which one part is 0
		{complex(nan, 1), complex(nan, 1), nil, false},
		{complex(nan, 1), complex(nan, 2), nil, true},
		{complex(nan, 1), complex(nan, 2), []string{"-tolerance", "1"}, false},
		{complex(nan, 1), complex(2, 1), []string{"-tolerance", "1e300"}, true},
		{complex(inf, 1), complex(inf, 1), nil, false},
		{complex(inf, 1), complex(inf, 5), []string{"-relative", "0.1"}, true},
		{complex(inf, 1), complex(-inf, 1), []string{"-tolerance", "inf"}, true},
		{complex(math.MaxFloat64, 1), complex(math.MaxFloat64, math.MaxFloat64), []string{"-relative", "0.5"}, true},
	} {
		a, b := itemsArray(t, "<c16", c.a), itemsArray(t, "<c16", c.b)
		code, out, errOut := callFree("", append([]string{"diff", a, b}, c.args...)...)
		if (code == 1) != c.differ || code == 2 {
			t.Errorf("%v and %v, %v: exit %d, %s%s", c.a, c.b, c.args, code, out, errOut)
		}
	}
}

// TestDiffLate compares a box whose items all differ, after those that are printed. It takes no memory for each item.
func TestDiffLate(t *testing.T) {
	u1, err := meta.ParseDType("|u1")
	if err != nil {
		t.Fatal(err)
	}
	const items = 10000
	one, two := make([]byte, items), bytes.Repeat([]byte{1}, items)
	d := &differ{options: &diffCmd{Count: 1}, a: u1, b: u1, shape: []int64{2, 1, 1, 1, 1, 1, 1, items}, first: []differing{{at: 0}}}
	box := ndarray.Box{Start: []int64{1, 0, 0, 0, 0, 0, 0, 0}, Shape: []int64{1, 1, 1, 1, 1, 1, 1, items}}
	if n := testing.AllocsPerRun(1, func() { d.box(box, one, two) }); n > 100 {
		t.Errorf("%v allocations for %d items", n, items)
	}
	if d.count != 2*items || len(d.first) != 1 || d.first[0].at != 0 {
		t.Errorf("%d items differ, the first are %v", d.count, d.first)
	}
}

// TestDiffMixed compares integers that float64 cannot represent with floats.
func TestDiffMixed(t *testing.T) {
	for _, c := range []struct {
		dtype     string
		n         uint64
		x         float64
		tolerance string
		distance  string // "" if they are equal
	}{
		{"<i8", 1<<53 + 1, 1 << 53, "0", "1.0"},
		{"<i8", 1<<53 + 1, 1<<53 + 2, "0", "1.0"},
		{"<i8", 1<<53 + 1, 1<<53 + 2, "1", ""},
		{"<i8", 1<<53 + 1, 1 << 53, "0.5", "1.0"},
		{"<i8", 1 << 53, 1 << 53, "0", ""},
		{"<i8", 1<<63 - 1, 1 << 63, "0", "1.0"},
		{"<i8", 1 << 63, -1 << 63, "0", ""},
		{"<i8", 1<<63 + 1, -1 << 63, "0", "1.0"},
		{"<i8", 1<<64 - 1, -1 - 0x1p-52, "0", "2.220446049250313e-16"},
		{"<i8", 1<<64 - 3000, -3000, "0", ""},
		{"<u8", 1<<64 - 1, 1 << 64, "0", "1.0"},
		{"<u8", 1<<64 - 1, 1 << 64, "1", ""},
		{"<u8", 1 << 63, 1 << 63, "0", ""},
		{"<u8", 5, 5.5, "0", "0.5"},
		{"<u8", 1<<64 - 1, math.Inf(1), "0", "inf"},
	} {
		integers, floats := itemsArray(t, c.dtype, c.n), itemsArray(t, "<f8", c.x)
		for _, args := range [][]string{{integers, floats}, {floats, integers}} {
			out := differs(t, 1, append([]string{"-tolerance", c.tolerance}, args...)...) // of the dtypes, too
			if want := ", largest distance " + c.distance + "\n"; c.distance != "" && !strings.Contains(out, want) || c.distance == "" && strings.Contains(out, "items:") {
				t.Errorf("%s %d and %v, tolerance %s: %q", c.dtype, c.n, c.x, c.tolerance, out)
			}
		}
	}
	if out := differs(t, 1, itemsArray(t, "<i8", uint64(1<<53+1)), itemsArray(t, "<f8", math.NaN())); !strings.Contains(out, "1 of 1 differ\n") {
		t.Errorf("%q", out)
	}
}
