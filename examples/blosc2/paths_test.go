package main

import (
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame/store"
)

// kinds are the kinds of paths, the columns of the table in README.md.
var kinds = []string{"file", "directory", "URL", "member of .b2d", "member of .b2z", "pipe"}

// pathCase is a verb with arguments, with PATH in place of the path.
type pathCase struct {
	row, line string
	stdin     string // of verbs that read PATH from the file system
	store     string // what PATH is: "" for an array, "store", "table" or "objects"
	check     func(t *testing.T, kind, path, out string)
}

// pathCases are the rows of the table in README.md.
func pathCases(t *testing.T, dir string) []pathCase {
	b, err := os.ReadFile(storesDir + "tree.b2d/img/level2.b2nd")
	if err != nil {
		t.Fatal(err)
	}
	array := writeFile(t, filepath.Join(dir, "same.b2nd"), string(b))
	data := must(t, "", "dump", array)
	has := func(words string) func(*testing.T, string, string, string) {
		return func(t *testing.T, kind, path, out string) {
			if !strings.Contains(squeeze(out), words) {
				t.Errorf("%s: %q is missing in %q", kind, words, out)
			}
		}
	}
	becomes := func(want string, args ...string) func(*testing.T, string, string, string) {
		return func(t *testing.T, kind, path, out string) {
			line, stdin := slices.Clone(args), ""
			if path == "-" {
				stdin = out
			}
			for i, a := range line {
				line[i] = strings.ReplaceAll(a, "PATH", path)
			}
			if got := must(t, stdin, line...); got != want {
				t.Errorf("%s: %q has %d bytes, want %d", kind, line, len(got), len(want))
			}
		}
	}
	to := filepath.Join(dir, "to")
	return []pathCase{
		{row: "info", line: "info PATH", check: has("\nshape (16, 16)\n")},
		{row: "dump", line: "dump PATH", check: func(t *testing.T, kind, _, out string) {
			if out != data {
				t.Errorf("%s: %d bytes, want %d", kind, len(out), len(data))
			}
		}},
		{row: "slice", line: "slice -csv PATH 0,:2", check: has(",")},
		{row: "stats", line: "stats PATH", check: has("\nitems 256\n")},
		{row: "diff A", line: "diff PATH " + array, check: has("")},
		{row: "diff B", line: "diff " + array + " PATH", check: has("")},
		{row: "plot", line: "plot -overwrite PATH " + to + ".png", check: has("")},
		{row: "ls", line: "ls PATH", store: "store", check: has("level0 array")},
		{row: "table", line: "table -csv PATH", store: "table", check: has("c0_int")},
		{row: "objects", line: "objects PATH", store: "objects", check: has("\n")},
		{row: "view", line: "view PATH", check: has("0\\1 0 1 2")},
		{row: "view a store", line: "view PATH", store: "store", check: has("enter: open")},
		{row: "bench", line: "bench -codecs lz4 -filters shuffle PATH", check: has("recommended lz4:5 shuffle")},
		{row: "create OUT", line: "create -overwrite -dtype <u2 PATH", stdin: data, check: becomes(data, "dump", "PATH")},
		{row: "create IN", line: "create -overwrite -raw -checksums " + to + " PATH", check: becomes("", "verify", to)},
		{row: "append", line: "append -raw PATH", stdin: data[:32], check: becomes(data+data[:32], "dump", "PATH")},
		{row: "resize", line: "resize PATH 1,16", check: becomes(data[:32], "dump", "PATH")},
		{row: "set", line: "set -value 7 PATH 0,0", check: becomes("\x07\x00"+data[2:], "dump", "PATH")},
		{row: "vlmeta list, get", line: "vlmeta PATH", check: has("")},
		{row: "vlmeta set, delete", line: "vlmeta PATH set a 1", check: becomes("1\n", "vlmeta", "PATH", "get", "a")},
		{row: "copy FROM", line: "copy -overwrite -codec lz4 PATH " + to, check: becomes(data, "dump", to)},
		{row: "copy TO", line: "copy -overwrite " + array + " PATH", check: becomes(data, "dump", "PATH")},
		{row: "compact", line: "compact PATH", check: becomes(data, "dump", "PATH")},
		{row: "repair", line: "repair -overwrite PATH " + to, check: becomes(data, "dump", to)},
		{row: "verify", line: "verify PATH", check: has("")},
	}
}

