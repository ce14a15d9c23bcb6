package main

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/internal/tabletest"
	"github.com/goblosc/blosc2/ndarray"
)

// storeOf makes a store with a name, with small leaves.
func storeOf(t *testing.T, name string, keys ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	s, err := store.Create(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, err := frame.Create(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := s.Put(t.Context(), key, f); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestTreeOfKeys prints the tree of a store with keys of which one begins with another.
func TestTreeOfKeys(t *testing.T) {
	dir := storeOf(t, "s.b2d", "/a/x", "/a/y/z", "/a-b", "/a.c/y", "/b")
	var got []string
	for i, line := range strings.Split(strings.TrimSpace(must(t, "", "info", "-tree", dir)), "\n") {
		if i > 0 {
			name, _, _ := strings.Cut(line, "  super-chunk")
			got = append(got, name)
		}
	}
	want := []string{"├── a/", "│   ├── x", "│   └── y/", "│       └── z", "├── a-b", "├── a.c/", "│   └── y", "└── b"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := must(t, "", "info", "-tree", dir+"/a"); strings.Count(got, "\n") != 4 || !strings.Contains(got, "└── z") {
		t.Errorf("%s", got)
	}
}

// TestDeepTree prints the tree of deep keys. The work must not grow with all pairs of groups.
func TestDeepTree(t *testing.T) {
	const depth = 1500
	deep := strings.Repeat("/g", depth)
	start := time.Now()
	got := must(t, "", "info", "-tree", storeOf(t, "s.b2e", "/a"+deep, "/b"+deep))
	if took := time.Since(start); strings.Count(got, "\n") != 1+2*(depth+1) || took > 15*time.Second {
		t.Errorf("%d lines in %v", strings.Count(got, "\n"), took)
	}
}

// TestLinkedGroup edits a leaf below a directory that is a link out of the store.
func TestLinkedGroup(t *testing.T) {
	dir, outside := storeOf(t, "s.b2d", "/g/leaf"), filepath.Join(t.TempDir(), "outside")
	if err := os.Rename(filepath.Join(dir, "g"), outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "g")); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	before, err := os.ReadFile(filepath.Join(outside, "leaf.b2f"))
	if err != nil {
		t.Fatal(err)
	}
	if code, _, text := call(t, "", "vlmeta", dir+"/g/leaf", "set", "a", "1"); code != 1 || !strings.Contains(text, "no key /g/leaf") {
		t.Errorf("exit %d, %s", code, text)
	}
	if after, err := os.ReadFile(filepath.Join(outside, "leaf.b2f")); err != nil || string(after) != string(before) {
		t.Errorf("the file outside has changed: %v", err)
	}
}

// TestByteArrays prints columns of arrays of bytes, as lists of numbers, and of arrays without dimensions.
func TestByteArrays(t *testing.T) {
	b := tabletest.New(t, `{"name": "flat", "kind": "ndarray", "item_shape": [3], "dtype_str": "|u1"},
		{"name": "square", "kind": "ndarray", "item_shape": [2, 2], "dtype_str": "|u1"},
		{"name": "one", "kind": "ndarray", "item_shape": [], "dtype_str": "|u1"},
		{"name": "empty", "kind": "ndarray", "item_shape": [2, 0], "dtype_str": "|u1"}`, tabletest.AllLive(2))
	tabletest.Write(b, "_cols/flat", []int64{2, 3}, []uint8{1, 2, 3, 4, 5, 6})
	tabletest.Write(b, "_cols/square", []int64{2, 2, 2}, []uint8{1, 2, 3, 4, 5, 6, 7, 8})
	tabletest.Write(b, "_cols/one", []int64{2}, []uint8{9, 10})
	tabletest.Write(b, "_cols/empty", []int64{2, 2, 0}, []uint8{})
	want := `{"rows": 2, "columns": {"flat": [[1, 2, 3], [4, 5, 6]], "square": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], "one": [9, 10], "empty": [[[], []], [[], []]]}}` + "\n"
	if got := must(t, "", "table", "-json", b.Dir); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	records, err := csv.NewReader(strings.NewReader(must(t, "", "table", "-csv", b.Dir))).ReadAll()
	if err != nil || len(records) != 3 || !slices.Equal(records[1], []string{"[1, 2, 3]", "[[1, 2], [3, 4]]", "9", "[[], []]"}) {
		t.Errorf("%q, %v", records, err)
	}
}

// TestArraysOfNumbers prints columns of arrays of dates, timedeltas and small floats, with NaT and a null row.
func TestArraysOfNumbers(t *testing.T) {
	b := tabletest.New(t, `{"name": "d", "kind": "ndarray", "item_shape": [2], "dtype_str": "<M8[D]"},
		{"name": "m", "kind": "ndarray", "item_shape": [2], "dtype_str": "<m8[ps]", "nullable": true, "null_storage": "mask"},
		{"name": "e", "kind": "ndarray", "item_shape": [2], "dtype_str": "<f2"}, {"name": "f", "kind": "float32"},
		{"name": "g", "kind": "ndarray", "item_shape": [2], "dtype_str": ">f4"}, {"name": "c", "kind": "complex64"}`, tabletest.AllLive(2))
	items := func(values ...int64) (b []byte) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
		return b
	}
	b.Fixed("_cols/d", "<M8[D]", []int64{2, 2}, items(ndarray.NaT, -719162, 1, 0))
	b.Fixed("_cols/m", "<m8[ps]", []int64{2, 2}, items(5, ndarray.NaT, 0, 0))
	tabletest.Write(b, "_cols/m.notnull", []int64{2}, []bool{true, false})
	tabletest.Write(b, "_cols/e", []int64{2, 2}, []ndarray.Float16{ndarray.Float16Of(0.1), ndarray.Float16Of(2.0), 0, 0})
	tabletest.Write(b, "_cols/f", []int64{2}, []float32{0.1, 2})
	b.Fixed("_cols/g", ">f4", []int64{2, 2}, []byte("\x3d\xcc\xcc\xcd\x40\x00\x00\x00\x00\x00\x00\x00\x7f\xc0\x00\x00"))
	tabletest.Write(b, "_cols/c", []int64{2}, []complex64{0.1, 2i})
	want := `{"rows": 2, "columns": {"d": [[null, "0001-01-01 00:00:00"], ["1970-01-02 00:00:00", "1970-01-01 00:00:00"]], ` +
		`"m": [[5, null], null], "e": [[0.1, 2.0], [0.0, 0.0]], "f": [0.1, 2.0], "g": [[0.1, 2.0], [0.0, NaN]], ` +
		`"c": [{"complex": [0.1, 0.0]}, {"complex": [0.0, 2.0]}]}}` + "\n"
	if got := must(t, "", "table", "-json", b.Dir); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	records, err := csv.NewReader(strings.NewReader(must(t, "", "table", "-csv", b.Dir))).ReadAll()
	row := []string{`[null, "0001-01-01 00:00:00"]`, "[5, null]", "[0.1, 2.0]", "0.1", "[0.1, 2.0]", "(0.1+0j)"}
	if err != nil || len(records) != 3 || !slices.Equal(records[1], row) || records[2][1] != "" {
		t.Errorf("%q, %v", records, err)
	}
	if got := must(t, "", "table", "-text", b.Dir, "d", "m"); !strings.Contains(got, `0  [null, "0001-01-01 00:00:00"]`) || !strings.Contains(got, "[5, null]") {
		t.Error(got)
	}
}

// TestLargeCSV prints a table whose rows are too large to hold thousands of them.
func TestLargeCSV(t *testing.T) {
	const n = 150
	b := tabletest.New(t, `{"name": "i", "kind": "int64"}, {"name": "s", "kind": "vlstring"}`, tabletest.AllLive(n))
	numbers, texts := make([]int64, n), make([]any, n)
	for i := range numbers {
		numbers[i], texts[i] = int64(i), strings.Repeat("x", 5000)
	}
	tabletest.Write(b, "_cols/i", []int64{n}, numbers)
	b.Items("_cols/s", slices.Collect(slices.Chunk(texts, 50))...)
	s, err := store.Open(t.Context(), b.Dir, &store.OpenOptions{Frames: &frame.OpenOptions{MaxBytes: 512 << 10}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tab, err := table.Open(t.Context(), s, "/")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	e := &env{ctx: t.Context(), out: bufio.NewWriter(&out)}
	if err := errors.Join(tableCSV(e, &tablePart{tab, "", tab.Columns(), 0, tab.Rows(), false}, nil), e.out.Flush()); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
	if err != nil || len(records) != n+1 || !slices.Equal(records[n], []string{"149", texts[0].(string)}) {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// TestTableNamesFile expects the name of the table in errors of reading its columns, but not in those of writing.
func TestTableNamesFile(t *testing.T) {
	path := copyTree(t, fixturesDir+"/tables/wide4.b2d")
	var errOut strings.Builder
	code := run(t.Context(), []string{"table", "-csv", path}, strings.NewReader(""), fullDisk{}, &errOut)
	if code != 1 || errOut.String() != "blosc2 table: no space\n" {
		t.Errorf("exit %d, %q", code, &errOut)
	}
	if err := os.Truncate(filepath.Join(path, "_cols", "c3_utf8.b2nd"), 50); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"-csv", "-json"} {
		fails(t, 1, "blosc2 table: "+path+": ", "", "table", form, path)
	}
}

// TestWideCharacters expects that the columns of a table are aligned after wide characters.
func TestWideCharacters(t *testing.T) {
	b := tabletest.New(t, `{"name": "s", "kind": "vlstring"}, {"name": "t", "kind": "vlstring"}`, tabletest.AllLive(3))
	b.Items("_cols/s", []any{"日本語", "abc", strings.Repeat("語", 50)})
	b.Items("_cols/t", []any{"x", "x", "x"})
	text := must(t, "", "table", "-text", b.Dir)
	var at []int
	for line := range strings.Lines(text) {
		if before, _, ok := strings.Cut(line, "  x\n"); ok {
			at = append(at, ansi.StringWidth(before))
		}
	}
	if len(at) != 3 || slices.Max(at) != slices.Min(at) {
		t.Errorf("columns %d:\n%s", at, text)
	}
}

// TestCombiningCharacters expects that a cell of characters that take no columns is shortened.
func TestCombiningCharacters(t *testing.T) {
	b := tabletest.New(t, `{"name": "s", "kind": "vlstring"}`, tabletest.AllLive(2))
	short := strings.Repeat("e\u0301", 30)
	b.Items("_cols/s", []any{"a" + strings.Repeat("\u0301", 10000), short})
	text := must(t, "", "table", "-text", b.Dir)
	if n := len([]rune(text)); n > 400 || !strings.Contains(text, "\u0301…\n") || !strings.Contains(text, short+"\n") {
		t.Errorf("%d characters:\n%s", n, text)
	}
}

// TestWideNames expects that the columns of ls are aligned after wide characters, and that a long error does not move
// them.
func TestWideNames(t *testing.T) {
	path := copyTree(t, storesDir+"tree.b2d")
	if err := os.Rename(filepath.Join(path, "img", "level0.b2nd"), filepath.Join(path, "img", "日本語.b2nd")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(path, "img", "level1.b2nd"), 10); err != nil {
		t.Fatal(err)
	}
	code, out, _ := call(t, "", "ls", path)
	var at []int
	for line := range strings.Lines(string(out)) {
		if before, _, ok := strings.Cut(line, "("); ok && strings.Contains(before, "  array  ") {
			at = append(at, ansi.StringWidth(before))
		}
	}
	if code != 1 || len(at) < 2 || slices.Max(at) != slices.Min(at) || at[0] > 40 {
		t.Errorf("exit %d, columns %d:\n%s", code, at, out)
	}
}

// TestTreeOfOne prints trees of a single entry: a leaf, a table in a store of its own, a frame, and standard input.
func TestTreeOfOne(t *testing.T) {
	dir := fixturesDir + "/"
	for path, want := range map[string]string{
		"stores/tree.b2d/img/level0":  "level0  array (64, 64) <u2  3.71 KiB",
		"tables/wide1.b2z":            "wide1.b2z  table (5,)",
		"python-blosc2/dtype_f4.b2nd": "dtype_f4.b2nd  array (30, 20) <f4  3.17 KiB",
	} {
		if got := must(t, "", "info", "-tree", dir+path); got != dir+path+"\n└── "+want+"\n" {
			t.Errorf("%s: %q", path, got)
		}
	}
	if got := must(t, readFile(t, dir+"tables/wide1.b2z"), "info", "-tree", "-"); got != "-\n└── -  table (5,)\n" {
		t.Errorf("%q", got)
	}
}

// TestUnreadableLeaves lists stores with leaves that cannot be opened. Their kind is unknown, and the exit status is 1.
func TestUnreadableLeaves(t *testing.T) {
	path := copyTree(t, storesDir+"tree.b2d")
	for i, want := range []string{"1 leaf cannot", "2 leaves cannot"} {
		if err := os.Truncate(filepath.Join(path, "img", []string{"level0.b2nd", "level1.b2nd"}[i]), 0); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"ls"}, {"ls", "-json"}, {"info", "-tree"}} {
			code, out, errOut := call(t, "", append(args, path)...)
			if want := "blosc2 " + args[0] + ": " + path + ": " + want + " be opened\n"; code != 1 || errOut != want {
				t.Errorf("%q: exit %d, %q, want %q", args, code, errOut, want)
			}
			if got := squeeze(string(out)); len(args) == 1 && (strings.Count(got, " unknown store: ") != i+1 || strings.Contains(got, "super-chunk")) {
				t.Errorf("%q: %q", args, got)
			}
		}
	}
}

// TestWorkingDirectoryStore names leaves of a store by paths that are relative to its directory, or to a group.
func TestWorkingDirectoryStore(t *testing.T) {
	path := copyTree(t, storesDir+"tree.b2d")
	data := must(t, "", "dump", path+"/img/level2")
	t.Chdir(path)
	if got := must(t, "", "dump", "img/level2"); got != data {
		t.Errorf("%d bytes, want %d", len(got), len(data))
	}
	must(t, "", "copy", "img/level2", "new")
	if got := must(t, "", "ls", "."); !strings.Contains(squeeze(got), "\n/new array (16, 16) <u2\n") {
		t.Errorf("%s", got)
	}
	fails(t, 1, ". has no key /img/none; list its keys with blosc2 ls .\n", "", "info", "img/none")
	t.Chdir("img")
	if got := must(t, "", "dump", "../new"); got != data {
		t.Errorf("%d bytes, want %d", len(got), len(data))
	}
	fails(t, 1, "level2: no such file", "", "info", "level2")
	t.Chdir("..")
	fails(t, 1, "no such file", "", "info", "../none") // not a key of the working directory
}

// TestOutputNames expects that only extensions of frames and stores make the name of a leaf that of a file, and that a
// name with a slash at its end is not that of a file.
func TestOutputNames(t *testing.T) {
	a := newArray(t)
	path := storeOf(t, "s.b2d", "/x")
	must(t, "", "copy", a, path+"/v1.5")
	must(t, "", "copy", a, path+"/y.b2nd")
	if got := squeeze(must(t, "", "ls", path)); !strings.Contains(got, "/v1.5 array") || !strings.Contains(got, "/y array") || strings.Contains(got, "/v1 ") {
		t.Errorf("%s", got)
	}
	out := filepath.Join(t.TempDir(), "new") + string(filepath.Separator)
	fails(t, 1, out+" is the name of a directory; use -sparse", "", "copy", a, out)
	must(t, "", "copy", "-sparse", a, out)
	must(t, "", "verify", out)
}
