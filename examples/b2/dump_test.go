package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/meta"
)

// newer are the names of fixtures whose codec or filter may be missing in this version: then the error must name it.
var newer = regexp.MustCompile(`(ndlz|zfp_acc|zfp_prec|zfp_rate|ndcell|ndmean|int_trunc|dict_|shufbd|snappy)`)

// unsupported tells whether a failure is that of a feature that is missing, and says which.
func unsupported(c fixture, errOut string) bool {
	word := newer.FindString(c.File)
	switch word {
	case "dict_":
		word = "dictionary"
	case "shufbd":
		word = "bytedelta"
	}
	return word != "" && strings.Contains(errOut, "unsupported") && strings.Contains(errOut, word)
}

// notation returns a slice of a manifest in NumPy's notation.
func notation(start, stop, step []int64) string {
	var s []string
	for i := range start {
		s = append(s, fmt.Sprintf("%d:%d:%d", start[i], stop[i], step[i]))
	}
	return strings.Join(s, ", ")
}

func TestDumpAndSliceFixtures(t *testing.T) {
	read, slices := 0, 0
	for _, folder := range []string{"python-blosc2", "legacy", "blosc1"} {
		for _, c := range fixtures(t, folder) {
			code, out, errOut := call(t, "", "dump", c.Path)
			if code != 0 {
				if !unsupported(c, errOut) {
					t.Errorf("%s: %s", c.File, errOut)
				}
				continue
			}
			if sum(out) != c.SHA256 {
				t.Errorf("%s: other content", c.File)
			}
			read++
			if report := must(t, "", "verify", c.Path); report != "" {
				t.Errorf("%s: faults: %s", c.File, report)
			}
			for _, s := range c.Slices {
				sel := notation(s.Start, s.Stop, s.Step)
				if got := must(t, "", "slice", c.Path, sel); sum([]byte(got)) != s.SHA256 {
					t.Errorf("%s[%s]: other content", c.File, sel)
				}
				slices++
			}
		}
	}
	if read < 390 || slices < 700 {
		t.Errorf("%d files and %d slices were read", read, slices)
	}
}

// TestDumpInPieces compares reading in small pieces with reading at once.
func TestDumpInPieces(t *testing.T) {
	for _, name := range []string{
		"python-blosc2/part_0_f8.b2nd", "python-blosc2/part_3_V5.b2nd", "python-blosc2/defaults_i4_3d.b2nd", "python-blosc2/shape_00.b2nd",
		"python-blosc2/shape_05.b2nd", "python-blosc2/shape_11.b2nd", "legacy/legacy_caterva_3d_c.b2nd", "python-blosc2/edited_sframe",
		"python-blosc2/schunk_append_c.b2frame", "python-blosc2/chunk_zstd_shuffle_12.chunk", "python-blosc2/zeros.b2nd",
	} {
		path := fixturesDir + "/" + name
		whole := must(t, "", "dump", path)
		if len(whole) > 500000 {
			t.Fatalf("%s is too large for this test", name)
		}
		for _, slab := range []int64{1, 100, 3000, 50000} {
			if int64(len(whole))/slab > 1000 { // too many reads for a test
				continue
			}
			got, err := inPieces(t, slab, slab, "", "dump", path)
			if err != nil || got != whole {
				t.Errorf("%s in pieces of %d bytes: %d bytes of %d (%v)", name, slab, len(got), len(whole), err)
			}
		}
	}
	path := fixturesDir + "/legacy/legacy_caterva_3d_c.b2nd"
	for _, sel := range []string{"::-1", "..., ::-2", "3, None, 2:, ::3", "-1", "..., -2", "5:1:-3, ::-1", "2:2", "None, ..., 1:4", "::7, ::-1, -3", ":100, -100:"} {
		whole := must(t, "", "slice", path, sel)
		for _, slab := range []int64{1, 7, 100, 1000} {
			got, err := inPieces(t, slab, slab, "", "slice", path, sel)
			if err != nil || got != whole {
				t.Errorf("[%s] in pieces of %d bytes: %d bytes of %d (%v)", sel, slab, len(got), len(whole), err)
			}
		}
	}
	for sel, parts := range map[string][]string{
		"[3, 1, 3], 2": {"3, 2", "1, 2", "3, 2"}, "0, ..., [2, -1]": nil, "[True, False, True, True], 1, 2": nil, "[0], ::-1, [1]": {"0, ::-1, 1"},
	} {
		code, got, _ := call(t, "", "slice", path, sel)
		if strings.Contains(sel, "True") { // a mask of another length
			if code != 1 {
				t.Errorf("[%s]: exit %d", sel, code)
			}
			continue
		}
		want := ""
		for _, p := range parts {
			want += must(t, "", "slice", path, p)
		}
		if code != 0 || len(got) == 0 || parts != nil && string(got) != want {
			t.Errorf("[%s]: exit %d, %d bytes, want %d", sel, code, len(got), len(want))
		}
		pieces, err := inPieces(t, 1, 1, "", "slice", path, sel)
		if err != nil || pieces != string(got) {
			t.Errorf("[%s] with little memory: %v", sel, err)
		}
	}
	fails(t, 1, "out of bounds", "", "slice", path, "1000")
	fails(t, 1, "column 1", "", "slice", path, "x")
	fails(t, 1, "not an array", "", "slice", fixturesDir+"/python-blosc2/schunk_zstd.b2frame", ":")
}

