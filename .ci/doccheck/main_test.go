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

const unsafeSample = `// Package sample is told.
package sample

import "unsafe"

func bare(b []byte) unsafe.Pointer { return unsafe.Pointer(&b[0]) }

// told returns an address.
//
// Safe: b[0] is checked.
func told(b []byte) unsafe.Pointer { return unsafe.Pointer(&b[0]) }

func lines(b []byte) {
	_ = unsafe.SliceData(b) // Safe: only the address is used
	// Safe: the length is that of b,
	// which does not change.
	_ = unsafe.Slice(unsafe.SliceData(b), len(b))
	_ = unsafe.Sizeof(b)
	_ = unsafe.String(&b[0], 1) // a string
}

type pointer struct{ p unsafe.Pointer }
`

// TestUnsafe finds uses of package unsafe without a reason, but not in tests.
func TestUnsafe(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"sample.go", "sample_test.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(unsafeSample), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	missing, err := check(dir)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "sample.go")
	want := []string{
		file + ":19:6: no comment that says why unsafe.String is safe",
		file + ":22:24: no comment that says why unsafe.Pointer is safe",
		file + ":6:21: no comment that says why unsafe.Pointer is safe",
	}
	if !slices.Equal(missing, want) {
		t.Errorf("missing %q\nwant    %q", missing, want)
	}
}
