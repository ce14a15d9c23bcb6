package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// optional matches fixtures with a codec or filter that this version may not support. The error must then name it.
var optional = regexp.MustCompile(`(ndlz|zfp_acc|zfp_prec|zfp_rate|ndcell|ndmean|int_trunc|dict_|shufbd|snappy)`)

// unsupported reports whether an error names the unsupported codec or filter of a fixture.
func unsupported(c fixture, errOut string) bool {
	word := optional.FindString(c.File)
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
				t.Errorf("%s: the data differs", c.File)
			}
			read++
			if report := must(t, "", "verify", c.Path); report != "" {
				t.Errorf("%s: faults: %s", c.File, report)
			}
			for _, s := range c.Slices {
				sel := notation(s.Start, s.Stop, s.Step)
				if got := must(t, "", "slice", c.Path, sel); sum([]byte(got)) != s.SHA256 {
					t.Errorf("%s[%s]: the data differs", c.File, sel)
				}
				slices++
			}
		}
	}
	if read < 390 || slices < 700 {
		t.Errorf("read %d files and %d slices", read, slices)
	}
}

// TestDumpInPieces compares the output with little memory and with enough memory.
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
			got, err := inPieces(t, slab, "", "dump", path)
			if err != nil || got != whole {
				t.Errorf("%s in pieces of %d bytes: %d bytes of %d (%v)", name, slab, len(got), len(whole), err)
			}
		}
	}
	path := fixturesDir + "/legacy/legacy_caterva_3d_c.b2nd"
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
	}
	fails(t, 1, "out of range", "", "slice", path, "1000")
	fails(t, 1, "column 1", "", "slice", path, "x")
	fails(t, 1, "not an array", "", "slice", fixturesDir+"/python-blosc2/schunk_zstd.b2frame", ":")
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
		n, _ := byteCount(h.Shape, h.DType.Size)
		if !strings.HasSuffix(npy, plain) || int64(len(plain)) != n || (len(npy)-len(plain))%64 != 0 {
			t.Errorf("%s: %d bytes for %v %v", name, len(plain), h.Shape, h.DType)
		}
	}
	path := fixturesDir + "/python-blosc2/meta.b2nd"
	if got := must(t, "", "slice", "-npy", path, "3, None, ::-4"); !strings.Contains(got, "'shape': (1, 5)") {
		t.Errorf("%q", got)
	}
}
