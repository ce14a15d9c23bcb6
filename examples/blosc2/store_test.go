package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

const storesDir = fixturesDir + "/stores/"

// decodeJSON decodes JSON with exact numbers.
func decodeJSON(t testing.TB, b []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%v in %.200s", err, b)
	}
}

// readManifest decodes the manifest of a folder of testdata.
func readManifest(t testing.TB, folder string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(fixturesDir, folder, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	decodeJSON(t, b, v)
}

// sameJSON compares two decoded values: integers exactly, other numbers as floats of a number of bits.
func sameJSON(a, b any, bits int) bool {
	switch a := a.(type) {
	case json.Number:
		n, ok := b.(json.Number)
		if ok && a != n && (strings.ContainsAny(string(a), ".e") || strings.ContainsAny(string(n), ".e")) {
			x, err1 := strconv.ParseFloat(string(a), bits)
			y, err2 := strconv.ParseFloat(string(n), bits)
			return err1 == nil && err2 == nil && x == y
		}
		return ok && a == n
	case []any:
		l, ok := b.([]any)
		if !ok || len(l) != len(a) {
			return false
		}
		for i := range a {
			if !sameJSON(a[i], l[i], bits) {
				return false
			}
		}
		return true
	case map[string]any:
		m, ok := b.(map[string]any)
		if !ok || len(m) != len(a) {
			return false
		}
		for k := range a {
			if !sameJSON(a[k], m[k], bits) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func TestTables(t *testing.T) {
	var m struct {
		Cases []struct {
			File    string
			Rows    int
			Columns map[string]struct{ Values []any }
		}
	}
	readManifest(t, "tables", &m)
	if len(m.Cases) != 52 {
		t.Fatalf("%d tables", len(m.Cases))
	}
	for _, c := range m.Cases {
		path := filepath.Join(fixturesDir, "tables", c.File)
		var got struct {
			Rows    int
			Columns map[string][]any
		}
		decodeJSON(t, []byte(must(t, "", "table", "-json", path)), &got)
		if got.Rows != c.Rows || len(got.Columns) != len(c.Columns) {
			t.Errorf("%s: %d rows, %d columns, want %d, %d", c.File, got.Rows, len(got.Columns), c.Rows, len(c.Columns))
		}
		for name, want := range c.Columns {
			bits := 64
			if regexp.MustCompile("float32|complex64|ndarray").MatchString(name) {
				bits = 32
			}
			if !sameJSON(got.Columns[name], want.Values, bits) {
				t.Errorf("%s: column %s is %v, want %v", c.File, name, got.Columns[name], want.Values)
			}
		}
		records, err := csv.NewReader(strings.NewReader(must(t, "", "table", "-csv", path))).ReadAll()
		// A row of one empty field is an empty line, which the reader skips.
		if err != nil || len(c.Columns) > 1 && len(records) != c.Rows+1 || len(records[0]) != len(c.Columns) {
			t.Errorf("%s: %d records of CSV, %v", c.File, len(records), err)
		}
	}
}

func TestCSV(t *testing.T) {
	got := must(t, "", "table", "-csv", fixturesDir+"/tables/wide1.b2z")
	want := `4426,-196.33447640758538,red,a62a6a9e08b71d525077afc0889e27716076d5fb41e8,-3853234188349733176,"[95, -85]"`
	if lines := strings.Split(got, "\n"); len(lines) != 7 || lines[1] != want {
		t.Errorf("got %q, want the row %q", got, want)
	}
	if got := must(t, "", "table", "-csv", fixturesDir+"/tables/t21_complex64.b2d"); !strings.Contains(got, "\n(2.4009511-1.5635022j)\n") {
		t.Errorf("%q", got)
	}
}

// storeFixture is an entry of testdata/stores/manifest.json.
type storeFixture struct {
	File, Kind string
	Leaves     map[string]struct {
		Shape  []int64
		DType  string
		SHA256 string
	}
	Values []any
}

func storeFixtures(t testing.TB) []storeFixture {
	t.Helper()
	var m struct{ Cases []storeFixture }
	readManifest(t, "stores", &m)
	if len(m.Cases) != 9 {
		t.Fatalf("%d stores", len(m.Cases))
	}
	return m.Cases
}

func TestLs(t *testing.T) {
	for _, c := range storeFixtures(t) {
		found := 0
		for line := range strings.Lines(must(t, "", "ls", "-json", storesDir+c.File)) {
			var e struct {
				Key, Kind string
				Shape     []int64
				DType     *string
			}
			decodeJSON(t, []byte(line), &e)
			want, ok := c.Leaves[e.Key]
			if !ok {
				continue
			}
			found++
			if e.Kind != "array" && c.Kind != "tensor" || e.DType == nil || *e.DType != want.DType || !reflect.DeepEqual(e.Shape, want.Shape) {
				t.Errorf("%s: %s", c.File, line)
			}
		}
		if found != len(c.Leaves) {
			t.Errorf("%s: %d leaves, want %d", c.File, found, len(c.Leaves))
		}
		if text := must(t, "", "ls", storesDir+c.File); strings.Count(text, "\n") < len(c.Leaves) {
			t.Errorf("%s: %q", c.File, text)
		}
	}
	if got := must(t, "", "ls", storesDir+"tree.b2d/img"); strings.Count(got, "\n") != 3 || !strings.Contains(got, "/img/level2  array  (16, 16)  <u2") {
		t.Errorf("%q", got)
	}
	if code, _, _ := call(t, "", "ls", storesDir+"tree.b2z/nothing"); code != 1 {
		t.Errorf("a missing key: exit %d", code)
	}
	if got := must(t, "", "ls", "-json", storesDir+"lazy_expr.b2nd"); !strings.Contains(got, `"ref":"lazyexpr ((o0 + o1) * 2) with o0 = urlpath lazy_a.b2nd`) {
		t.Errorf("%q", got)
	}
}

func TestLeafPaths(t *testing.T) {
	for _, c := range storeFixtures(t) {
		if !strings.HasSuffix(c.Kind, "store") {
			continue
		}
		for key, want := range c.Leaves {
			path := storesDir + c.File + key
			if got := sum([]byte(must(t, "", "dump", path))); got != want.SHA256 {
				t.Errorf("dump %s: sha256 %s, want %s", path, got, want.SHA256)
			}
			if got := sum([]byte(must(t, "", "slice", path, "..."))); got != want.SHA256 {
				t.Errorf("slice %s: sha256 %s, want %s", path, got, want.SHA256)
			}
			must(t, "", "info", path)
			must(t, "", "verify", path)
			to := filepath.Join(t.TempDir(), "copy.b2nd")
			must(t, "", "copy", path, to)
			if got := sum([]byte(must(t, "", "dump", to))); got != want.SHA256 {
				t.Errorf("copy of %s: sha256 %s, want %s", path, got, want.SHA256)
			}
		}
	}
	if got := must(t, "", "vlmeta", storesDir+"tree.b2z/img/__vlmeta__", "get", "unit"); got != "\"um\"\n" {
		t.Errorf("%q", got)
	}
	if n := len(must(t, "", "slice", storesDir+"tensor.bl2", "0:3")); n != 3*13*4 {
		t.Errorf("slice of a tensor: %d bytes", n)
	}
	pickle := filepath.Join(t.TempDir(), "array.bl2")
	must(t, "\x80\x05cposix\nsystem\n(S'true'\ntR.", "create", "-chunksize", "100", pickle)
	if code, _, errOut := call(t, "", "slice", pickle, "0"); code != 1 || !strings.Contains(errOut, "pickle") {
		t.Errorf("a pickle: exit %d, %q", code, errOut)
	}
	for _, path := range []string{"tree.b2z/none", "tree.b2z/img", "embed.b2e", "none.b2z/a"} {
		if code, _, _ := call(t, "", "slice", storesDir+path, "0"); code != 1 {
			t.Errorf("%s: exit %d", path, code)
		}
	}
}

func TestEditLeaf(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tree.b2d")
	if err := os.CopyFS(dir, os.DirFS(storesDir+"tree.b2d")); err != nil {
		t.Fatal(err)
	}
	must(t, "", "set", dir+"/img/level2", "0, 0", "-value", "7")
	a, err := ndarray.Open(t.Context(), filepath.Join(dir, "img", "level2.b2nd"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if v, err := ndarray.Read[uint16](t.Context(), a, ndarray.At(0), ndarray.At(0)); err != nil || v[0] != 7 {
		t.Errorf("%v, %v", v, err)
	}
	must(t, "", "vlmeta", dir+"/img/level2", "set", "a", "1")
	must(t, "", "resize", dir+"/img/level2", "20,16")
	must(t, "", "compact", dir+"/img/level2")
	if got := must(t, "", "compact", "-n", dir+"/img/level2"); got != "dead bytes: 0\n" {
		t.Errorf("%q", got)
	}
	for _, path := range []string{storesDir + "tree.b2z/img/level2", storesDir + "embed.b2e/a", fixturesDir + "/tables/t02_int8_null.b2d/_cols/c0_int8", dir + "/img"} {
		if code, _, _ := call(t, "", "resize", path, "1"); code != 1 {
			t.Errorf("%s: exit %d", path, code)
		}
	}
}

// TestEditTable edits the leaves of a table in a store, by key and by file. A group _cols alone makes no table.
func TestEditTable(t *testing.T) {
	dir := storeOf(t, "s.b2d", "/a")
	table, group := filepath.Join(dir, "t"), filepath.Join(dir, "_cols")
	if err := os.CopyFS(table, os.DirFS("../../testdata/tables/t01_int8.b2d")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(group, 0o777); err != nil {
		t.Fatal(err)
	}
	must(t, numbers(6), "create", "-shape", "6", "-dtype", "<i4", group+"/x.b2nd")
	whole := copyTree(t, "../../testdata/tables/t01_int8.b2d") // the store is the table
	for _, top := range []string{whole, table} {
		for _, leaf := range []string{"_cols/c0_int8", "_cols/c0_int8.b2nd", "_valid_rows", "_valid_rows.b2nd"} {
			before := must(t, "", "table", "-json", top)
			path := filepath.Join(top, leaf)
			fails(t, 1, "leaves of a table", "", "set", path, "0", "-value", "0")
			fails(t, 1, "leaves of a table", "", "resize", path, "3")
			fails(t, 1, "leaves of a table", "", "vlmeta", path, "set", "a", "1")
			fails(t, 1, "leaves of a table", "", "compact", path)
			fails(t, 1, "leaves of a table", "", "create", "-overwrite", "-raw", path, "store_test.go")
			fails(t, 1, "leaves of a table", "", "copy", "-overwrite", group+"/x.b2nd", path)
			fails(t, 1, "leaves of a table", "", "repair", "-overwrite", group+"/x.b2nd", path)
			must(t, "", "compact", "-n", path)
			if after := must(t, "", "table", "-json", top); after != before {
				t.Errorf("%s: the table has changed", path)
			}
		}
		fails(t, 1, "leaves of a table", "", "vlmeta", top+"/_meta", "set", "a", "1")
	}
	embedded := storeOf(t, "e.b2d", "/t/_meta", "/t/_valid_rows")
	fails(t, 1, "leaves of a table", "", "copy", group+"/x.b2nd", embedded+"/t/x.b2nd")
	must(t, "", "set", group+"/x", "0", "-value", "7")
	must(t, "", "set", group+"/x.b2nd", "1", "-value", "8")
	if got := must(t, "", "slice", "-csv", group+"/x", ":2"); got != "7,8\n" {
		t.Errorf("%q", got)
	}
}

// TestEditTableByLink edits a leaf of a table by links to its file and to its folder.
func TestEditTableByLink(t *testing.T) {
	table, links := copyTree(t, "../../testdata/tables/t01_int8.b2d"), t.TempDir()
	before := must(t, "", "table", "-json", table)
	folder, file := filepath.Join(links, "cols"), filepath.Join(links, "c0.b2nd")
	if err := errors.Join(os.Symlink(filepath.Join(table, "_cols"), folder), os.Symlink(filepath.Join(folder, "c0_int8.b2nd"), file)); err != nil {
		t.Skip(err)
	}
	fails(t, 1, "leaves of a table", "", "set", folder+"/c0_int8.b2nd", "0", "-value", "7")
	fails(t, 1, "leaves of a table", "", "create", "-overwrite", "-raw", folder+"/c0_int8.b2nd", "store_test.go")
	fails(t, 1, "leaves of a table", "", "set", file, "0", "-value", "7")
	if after := must(t, "", "table", "-json", table); after != before {
		t.Errorf("the table has changed: %s", after)
	}
	must(t, "", "copy", "-overwrite", table+"/_cols/c0_int8", file) // replaces the link
}

// TestEditBelowNoStore edits files below folders with a file embed.b2e that are no intact stores.
func TestEditBelowNoStore(t *testing.T) {
	dir := storeOf(t, "s.b2d", "/a")
	deep := filepath.Join(dir, strings.Repeat("d/", 101))
	a, b := filepath.Join(dir, "g", "a.b2nd"), filepath.Join(deep, "a.b2nd")
	if err := errors.Join(os.Mkdir(filepath.Dir(a), 0o777), os.MkdirAll(deep, 0o777)); err != nil {
		t.Fatal(err)
	}
	edit := func() {
		t.Helper()
		for _, path := range []string{a, b} {
			must(t, numbers(2), "create", "-overwrite", "-dtype", "<i4", path)
			must(t, "", "set", path, "0", "-value", "7")
			must(t, "", "compact", path)
		}
	}
	edit() // b is more than 100 folders deep
	must(t, "", "copy", a, strings.Replace(a, ".b2nd", ".b2f", 1))
	edit()
	if err := os.WriteFile(filepath.Join(dir, "embed.b2e"), []byte("foreign"), 0o666); err != nil {
		t.Fatal(err)
	}
	edit()
}

func TestObjects(t *testing.T) {
	for _, c := range storeFixtures(t) {
		if c.Values == nil {
			continue
		}
		lines := strings.Split(strings.TrimSuffix(must(t, "", "objects", storesDir+c.File), "\n"), "\n")
		if len(lines) != len(c.Values) {
			t.Errorf("%s: %d lines, want %d", c.File, len(lines), len(c.Values))
			continue
		}
		for i, line := range lines {
			var got any
			decodeJSON(t, []byte(line), &got)
			if !sameJSON(got, c.Values[i], 64) {
				t.Errorf("%s: line %d is %s, want %v", c.File, i, line, c.Values[i])
			}
		}
	}
	if code, _, _ := call(t, "", "objects", storesDir+"lazy_a.b2nd"); code != 1 {
		t.Errorf("an array: exit %d", code)
	}
}

// TestTensorLeaf reads the file of a tensor in a store: its metalayers and chunks are there, besides its items.
func TestTensorLeaf(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s.b2d")
	if err := os.CopyFS(dir, os.DirFS("../../testdata/stores/tree.b2d")); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("../../testdata/stores/tensor.bl2")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "meta", "tensor.b2f"), b, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	must(t, "", "verify", dir+"/meta/tensor")
	if out := must(t, "", "vlmeta", dir+"/meta/tensor"); !strings.Contains(out, "__pack_tensor__") {
		t.Errorf("vlmeta: %q", out)
	}
	if out, want := must(t, "", "dump", dir+"/meta/tensor"), must(t, "", "dump", dir+"/meta/tensor.b2f"); out != want || out == "" {
		t.Errorf("%d bytes, want %d", len(out), len(want))
	}
}

// TestEditParentLeaf edits, replaces and adds a leaf that has leaves below it, so that a directory has its key as the
// name.
func TestEditParentLeaf(t *testing.T) {
	path := copyTree(t, storesDir+"tree.b2d")
	must(t, "", "copy", path+"/img/level2", path+"/img.b2nd")
	leaf := filepath.Join(path, "img")
	must(t, "", "set", "-value", "7", leaf, "0,0")
	must(t, "", "vlmeta", leaf, "set", "a", "1")
	if got := must(t, "", "slice", "-csv", leaf, "0,0"); strings.TrimSpace(got) != "7" {
		t.Errorf("%q", got)
	}
	must(t, "", "resize", leaf, "1,1")
	if got := must(t, "", "info", path+"/img.b2nd"); !strings.Contains(squeeze(got), "\nshape (1, 1)\n") {
		t.Errorf("%s", got)
	}
	must(t, "", "set", "-value", "7", filepath.Join(leaf, "level2"), "0,0")
	fails(t, 1, "is a group of a store", "", "set", "-value", "7", filepath.Join(path, "meta"), "0,0")

	dict := copyTree(t, storesDir+"dict.b2d") // /x is a leaf, /g a group
	must(t, "123", "create", "-raw", dict+"/x/y")
	err := os.CopyFS(filepath.Join(dict, "t"), os.DirFS("../../testdata/tables/t01_int8.b2d"))
	if err = errors.Join(err, os.Remove(filepath.Join(dict, "t", "embed.b2e"))); err != nil {
		t.Fatal(err)
	}
	before := must(t, "", "ls", dict)
	fails(t, 1, "already exists; use -overwrite", "", "copy", path+"/img/level2", dict+"/x")
	fails(t, 2, "cannot be a leaf of a store", "", "copy", "-sparse", path+"/img/level2", dict+"/g")
	fails(t, 1, "is a table", "", "copy", "-overwrite", path+"/img/level2", dict+"/t")
	if after := must(t, "", "ls", dict); after != before {
		t.Errorf("%s", after)
	}
	must(t, "", "copy", "-overwrite", path+"/img/level2", dict+"/x")
	must(t, "123", "create", "-raw", dict+"/g")
	got := squeeze(must(t, "", "ls", dict))
	for _, want := range []string{"/x array (16, 16) <u2\n", "/x/y array (3,) |u1\n", "/g array (3,) |u1\n", "/g/small array (4,) <u2\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}
