package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// loaded is a package of the module with the types of its files, tests excluded, on this platform.
type loaded struct {
	path  string // below the module, such as "frame/internal/crc32c"
	fset  *token.FileSet
	files []*ast.File
	types *types.Package
	info  *types.Info
}

// load returns the packages of the module in a folder. The compiler's export data describes what they import.
func load(dir string) ([]*loaded, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
		Module                  *struct{ Main bool }
	}
	var ours []listed
	exports := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[l.ImportPath] = l.Export
		if l.Module != nil && l.Module.Main {
			ours = append(ours, l)
		}
	}
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var all []*loaded
	for _, l := range ours {
		p := &loaded{path: strings.TrimPrefix(l.ImportPath, module+"/"), fset: fset, info: &types.Info{
			Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		}}
		for _, name := range l.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			p.files = append(p.files, f)
		}
		conf := types.Config{Importer: imp}
		if p.types, err = conf.Check(l.ImportPath, fset, p.files, p.info); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// isDeclared reports whether an object is declared in the package block, or is a method.
func isDeclared(o types.Object) bool {
	if o.Pkg() == nil {
		return false
	}
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		return true
	}
	return o.Parent() == o.Pkg().Scope()
}

// origin returns the declaration of an object. For a function or method of an instantiated type, that is the generic
// function or method.
func origin(o types.Object) types.Object {
	if f, ok := o.(*types.Func); ok {
		return f.Origin()
	}
	return o
}
