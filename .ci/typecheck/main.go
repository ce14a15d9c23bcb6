// Command typecheck checks the types of packages and of their tests for other systems, without compiling anything:
//
//	typecheck [-C DIR] GOOS/GOARCH PACKAGE ...
//
// It takes seconds where go vet, which compiles all that a package imports, takes a minute. It does not see what
// assembly, links and go:linkname may lack. It exits 1 if there is an error.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	dir := flag.String("C", ".", "folder in which the packages are named")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: typecheck [-C DIR] GOOS/GOARCH PACKAGE ...")
		os.Exit(2)
	}
	n, err := check(*dir, flag.Arg(0), flag.Args()[1:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "typecheck:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: the types of %d packages are right\n", flag.Arg(0), n)
}

// listed is what go list says of a package.
type listed struct {
	Dir, ImportPath, ForTest string
	GoFiles                  []string
	ImportMap                map[string]string
	DepOnly                  bool
	Module                   *struct{ GoVersion string }
	Error                    *struct{ Err string }
}

// check checks packages and what they import for a system, and returns how many of them it checked with the bodies of
// their functions: those named, and their tests.
func check(dir, system string, packages ...string) (int, error) {
	goos, goarch, _ := strings.Cut(system, "/")
	cmd := exec.Command("go", append([]string{"list", "-deps", "-test", "-json"}, packages...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("go list for %s: %w", system, err)
	}
	c := checker{
		files: token.NewFileSet(),
		done:  map[string]*types.Package{"unsafe": types.Unsafe},
		sizes: types.SizesFor("gc", goarch),
	}
	count := 0
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return count, nil
		} else if err != nil {
			return 0, fmt.Errorf("go list for %s: %w", system, err)
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // a main function that go test writes
			continue
		}
		if err := c.add(&p); err != nil {
			return 0, fmt.Errorf("%s: %w", system, err)
		}
		if !p.DepOnly {
			count++
		}
	}
}

// A checker checks packages, each after those that it imports.
type checker struct {
	files *token.FileSet
	done  map[string]*types.Package // by import path
	sizes types.Sizes
}

// add checks a package. It skips the bodies of functions of packages that are only imported.
func (c *checker) add(p *listed) error {
	if p.Error != nil {
		return errors.New(p.Error.Err)
	}
	var syntax []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		syntax = append(syntax, file)
	}
	var faults []error
	conf := types.Config{
		Importer:         importer{c.done, p.ImportMap},
		Sizes:            c.sizes,
		IgnoreFuncBodies: p.DepOnly,
		Error:            func(err error) { faults = append(faults, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ") // without " [package.test]"
	checked, _ := conf.Check(path, c.files, syntax, nil)
	c.done[p.ImportPath] = checked
	return errors.Join(faults...)
}

// An importer finds the packages that a package imports.
type importer struct {
	done   map[string]*types.Package
	others map[string]string // import paths -> where they lead: to a vendored package, or to one with its tests
}

// Import returns a package that was checked before.
func (i importer) Import(path string) (*types.Package, error) {
	if other, ok := i.others[path]; ok {
		path = other
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s was not listed before its use", path)
}
