package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sample = `package sample

func Bare()      {}
func inside()    {}

// Told does nothing.
func Told() {}

type BareType struct{ Field int }

func (b *BareType) BareMethod()   {}
func (b BareType) method()        {}
func (h hidden) Unseen()          {}

// Generic has a method.
type Generic[T any] struct{}

func (*Generic[T]) OnGeneric() {}

type hidden struct{}

const BareConst, other = 1, 2

// These are told as a group.
const (
	GroupA = iota
	GroupB
)

var (
	LineVar int // told here
	BareVar int
)
`

// TestCheck runs over a folder with one file of each kind.
func TestCheck(t *testing.T) {
	files := map[string]string{
		"sample/sample.go":          sample,
		"sample/windows_windows.go": "package sample\n\nfunc Elsewhere() {}\n",
		"sample/tagged.go":          "//go:build purego\n\npackage sample\n\nfunc Tagged() {}\n",
		"sample/sample_test.go":     "package sample\n\nfunc InTest() {}\n",
		"sample/testdata/x.go":      "package x\n\nfunc Data() {}\n",
		"sample/_gen/x.go":          "package x\n\nfunc Gen() {}\n",
		".ci/x/x.go":                "package x\n\nfunc Hidden() {}\n",
		"prog/main.go":              "// Command prog.\npackage main\n\nfunc Run() {}\n",
		"prog2/main.go":             "package main\n",
		"good/a.go":                 "package good\n\n// A is told.\nfunc A() {}\n",
		"good/doc.go":               "// Package good is told.\npackage good\n",
		"good/z.go":                 "package good\n",
	}
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	missing, err := check(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range missing {
		m = strings.TrimPrefix(m, dir+string(filepath.Separator))
		if name, ok := strings.CutSuffix(m, " has no doc comment"); ok {
			m = name[strings.LastIndex(name, " ")+1:]
		}
		got = append(got, m)
	}
	slices.Sort(got)
	want := []string{
		"Bare", "BareConst", "BareMethod", "BareType", "BareVar", "Elsewhere", "OnGeneric", "Tagged",
		"prog2: no package comment", "sample: no package comment",
	}
	if !slices.Equal(got, want) {
		t.Errorf("missing %q\nwant    %q", got, want)
	}
}
