package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write creates files below a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const prose = `// Package p puts the bytes behind
// the header.
package p

import "errors"

// Done returns what stands
// for it.
func Done() {}

// Wrong is documented under another name.
func Right() error { return errors.New("shall " + "not " + "pay") }

// A Type may have an article.
type Type struct{} // unsound

var silent = "behind, but not a message"

// These are a group.
const (
	// Other has another name.
	One = 1
	Two = 2 // Two needs no name here
)
`

// TestCheckProse checks that each kind of fault is found once, in the right file and line.
func TestCheckProse(t *testing.T) {
	long := strings.Repeat("long ", 23)
	dir := write(t, map[string]string{
		"p/p.go":            prose,
		"p/p_test.go":       "package p\n\n// Test has another name.\nfunc TestX() { t.Errorf(`anew`) }\n",
		"p/k_amd64.s":       "//go:build amd64\n\nTEXT x // but\n\t// the end is behind\n\t// it\n\tRET // for ever\n",
		"p/testdata/x.go":   "package x // behind\n",
		"p/testdata/x.md":   "It pays.\n",
		"p/wide.go":         "package p\n\n// " + long + "\n// " + long + "x x\n\n//go:generate " + long + long + "\n",
		"p/tab.go":          "package p\n\nfunc f() {\n\t// " + long + "x\n}\n",
		"README.md":         "One.\n\n```\nbehind\n```\n\n`behind` and\nbut\nfor colour\n",
		"skipped/x.go":      "package x // behind\n",
		"top/x.go":          "package x // behind\n",
		"top/below/x.go":    "package x // anew\n",
		".hidden/x.go":      "package x // behind\n",
		"ignored/x.go":      "package x // behind, anew\n",
		"spelling/x.go":     "package x // neighbours initialised, cancelled, organization, behavior, exercise, precise, raised\n",
		"phrases/x.go":      "package x // from 32 on, from here on; it is an ErrX, is an error; as long as it is, stored as it is\n",
		"prog/main.go":      "package main\n\n// other has no name.\nfunc Run() {}\n",
		"methods/m.go":      "package m\n\ntype t int\n\n// no name.\nfunc (t) M() {}\n\ntype T int\n\n// no name.\nfunc (*T) M() {}\n",
		"links/x.go":        "package x\n\n// https://" + strings.Repeat("x", 200) + "\n",
		".ci/doccheck/x.go": "package x // behind\n",
	})
	got, err := checkProse(dir, []string{"skipped", "top/*.go"}, []string{"ignored/x.go: behind"})
	if err != nil {
		t.Fatal(err)
	}
	for i, fault := range got {
		got[i], _, _ = strings.Cut(fault, ", write: ")
		got[i], _, _ = strings.Cut(got[i], ", want at most")
	}
	want := []string{
		`.ci/doccheck/x.go:1: "behind"`,
		`README.md:8: "but for"`,
		`README.md:9: "colour"`,
		`ignored/x.go:1: "anew"`,
		`methods/m.go:10: the doc comment of M does not start with the name`,
		`p/k_amd64.s:4: "behind"`,
		`p/k_amd64.s:6: "for ever"`,
		`p/p.go:1: "behind"`,
		`p/p.go:11: the doc comment of Right does not start with the name`,
		`p/p.go:12: "pay"`,
		`p/p.go:12: "shall"`,
		`p/p.go:15: "unsound"`,
		`p/p.go:21: the doc comment of One does not start with the name`,
		`p/p.go:7: "stands"`,
		`p/p_test.go:4: "anew"`,
		`p/tab.go:4: comment in 123 columns`,
		`p/testdata/x.md:1: "pays"`,
		`p/wide.go:4: comment in 121 columns`,
		`phrases/x.go:1: "from 32 on"`,
		`phrases/x.go:1: "is an ErrX"`,
		`phrases/x.go:1: "stored as it is"`,
		`spelling/x.go:1: "cancelled"`,
		`spelling/x.go:1: "initialised"`,
		`spelling/x.go:1: "neighbour"`,
		`top/below/x.go:1: "anew"`,
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestTables checks that the files of the entries of notYet and ignored exist, so that entries are removed with them.
func TestTables(t *testing.T) {
	for _, pattern := range notYet {
		if names, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern))); err != nil || len(names) == 0 {
			t.Errorf("notYet: no file matches %q: %v", pattern, err)
		}
	}
	for _, entry := range ignored {
		name, phrase, _ := strings.Cut(entry, ": ")
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil || !strings.Contains(string(text), phrase) {
			t.Errorf("ignored: %q is not in its file: %v", entry, err)
		}
	}
	if !slices.IsSorted(notYet) || !slices.IsSorted(ignored) {
		t.Error("the tables are not sorted")
	}
}