// TestNPYHeader compares with what numpy.save of NumPy 2.2 writes.
func TestNPYHeader(t *testing.T) {
	for _, c := range []struct {
		dtype   string
		shape   []int64
		version byte
		size    int
		text    string
	}{
		{"<f4", nil, 1, 128, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }"},
		{">f8", []int64{0}, 1, 128, "{'descr': '>f8', 'fortran_order': False, 'shape': (0,), }"},
		{"|u1", []int64{7}, 1, 128, "{'descr': '|u1', 'fortran_order': False, 'shape': (7,), }"},
		{"<U6", []int64{3, 4}, 1, 128, "{'descr': '<U6', 'fortran_order': False, 'shape': (3, 4), }"},
		{"<M8[25s]", []int64{1e9, 0}, 1, 128, "{'descr': '<M8[25s]', 'fortran_order': False, 'shape': (1000000000, 0), }"},
		{"?", []int64{1, 2, 3}, 1, 128, "{'descr': '|b1', 'fortran_order': False, 'shape': (1, 2, 3), }"},
		{"('<i4', (2, 3))", []int64{5}, 1, 128, "{'descr': '<i4', 'fortran_order': False, 'shape': (5, 2, 3), }"},
		{"[('a', '<i4'), ('b', '<f8', (2, 3))]", []int64{2}, 1, 128, "{'descr': [('a', '<i4'), ('b', '<f8', (2, 3))], 'fortran_order': False, 'shape': (2,), }"},
		{"[(('title', 'n'), '<i2'), ('c', [('x', '<f4'), ('y', '|V3')])]", []int64{2}, 1, 192,
			"{'descr': [(('title', 'n'), '<i2'), ('c', [('x', '<f4'), ('y', '|V3')])], 'fortran_order': False, 'shape': (2,), }"},
		{"{'names':['a','b'],'formats':['i1','<f8'],'offsets':[2,8],'itemsize':24}", []int64{2}, 1, 192,
			"{'descr': [('', '|V2'), ('a', '|i1'), ('', '|V5'), ('b', '<f8'), ('', '|V8')], 'fortran_order': False, 'shape': (2,), }"},
		{"[('é', '<i4')]", []int64{1}, 1, 128, "{'descr': [('\xe9', '<i4')], 'fortran_order': False, 'shape': (1,), }"},
		{"[('日', '<i4')]", []int64{1}, 3, 128, "{'descr': [('日', '<i4')], 'fortran_order': False, 'shape': (1,), }"},
		{`[("it's", '<i4'), ('q"', 'i1'), ('t\t\\', 'i1')]`, []int64{1}, 1, 192,
			`{'descr': [("it's", '<i4'), ('q"', '|i1'), ('t\t\\', '|i1')], 'fortran_order': False, 'shape': (1,), }`},
	} {
		d, err := meta.ParseDType(c.dtype)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := writeNPYHeader(&b, d, c.shape); err != nil {
			t.Errorf("%s: %v", c.dtype, err)
			continue
		}
		got, start := b.Bytes(), 10
		if c.version == 3 {
			start = 12
		}
		if len(got) != c.size || got[6] != c.version || strings.TrimRight(string(got[start:len(got)-1]), " ") != c.text || got[len(got)-1] != '\n' {
			t.Errorf("%s: %q", c.dtype, got)
		}
		h, err := readNPYHeader(&b)
		if err != nil || b.Len() != 0 || h.fortran {
			t.Fatalf("%s read again: %+v, %v", c.dtype, h, err)
		}
		for d.Elem != nil {
			c.shape, d = append(c.shape, 2, 3), *d.Elem
		}
		if h.dtype.String() != d.String() || pyTuple(h.shape) != pyTuple(c.shape) {
			t.Errorf("%s read again: %v %v", c.dtype, h.dtype, h.shape)
		}
	}
	for _, dtype := range []string{"O", "{'names':['a','b'],'formats':['<i4','<i4'],'offsets':[0,2]}"} {
		d, err := meta.ParseDType(dtype)
		if err != nil {
			t.Fatal(err)
		}
		if err := writeNPYHeader(new(bytes.Buffer), d, nil); err == nil {
			t.Errorf("%s was written", dtype)
		}
	}
}

