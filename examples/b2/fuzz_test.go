package main

import (
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// FuzzNPYHeader checks that a header is read or refused, and that what is read is written and read again alike.
func FuzzNPYHeader(f *testing.F) {
	f.Add("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }")
	f.Add("{'descr': \"|S3\", 'fortran_order': True, 'shape': (), }")
	f.Add("{'descr': [('a', '<i4'), ('', '|V4'), (('t', 'b'), '<f8', (2, 3))], 'fortran_order': False, 'shape': (2,), }")
	f.Add("{'descr': [('日', '>c16')], 'fortran_order': False, 'shape': (2, 0), }")
	f.Fuzz(func(t *testing.T, text string) {
		b := npyHeader(text)
		h, err := readNPYHeader(strings.NewReader(string(b)))
		if err != nil {
			return
		}
		var out strings.Builder
		if err := writeNPYHeader(&out, h.dtype, h.shape); err != nil {
			return
		}
		again, err := readNPYHeader(strings.NewReader(out.String()))
		if err != nil {
			t.Fatalf("%q written as %q: %v", b, out.String(), err)
		}
		if h.dtype.Elem == nil && (again.dtype.Size != h.dtype.Size || pyTuple(again.shape) != pyTuple(h.shape)) {
			t.Fatalf("%q: %v %v, then %v %v", b, h.dtype, h.shape, again.dtype, again.shape)
		}
	})
}

// FuzzJSON checks that what is packed is shown as JSON that packs to the same bytes.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"1", "-2.5e3", `{"b": [1, "x", null], "a": {}}`, `"\ud83d\ude00"`, "18446744073709551615", "1e400", "[[[]]]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := packJSON(s)
		if err != nil || strings.Contains(s, "__tuple__") {
			return
		}
		text, err := unpackJSON(b)
		if err != nil {
			t.Fatalf("%q packed as %x: %v", s, b, err)
		}
		again, err := packJSON(text)
		if err != nil || string(again) != string(b) {
			t.Fatalf("%q packed as %x, shown as %s, packed as %x (%v)", s, b, text, again, err)
		}
	})
}

// FuzzSlice checks that a selection read in small pieces is the one read at once.
func FuzzSlice(f *testing.F) {
	path := fixturesDir + "/legacy/legacy_caterva_2d_c.b2nd"
	for _, s := range []string{":", "3, ::-2", "None, ..., -1", "30:2:-3, 5:1", "-40:40"} {
		f.Add(s, uint16(50))
	}
	f.Fuzz(func(t *testing.T, sel string, slab uint16) {
		if _, err := ndarray.ParseSelection(sel); err != nil || strings.HasPrefix(sel, "-") {
			return
		}
		whole, err1 := inPieces(t, 1<<20, 1<<20, "", "slice", path, sel)
		parts, err2 := inPieces(t, int64(slab)+1, 1, "", "slice", path, sel)
		if whole != parts || (err1 == nil) != (err2 == nil) {
			t.Fatalf("[%s] in pieces of %d: %d bytes, %d at once (%v, %v)", sel, slab, len(parts), len(whole), err1, err2)
		}
	})
}
