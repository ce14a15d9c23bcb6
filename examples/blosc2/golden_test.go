package main

import (
	"encoding/binary"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files of testdata/golden")

// golden compares output with a file of testdata/golden. Paths of the test data are shortened.
func golden(t *testing.T, name, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, fixturesDir+"/", "")
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		writeGolden(t, path, got)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%swant\n%s", name, got, want)
	}
}

// writeGolden writes a file.
func writeGolden(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestGolden compares the output of verbs with the files of testdata/golden.
func TestGolden(t *testing.T) {
	dir := fixturesDir + "/"
	for name, line := range map[string]string{
		"info_array":       "info python-blosc2/part_3_V5.b2nd",
		"info_several":     "info python-blosc2/vlmeta.b2nd python-blosc2/schunk_append_s blosc1/blosc1_snappy_f1_ts4.chunk",
		"info_json":        "info -json python-blosc2/meta.b2nd python-blosc2/chunk_zlib_bitshuffle_12.chunk",
		"info_chunks":      "info -chunks python-blosc2/edited_sframe",
		"info_chunks_leaf": "info -chunks stores/tree.b2z/img/level0",
		"info_tree":        "info -tree stores/tree.b2z",
		"info_tree_group":  "info -tree stores/tree.b2d/img",
		"ls":               "ls stores/tree.b2z",
		"ls_json":          "ls -json stores/embed.b2e",
		"slice_text":       "slice -text stores/tree.b2z/img/level0 ...",
		"slice_list":       "slice -text python-blosc2/dtype_f8.b2nd [3,1],:4",
		"slice_f2":         "slice -text python-blosc2/dtype_f2.b2nd :3,:4",
		"slice_c8":         "slice -text python-blosc2/dtype_c8.b2nd :3,:4",
		"slice_bool":       "slice -text python-blosc2/dtype_bool.b2nd :3,:4",
		"slice_dates":      "slice -text python-blosc2/dtype_M8_s.b2nd :3,:4",
		"slice_durations":  "slice -text python-blosc2/dtype_m8_ns.b2nd :3,:4",
		"slice_bytes":      "slice -text python-blosc2/dtype_S5.b2nd :3,:4",
		"slice_unicode":    "slice -text python-blosc2/dtype_U6.b2nd :3,:4",
		"slice_struct":     "slice -text python-blosc2/dtype_struct_nested.b2nd :4",
		"slice_item":       "slice -text python-blosc2/dtype_f4.b2nd 0,0",
		"slice_csv":        "slice -csv python-blosc2/dtype_f4.b2nd :3,:4",
		"slice_csv_struct": "slice -csv python-blosc2/dtype_struct.b2nd :4",
		"ls_frame":         "ls python-blosc2/dtype_f4.b2nd",
		"table":            "table -text tables/t28_string_null.b2d",
		"table_wide":       "table -text tables/wide1.b2z",
		"table_dates":      "table -text tables/t42_timestamp_null.b2d",
		"stats":            "stats stores/tree.b2z/img/level0",
		"stats_dates":      "stats python-blosc2/dtype_M8_s.b2nd",
		"slice_csv_dates":  "slice -csv python-blosc2/dtype_M8_s.b2nd :3,:4",
	} {
		args := strings.Fields(line)
		for i, a := range args {
			if strings.Contains(a, "/") {
				args[i] = dir + a
			}
		}
		golden(t, name, must(t, "", args...))
	}
}

// TestNumPyText compares texts of floats with those that NumPy 2 prints.
func TestNumPyText(t *testing.T) {
	for _, c := range []struct{ csv, want string }{
		{"1,2.5", "[1.  2.5]"}, {"0.1,0.25,100", "[  0.1    0.25 100.  ]"}, {"1e-5,1.25", "[1.00e-05 1.25e+00]"}, {"nan,-inf,1", "[ nan -inf   1.]"},
		{"1e8,2e8", "[1.e+08 2.e+08]"}, {"0.333333333333333,-1", "[ 0.33333333 -1.        ]"}, {"0,0", "[0. 0.]"}, {"1e16,nan", "[1.e+16    nan]"},
	} {
		out := t.TempDir() + "/a"
		n := strings.Count(c.csv, ",") + 1
		must(t, strings.Repeat("\x00", 8*n), "create", "-dtype", "<f8", out)
		for i, x := range strings.Split(c.csv, ",") {
			must(t, "", "set", out, string(rune('0'+i)), "-value", x)
		}
		if got := must(t, "", "slice", "-text", out, ":"); got != c.want+"\n" {
			t.Errorf("%s: %q, want %q", c.csv, got, c.want)
		}
	}
}

// TestNumPyItems compares texts of small floats and of other items with those that NumPy 1.24 prints.
func TestNumPyItems(t *testing.T) {
	for _, c := range []struct{ dtype, items, want string }{
		{"<f2", "\xf2\xd4|4\"]", "[-7.912e+01  2.803e-01  3.285e+02]"},
		{"<f2", "\xff{f.", "[6.55e+04 1.00e-01]"},
		{"<f4", "\xac\xc5'7\x00\x00\xa0?33S@", "[1.00e-05 1.25e+00 3.30e+00]"},
		{"<f8", "0\x05\x8e\xe4.\xff++\xf1h\xe3\x88\xb5\xf8\xe4>", "[1.e-100 1.e-005]"},
		{"<f8", "\x9a\x99\x99\x99\x99\x99\xb9?X9\xb4\xc8\xd6\x1c\xc8@", "[1.0000000e-01 1.2345678e+04]"},
		{"?", "\x01", "[ True]"},
		{"?", "\x01\x00", "[ True False]"},
		{"<c8", "\x00\x00\x10A\x00\x00\x00\xc0\x00\x00\x80\xc1\x00\x00\x00B", "[  9. -2.j -16.+32.j]"},
		{"<c8", "\x00\x00\x80?\x00\x00\xc0?\x00\x00\x00@\x00\x00\x10@", "[1.+1.5j  2.+2.25j]"},
		{"<c16", "\x00\x00\x00\x00\x00\x00\xf0\x7f\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00@\x00\x00\x00\x00\x00\x00Y@", "[inf  +1.j  2.+100.j]"},
		{"<c16", "\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\xf8\x7f\x00\x00\x00\x00\x00\x00\x00@\x00\x00\x00\x00\x00\x00\x0c\xc0", "[1.+nanj 2.-3.5j]"},
		{"S3", "a\t\x00'\x00\x00\"'\x00", `[b'a\t' b"'" b'"\'']`},
		{"<U2", "\x07\x00\x00\x00\t\x00\x00\x00'\x00\x00\x00\x00\x00\x00\x00\x85\x00\x00\x00. \x00\x00", `['\x07\t' "'" '\x85\u202e']`},
		{"<U1", "\x00\xd8\x00\x00\x01\xd8\x00\x00\x00\x00\x11\x00\xff\xff\xff\xff\xfd\xff\x00\x00", `['\ud800' '\ud801' '\U00110000' '\Uffffffff' '�']`},
		{"V2", "ab\x00\x01", `[b'\x61\x62' b'\x00\x01']`},
		{"[('a', '?'), ('b', 'S2'), ('c', 'V1')]", "\x01\t\x00a", `[( True, b'\t', b'\x61')]`},
	} {
		out := t.TempDir() + "/a"
		must(t, c.items, "create", "-dtype", c.dtype, out)
		if got := must(t, "", "slice", "-text", out, ":"); got != c.want+"\n" {
			t.Errorf("%s: %q, want %q", c.dtype, got, c.want)
		}
	}
}

// TestNumPyNoItems prints no items that would have sub-arrays.
func TestNumPyNoItems(t *testing.T) {
	out := t.TempDir() + "/a"
	must(t, strings.Repeat("\x00", 27), "create", "-dtype", "[('a', '<i4', (2, 3)), ('b', 'S3')]", out)
	for _, sel := range []string{"0:0", "[]"} {
		if got := must(t, "", "slice", "-text", out, sel); got != "[] # shape (0,)\n" {
			t.Errorf("%s: %q", sel, got)
		}
	}
	must(t, "", "resize", out, "0")
	if _, got, _ := call(t, "", "view", out); hasTerminal && !strings.Contains(string(got), "no items") {
		t.Errorf("view: %q", got)
	}
}

// TestNumPyScalars compares texts of single items, and of structured items, with those that str of NumPy 1.24 returns.
func TestNumPyScalars(t *testing.T) {
	word := func(x uint64) string { return string(binary.LittleEndian.AppendUint64(nil, x)) }
	float := func(x float64) string { return word(math.Float64bits(x)) }
	for _, c := range []struct{ dtype, item, want string }{
		{"<f8", float(123456789.125), "123456789.125"}, {"<f8", float(1e300), "1e+300"}, {"<f8", word(0x3fd3333333333334), "0.30000000000000004"},
		{"<f8", float(2), "2.0"}, {"<f8", float(math.Inf(-1)), "-inf"}, {"<f2", "\xff\x7b", "65500.0"}, {"<f4", "\xac\xc5'7", "1e-05"},
		{"<c16", float(1.5) + float(-2), "(1.5-2j)"}, {"<c16", float(0) + float(1e16), "1e+16j"}, {"<c16", float(math.Copysign(0, -1)) + float(1), "(-0+1j)"},
		{"<c16", float(1) + float(math.NaN()), "(1+nanj)"}, {"?", "\x01", "True"}, {"S3", "a'b", `b"a'b"`}, {"<U2", "'\x00\x00\x00b\x00\x00\x00", "'b"},
		{"<M8[D]", word(1), "1970-01-02"}, {"<M8[s]", word(1 << 63), "NaT"}, {"<m8[h]", word(3), "3 hours"}, {"<m8[10s]", word(3), "30 seconds"},
		{"<m8[s]", word(1 << 63), "NaT"}, {"V2", "a\xff", `b'\x61\xFF'`},
		{"[('a', '<f8'), ('b', 'i1', (2, 2)), ('c', 'S1')]", float(123456789.125) + "\x00\x01\x02\xffx", `(1.23456789e+08, [[ 0,  1], [ 2, -1]], b'x')`},
		{"[('a', '<f8', (2,))]", float(1) + float(2.5), "([1. , 2.5],)"}, {"[('a', 'V1')]", "\xfe", `(b'\xFE',)`},
	} {
		out := t.TempDir() + "/a"
		must(t, c.item, "create", "-dtype", c.dtype, out)
		if got := must(t, "", "slice", "-text", out, "0"); got != c.want+"\n" {
			t.Errorf("%s: %q, want %q", c.dtype, got, c.want)
		}
	}
}

// TestSliceForms compares the forms of slice. Without an option, output that is no terminal is raw.
func TestSliceForms(t *testing.T) {
	a := newArray(t)
	raw := must(t, "", "slice", a, "1, :3")
	if raw != numbers(30)[20:32] || must(t, "", "slice", "-raw", a, "1, :3") != raw {
		t.Errorf("%q", raw)
	}
	if got := must(t, "", "slice", "-npy", a, "1, :3"); !strings.HasPrefix(got, npyMagic) || !strings.HasSuffix(got, raw) {
		t.Errorf("%q", got)
	}
	if got := must(t, "", "slice", "--csv", a, "1, :3"); strings.Count(got, ",") != 2 || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
	fails(t, 2, "-csv and -npy", "", "slice", "-csv", "-npy", a, "0")
}

// TestLongCSV expects a line for each row, however long it is, and quotes where cells of text need them.
func TestLongCSV(t *testing.T) {
	const rows, columns = 2, 1<<20 + 5
	a := t.TempDir() + "/a.b2nd"
	must(t, strings.Repeat("\x07", rows*columns), "create", "-shape", "2,-1", "-dtype", "u1", a)
	if got := must(t, "", "slice", "-csv", a, ":"); got != strings.Repeat("7"+strings.Repeat(",7", columns-1)+"\n", rows) {
		t.Errorf("%d lines, %d bytes", strings.Count(got, "\n"), len(got))
	}
	const words = 2*csvCells + 1
	must(t, strings.Repeat("a,\x00", words), "create", "-dtype", "S3", a+"2")
	if got := must(t, "", "slice", "-csv", a+"2", ":"); got != `"a,"`+strings.Repeat(`,"a,"`, words-1)+"\n" {
		t.Errorf("%d lines, %d bytes", strings.Count(got, "\n"), len(got))
	}
}

// TestBytesInCSV expects bytes that are not UTF-8 in hexadecimal, and escapes of other codes that UTF-8 cannot have, so
// that different items differ.
func TestBytesInCSV(t *testing.T) {
	a := t.TempDir() + "/a.b2nd"
	must(t, "\xff\xfea\x00\xfe\xffé", "create", "-shape", "2,2", "-dtype", "S2", a)
	if got, want := must(t, "", "slice", "-csv", a, ":"), "fffe,a\nfeff,é\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	must(t, "\x00\xd8\x00\x00a\x00\x00\x00\x00\x00\x11\x00\xfd\xff\x00\x00", "create", "-shape", "2,-1", "-dtype", "<U1", a+"1")
	if got, want := must(t, "", "slice", "-csv", a+"1", ":"), "\\ud800,a\n\\U00110000,\uFFFD\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	must(t, "\xffb\xfe\x00", "create", "-dtype", "[('a', 'S1'), ('b', 'S1', (1,))]", a+"2")
	if got, want := must(t, "", "slice", "-csv", a+"2", ":"), "a,b\nff,[b]\nfe,[]\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	must(t, "a\x00c", "create", "-shape", "3,1", "-dtype", "S1", a+"3")
	for sel, want := range map[string]string{":": "a\n\"\"\nc\n", "::-1, 0": "c,,a\n", "1": "\"\"\n"} {
		if got := must(t, "", "slice", "-csv", a+"3", sel); got != want {
			t.Errorf("%s: %q, want %q", sel, got, want)
		}
	}
}

// TestUsageNames checks that errors of usage name the argument, and that a wrong axis is reported as one.
func TestUsageNames(t *testing.T) {
	a := newArray(t)
	x := filepath.Join(t.TempDir(), "x")
	fails(t, 2, "argument SEL is missing (see blosc2 help slice)", "", "slice", a)
	fails(t, 2, `-level: want a level from 0 to 9, got "12" (see blosc2 help create)`, "", "create", "-level", "12", x)
	fails(t, 2, `unknown codec "brotli"`, "", "copy", "-codec", "brotli", a, x)
	fails(t, 2, "option -codec needs a value", "", "create", x, "-codec")
	fails(t, 2, "-shape has more than one length of -1", "", "create", "-shape", "-1,-1", x)
	fails(t, 1, "-axis 2: an array of shape (6, 5) has no such axis", numbers(5), "append", "-raw", "-axis", "2", a)
	fails(t, 1, "-axis -3: an array", npyFile([]int64{1, 5}, false, numbers(5)), "append", "-axis", "-3", a)
	must(t, npyFile([]int64{6, 1}, false, numbers(6)), "append", "-axis", "-1", a)
	fails(t, 1, "not a .npy file", numbers(6), "create", x)
	fails(t, 1, "not a .npy file", numbers(6), "append", a)
	fails(t, 1, "not a .npy file", numbers(1), "set", a, "0, 0")
	fails(t, 1, "the array has dtype <i4, not <f4", numbers(6), "append", "-dtype", "<f4", a)
}

// TestInferredLength creates arrays with a length of -1 from files, standard input and .npy files.
func TestInferredLength(t *testing.T) {
	x := filepath.Join(t.TempDir(), "x")
	for _, c := range []struct{ stdin, shape, want string }{
		{numbers(6), "-1,2", "(3, 2)"}, {numbers(6), "3,-1", "(3, 2)"}, {npyFile([]int64{6}, false, numbers(6)), "2,-1", "(2, 3)"}, {"", "-1,2", "(0, 2)"},
	} {
		args := []string{"create", "-overwrite", "-shape", c.shape, x}
		if !strings.HasPrefix(c.stdin, npyMagic) {
			args = append(args, "-dtype", "<i4")
		}
		must(t, c.stdin, args...)
		if got := must(t, "", "info", x); !strings.Contains(squeeze(got), "\nshape "+c.want+"\n") {
			t.Errorf("%+v: %s", c, got)
		}
	}
	must(t, "", "create", "-overwrite", "-shape", "2,-1", "-dtype", "<i2", x, writeFile(t, "raw", numbers(6)))
	fails(t, 1, "no array of shape (-1, 5)", numbers(6), "create", "-overwrite", "-shape", "-1,5", "-dtype", "<i4", x)
	fails(t, 1, "cannot be changed to (4, -1)", npyFile([]int64{6}, false, numbers(6)), "create", "-overwrite", "-shape", "4,-1", x)
}