func TestBadNPYHeaders(t *testing.T) {
	good := "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }"
	if h, err := parseNPYText(good); err != nil || h.dtype.Size != 4 {
		t.Fatal(err)
	}
	for _, text := range []string{
		"", "{", "{}", "[]", "{'descr': '<i4'}", strings.Replace(good, "False", "Maybe", 1), strings.Replace(good, "(2,)", "2", 1),
		strings.Replace(good, "(2,)", "(x,)", 1), strings.Replace(good, "<i4", "<q9", 1), strings.Replace(good, "'<i4'", "('<i4'", 1),
		strings.Replace(good, "'<i4'", "", 1), strings.Replace(good, ":", "", 1),
	} {
		if _, err := parseNPYText(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
	for _, in := range []string{
		npyMagic, npyMagic + "\x01\x00", npyMagic + "\x01\x00\x40\x00{", npyMagic + "\x04\x00\x40\x00{",
		npyMagic + "\x02\x00\xff\xff\xff\xff", npyMagic + "\x02\x00\x01",
	} {
		fails(t, 1, ".npy", in, "create", t.TempDir()+"/x")
	}
}

func TestDumpNPY(t *testing.T) {
	for name, header := range map[string]string{
		"python-blosc2/shape_00.b2nd":              "'shape': ()",
		"python-blosc2/dtype_struct.b2nd":          "'descr': [(",
		"python-blosc2/schunk_ts1.b2frame":         "'descr': '|u1'",
		"python-blosc2/schunk_ts255.b2frame":       "'descr': '|V255'",
		"python-blosc2/chunk_zstd_shuffle_4.chunk": "'descr': '|V4'",
		"legacy/legacy_b2nd_draft6_2d_s.b2nd":      "'descr': '<i4'",
		"python-blosc2/schunk_empty.b2frame":       "(0,)",
	} {
		path := fixturesDir + "/" + name
		plain, npy := must(t, "", "dump", path), must(t, "", "dump", "-npy", path)
		h, err := readNPYHeader(strings.NewReader(npy))
		if err != nil || !strings.Contains(npy, header) {
			t.Fatalf("%s: %q (%v)", name, npy[:min(200, len(npy))], err)
		}
		n, _ := byteCount(h.shape, h.dtype.Size)
		if !strings.HasSuffix(npy, plain) || int64(len(plain)) != n || (len(npy)-len(plain))%64 != 0 {
			t.Errorf("%s: %d bytes for %v %v", name, len(plain), h.shape, h.dtype)
		}
	}
	path := fixturesDir + "/python-blosc2/meta.b2nd"
	if got := must(t, "", "slice", "-npy", path, "3, None, ::-4"); !strings.Contains(got, "'shape': (1, 5)") {
		t.Errorf("%q", got)
	}
}
