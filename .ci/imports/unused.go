package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// forUsers lists exported names that the packages and examples do not use, but users need, and names that will become
// internal.
var forUsers = []string{
	"chunk.DefaultLevel", "chunk.ErrParam", "chunk.Delta", "chunk.NDMean", "chunk.Params.BlockSizeFor", "chunk.UserFilter",
	"frame.Batch.InsertRaw", "frame.Batch.UpdateRaw", "frame.EditStorage", "frame.Frame.ReadRaw",
	"frame/remote.Dir.ChunkOffset", "frame/remote.Dir.Gap", "frame/remote.Dir.RoundTripBytes",
	"frame/remote.OpenDirGetter", "frame/remote.OpenGetter",
	"frame/store.OpenReaderAt", "frame/store.ReadReference", "frame/store.Store.Layout", "frame/store.Store.Objects",
	"frame/store.Create", "frame/store.CreateOptions", "frame/store.ErrParam", "frame/store.ErrReadOnly",
	"frame/store.Store.Delete", "frame/store.Store.Pack", "frame/store.Store.Put", "frame/store.Store.SetAttr",
	"frame/store.Store.Sub", "frame/store/objects.Array.ArrowSchema", "frame/store/objects.Array.Block",
	"frame/store/lazy.Expression.Names", "frame/store/objects.Array.Item", "frame/store/objects.Array.ItemsPerBlock", "frame/store/objects.ErrParam",
	"frame/store/objects.ErrReadOnly", "frame/store/objects.ErrType", "frame/store/table.Column.Categories",
	"frame/store/table.Column.Objects", "frame/store/table.Column.Stored", "frame/store/table.Column.Text", "frame.Frame.CheckAlloc",
	"frame/store/table.Equal", "frame/store/table.Find", "frame/store/table.Less", "frame/store/table.LessOrEqual",
	"frame.CheckAllocs", "frame/store/table.Frames",
	"frame/store/table.NotEqual", "frame/store/table.ReadNullable", "frame/store/table.Rows",
	"meta.ExtRef",
	"ndarray.Array.Refresh", "ndarray.Array.Save", "ndarray.ErrChanged", "ndarray.ErrParam",
	"ndarray.FullBytes", "ndarray.Histogram", "ndarray.NaT", "ndarray.Quantiles", "ndarray.OpenReaderAt", "ndarray.Flip", "ndarray.Squeeze",
	"shuffle.ByteDeltaDecode", "shuffle.DeltaDecode", "shuffle.DeltaEncode", "shuffle.ErrParam", "shuffle.IntTrunc",
}

// checkUnused returns a fault for each exported name that only tests use and that is not in forUsers.
func checkUnused(dir string, pkgs []*loaded) ([]string, error) {
	names, err := unused(dir, pkgs)
	var faults []string
	for _, n := range names {
		if !slices.Contains(forUsers, n) {
			faults = append(faults, n+": exported, but only tests use it; add an Example, or the name to forUsers")
		}
	}
	return faults, err
}

// unused returns the exported functions, types, constants, variables and methods of public packages that no file uses
// except tests: neither the packages of the module nor the examples, in tests or as programs.
func unused(dir string, pkgs []*loaded) ([]string, error) {
	used := map[string]bool{} // by key: objects from export data are not those from source
	for _, p := range pkgs {
		for _, o := range p.info.Uses {
			if o = origin(o); o.Exported() && isDeclared(o) {
				used[key(o)] = true
			}
		}
	}
	shown, err := exampleNames(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range pkgs {
		if p.types.Name() == "main" || strings.Contains("/"+p.path+"/", "/internal/") {
			continue
		}
		for _, o := range p.info.Defs {
			if o == nil || !o.Exported() || !isDeclared(o) || used[key(o)] || shown[o.Name()] || implements(o) {
				continue
			}
			names = append(names, key(o))
		}
	}
	slices.Sort(names)
	return names, nil
}

// key returns the name of a declared object with its package and the type of its receiver.
func key(o types.Object) string {
	name := strings.TrimPrefix(o.Pkg().Path(), module+"/") + "."
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		t := f.Signature().Recv().Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if n, ok := t.(*types.Named); ok {
			name += n.Obj().Name() + "."
		}
	}
	return name + o.Name()
}

// implements reports whether an object is a method that the standard library calls through an interface, or a method of
// an unexported type or of an interface.
func implements(o types.Object) bool {
	f, ok := o.(*types.Func)
	if !ok || f.Signature().Recv() == nil {
		return false
	}
	switch o.Name() {
	case "String", "Error", "Unwrap", "Is", "As", "Read", "ReadAt", "Write", "WriteAt", "WriteTo", "ReadFrom", "Close", "Sync":
		return true
	}
	t := f.Signature().Recv().Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := t.(*types.Named)
	return !ok || !n.Obj().Exported() || types.IsInterface(n)
}

// exampleNames returns the names that examples select from packages and values: Example functions of tests, and the
// programs below examples/, which may be modules of their own.
func exampleNames(dir string) (map[string]bool, error) {
	names := map[string]bool{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if d.IsDir() {
			if name := d.Name(); rel != "." && (name[0] == '.' || name[0] == '_' || name == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		isTest := strings.HasSuffix(rel, "_test.go")
		program := strings.HasPrefix(filepath.ToSlash(rel), "examples/") && filepath.Ext(rel) == ".go" && !isTest
		if !isTest && !program {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("%s: %w", rel, err)
		}
		whole := program || strings.Contains(filepath.Base(rel), "example")
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); !whole && (!ok || !strings.HasPrefix(f.Name.Name, "Example")) {
				continue
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					names[s.Sel.Name] = true
				}
				return true
			})
		}
		return nil
	})
	return names, err
}
