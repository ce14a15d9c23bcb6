// Package recipes tests the programs in its folders, and the documentation that shows them.
package recipes

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the programs and their output to the documentation again")

var (
	readmeFile  = filepath.Join("..", "..", "README.md")
	recipesFile = filepath.Join("..", "..", "docs", "RECIPES.md")
	numpyFile   = filepath.Join("..", "..", "docs", "NUMPY.md")
)

// programs returns the folders with a program that the documentation shows.
func programs(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*/main.go")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	var names []string
	for _, f := range files {
		if name := filepath.Dir(f); name != "choose" { // its output depends on the machine
			names = append(names, name)
		}
	}
	return names
}

// shown returns what the documentation shows of a program: its code without the package comment, and its output.
func shown(t *testing.T, name string) string {
	t.Helper()
	code, err := os.ReadFile(filepath.Join(name, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	i := bytes.Index(code, []byte("package main\n"))
	if i < 0 {
		t.Fatalf("%s is no program", name)
	}
	var b strings.Builder
	if name != "first" {
		fmt.Fprintf(&b, "[examples/recipes/%s](../examples/recipes/%s/main.go), %d lines:\n\n", name, name, bytes.Count(code, []byte("\n")))
	}
	fmt.Fprintf(&b, "```go\n%s```\n\nIt prints\n\n```text\n%s```\n", code[i:], outputOf(t, name))
	return b.String()
}

// outputOf returns the output of a program as its example has it.
func outputOf(t *testing.T, name string) string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(name, "main_test.go"), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Comments {
		if text, ok := strings.CutPrefix(c.Text(), "Output:\n"); ok {
			return text
		}
	}
	t.Fatalf("%s has no example with output", name)
	return ""
}

// TestDocs checks that docs/RECIPES.md and README.md show the programs as they are, with the output that their examples
// compare.
func TestDocs(t *testing.T) {
	files := map[string][]byte{}
	for _, file := range []string{readmeFile, recipesFile} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files[file] = text
	}
	for _, name := range programs(t) {
		file := recipesFile
		if name == "first" {
			file = readmeFile
		}
		old, want := string(files[file]), shown(t, name)
		mark := "<!-- " + name + " -->\n"
		before, rest, found := strings.Cut(old, mark)
		part, after, closed := strings.Cut(rest, "<!-- end -->\n")
		if !found || !closed {
			t.Errorf("%s does not show program %s", file, name)
			continue
		}
		if part != want && !*update {
			t.Errorf("%s shows another state of program %s; run go test ./examples/recipes -update", file, name)
		}
		files[file] = []byte(before + mark + want + "<!-- end -->\n" + after)
	}
	if *update {
		for file, text := range files {
			if err := os.WriteFile(file, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestReadmeLength checks the length that README.md may have.
func TestReadmeLength(t *testing.T) {
	text, err := os.ReadFile(readmeFile)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n >= 200 {
		t.Errorf("README.md has %d lines, want fewer than 200", n)
	}
}

// linesOf returns the trimmed lines of the functions of a test file.
func linesOf(t *testing.T, file string) []string {
	t.Helper()
	fset := token.NewFileSet()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(fset, file, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, d := range f.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			continue
		}
		for line := range strings.Lines(string(source[fset.Position(d.Pos()).Offset:fset.Position(d.End()).Offset])) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// TestReadmeSnippets checks that the Go snippets of README.md are code of readme_test.go.
func TestReadmeSnippets(t *testing.T) {
	text, err := os.ReadFile(readmeFile)
	if err != nil {
		t.Fatal(err)
	}
	if n := checkSnippets(t, string(text), "readme_test.go"); n < 3 {
		t.Errorf("README.md shows %d snippets, want at least 3", n)
	}
}

// checkSnippets checks that the lines of each Go snippet of a text, except whole programs, are code of a test file, in
// this order. It returns the number of snippets.
func checkSnippets(t *testing.T, text, file string) int {
	t.Helper()
	code, snippets := linesOf(t, file), 0
	for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(block[1], "package main\n") {
			continue // TestDocs
		}
		snippets++
		at := 0
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSpace(line)
			if line == "" {
				continue
			}
			i := slices.Index(code[at:], line)
			if i < 0 {
				t.Errorf("the documentation shows %q, which is not in %s, or not in this order", line, file)
				break
			}
			at += i + 1
		}
	}
	return snippets
}

// TestNumPyTable checks that the Go code of each row of docs/NUMPY.md is code of numpy_test.go.
func TestNumPyTable(t *testing.T) {
	text, err := os.ReadFile(numpyFile)
	if err != nil {
		t.Fatal(err)
	}
	code, rows := strings.Join(linesOf(t, "numpy_test.go"), "\n"), 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, " | ")
		if len(cells) < 2 || strings.HasPrefix(cells[0], "| ---") || strings.HasPrefix(cells[0], "| NumPy") {
			continue
		}
		rows++
		for _, span := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[len(cells)-1], -1) {
			if !strings.Contains(code, span[1]) {
				t.Errorf("docs/NUMPY.md shows %q, which is not in numpy_test.go", span[1])
			}
		}
	}
	_, block, _ := strings.Cut(string(text), "```go\n")
	block, _, _ = strings.Cut(block, "```")
	for line := range strings.Lines(block) {
		if line = strings.TrimSpace(line); !strings.Contains(code, line) {
			t.Errorf("docs/NUMPY.md shows %q, which is not in numpy_test.go", line)
		}
	}
	if rows < 45 {
		t.Errorf("docs/NUMPY.md has %d rows, want at least 45", rows)
	}
}