// pathsOf makes what the paths of the test refer to.
func makePaths(t *testing.T, dir string) {
	put := func(to, from string) {
		to, from = filepath.Join(dir, to), filepath.Join(fixturesDir, from)
		fi, err := os.Stat(from)
		if err == nil && fi.IsDir() {
			err = os.CopyFS(to, os.DirFS(from))
		} else if err == nil {
			writeFile(t, to, readFile(t, from))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("tree.b2d", "stores/tree.b2d")
	if err := os.MkdirAll(filepath.Join(dir, "tree.b2d", "tab"), 0o777); err != nil {
		t.Fatal(err)
	}
	put("tree.b2d/meta/objs.b2b", "stores/objects.b2b")
	put("tree.b2d/tab/_meta.b2f", "tables/t01_int8.b2d/_meta.b2f")
	put("tree.b2d/tab/_cols", "tables/t01_int8.b2d/_cols")
	put("tree.b2d/tab/_valid_rows.b2nd", "tables/t01_int8.b2d/_valid_rows.b2nd")
	put("a.b2nd", "stores/tree.b2d/img/level2.b2nd")
	put("o.b2b", "stores/objects.b2b")
	put("t.b2d", "tables/t01_int8.b2d")
	put("t.b2z", "tables/t05_int32.b2z")
	must(t, "", "copy", "-sparse", dir+"/a.b2nd", dir+"/sparse")
	must(t, "", "copy", "-sparse", dir+"/o.b2b", dir+"/objects")
	st, err := store.Open(t.Context(), dir+"/tree.b2d", nil)
	if err == nil {
		err = st.Pack(t.Context(), dir+"/tree.b2z", nil)
		st.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// pathsOf returns paths in the order of kinds: of arrays, stores, tables and arrays of objects.
func pathsOf(server, dir string) map[string][]string {
	all := map[string][]string{
		"":        {dir + "/a.b2nd", dir + "/sparse", server + "/a.b2nd", dir + "/tree.b2d/img/level2", dir + "/tree.b2z/img/level2", "-"},
		"store":   {dir + "/tree.b2z", dir + "/tree.b2d", server + "/tree.b2z", dir + "/tree.b2d/img", dir + "/tree.b2z/img", "-"},
		"table":   {dir + "/t.b2z", dir + "/t.b2d", server + "/t.b2z", dir + "/tree.b2d/tab", dir + "/tree.b2z/tab", "-"},
		"objects": {dir + "/o.b2b", dir + "/objects", server + "/o.b2b", dir + "/tree.b2d/meta/objs", dir + "/tree.b2z/meta/objs", "-"},
	}
	for _, list := range all {
		for i := range list {
			if list[i] != "-" && !isURL(list[i]) {
				list[i] = filepath.FromSlash(list[i])
			}
		}
	}
	return all
}

// TestPaths runs each verb with each kind of path, and compares the table in README.md with what works.
func TestPaths(t *testing.T) {
	template := t.TempDir()
	makePaths(t, template)
	table := "| | " + strings.Join(kinds, " | ") + " |\n|" + strings.Repeat(" --- |", len(kinds)+1) + "\n"
	for _, c := range pathCases(t, t.TempDir()) {
		table += "| " + c.row + " |"
		for k, kind := range kinds {
			dir := t.TempDir()
			server := httptest.NewServer(http.FileServer(http.Dir(dir)))
			if err := os.CopyFS(dir, os.DirFS(template)); err != nil {
				t.Fatal(err)
			}
			path := pathsOf(server.URL, dir)[c.store][k]
			stdin := c.stdin
			if path == "-" && stdin == "" {
				stdin = readFile(t, pathsOf(server.URL, dir)[c.store][0])
			}
			args := strings.Fields(c.line)
			for j, a := range args {
				if a == "PATH" {
					args[j] = path
				}
			}
			code, out, errOut := callFree(stdin, args...)
			cell := "yes"
			switch {
			case args[0] == "view" && !hasTerminal:
				if code != 1 || !strings.Contains(errOut, "no terminal") {
					t.Errorf("%q: exit %d, %q", args, code, errOut)
				}
			case code == 0:
				c.check(t, kind, path, string(out))
			case code == 1 || code == 2 && args[0] == "diff":
				if cell = "-"; !strings.HasPrefix(errOut, "blosc2 "+args[0]+": ") || strings.Count(errOut, "\n") != 1 {
					t.Errorf("%q: %q", args, errOut)
				}
			default:
				t.Errorf("%q: exit %d, %q", args, code, errOut)
			}
			table += " " + cell + " |"
			server.Close()
		}
		table += "\n"
	}
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), table) {
		t.Errorf("README.md does not have the table\n%s", table)
	}
}

// TestAboveLink runs verbs with names that have ".." after a symbolic link, which leads above the target of the link.
func TestAboveLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows removes .. by name")
	}
	t.Chdir(t.TempDir())
	for _, dir := range []string{"here/sp", "there/sp", "there/below", "there/new", "there/t.b2d"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../there/below", "here/link"); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	for dir, data := range map[string]string{"here": "AA", "there": "ZZ"} {
		s, err := store.Create(t.Context(), dir+"/s.b2d", nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		must(t, data, "create", "-dtype", "u1", dir+"/s.b2d/a.b2nd", "-")
		for _, name := range []string{"/v.0123456789abcdef.tmp", "/sp/0123456789abcdef.tmp"} {
			if err := os.WriteFile(dir+name, nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"embed.b2e", "_meta.b2nd", "_valid_rows.b2nd"} { // of a table
		if err := os.WriteFile("there/t.b2d/"+name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "WW", "create", "-sparse", "-dtype", "u1", "there/whole", "-")
	if err := errors.Join(os.Mkdir("there/whole/part", 0o777), os.Symlink("../there/whole/part", "here/part")); err != nil {
		t.Fatal(err)
	}
	files := func(dir string) map[string]string {
		all := map[string]string{}
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				all[name] = readFile(t, dir+"/"+name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := files("here")
	const up = "here/link/.."
	for _, c := range []struct{ line, stdin, out, fault string }{
		{line: "dump UP/s.b2d/a", out: "ZZ"},
		{line: "dump UP/s.b2d//./a", out: "ZZ"},
		{line: "set -value 7 UP/s.b2d/a 0"},
		{line: "dump there/s.b2d/a", out: "\x07Z"},
		{line: "create -overwrite -dtype u1 UP/s.b2d/a -", stdin: "YY"},
		{line: "create -dtype u1 UP/s.b2d/new -", stdin: "XX"},
		{line: "dump there/s.b2d/a", out: "YY"},
		{line: "dump there/s.b2d/new", out: "XX"},
		{line: "repair -clean UP/v", out: "removed UP/v.0123456789abcdef.tmp\n"},
		{line: "repair -clean UP/sp", out: "removed UP/sp/0123456789abcdef.tmp\n"},
		{line: "copy -overwrite there/whole here/part/../chunks.b2frame", fault: "is in the directory there/whole"},
		{line: "copy -overwrite there/whole here/part/../none/x", fault: "is in the directory there/whole"},
		{line: "dump there/whole", out: "WW"},
		{line: "create -dtype u1 UP/t.b2d/c.b2nd -", stdin: "XX", fault: "leaves of a table"},
		{line: "create -dtype u1 UP/t.b2d/none/c.b2nd -", stdin: "XX", fault: "leaves of a table"},
		{line: "set -value 7 UP/t.b2d/_meta 0", fault: "leaves of a table"},
		{line: "plot UP/s.b2d/a UP/none/x.png", fault: "directory UP/none does not exist"},
	} {
		code, out, errOut := call(t, c.stdin, strings.Fields(strings.ReplaceAll(c.line, "UP", up))...)
		want, fault := strings.ReplaceAll(c.out, "UP", up), strings.ReplaceAll(c.fault, "UP", up)
		if (code != 0) != (fault != "") || string(out) != want || !strings.Contains(errOut, fault) {
			t.Errorf("%s: exit %d with %q and %q, want %q and %q", c.line, code, out, errOut, want, fault)
		}
		if !maps.Equal(files("here"), before) {
			t.Fatalf("%s: files in here have changed", c.line)
		}
	}
	// The working directory has a name with a link.
	top, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(top, "here", "part"))
	fails(t, 1, "is in the directory", "", "copy", "-overwrite", "..", "../chunks.b2frame")
	t.Chdir(filepath.Join(top, "here", "link"))
	fails(t, 1, "leaves of a table", "XX", "create", "-dtype", "u1", "../t.b2d/c.b2nd", "-")
	t.Chdir(top)
	// The input goes to a temporary file first.
	input := strings.Repeat("x", 1000)
	if _, err := inPieces(t, 64, input, "create", "-dtype", "u1", up+"/new/a.b2nd", "-"); err != nil {
		t.Fatal(err)
	}
	if got := must(t, "", "dump", "there/new/a.b2nd"); got != input {
		t.Errorf("%d bytes, want %d", len(got), len(input))
	}
	if list, err := filepath.Glob("there/*.tmp"); err != nil || len(list) > 0 {
		t.Errorf("%v in there, %v", list, err)
	}
}
