// Command doccheck lists exported names without a doc comment, packages without a package comment, uses of package
// unsafe without a reason, and faults of the prose. Run it from the top of the repository. It exits 1 if the list is
// not empty.
//
// It checks functions, methods of exported types, types, constants and variables in all files except tests, whatever
// their build constraints are. The comment of a group serves its members, and so does a comment at the end of the line.
// Programs need only a package comment. See checkProse for the prose.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	missing, err := check(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "doccheck:", err)
		os.Exit(1)
	}
	faults, err := checkProse(".", notYet, ignored)
	if err != nil {
		fmt.Fprintln(os.Stderr, "doccheck:", err)
		os.Exit(1)
	}
	for _, m := range append(missing, faults...) {
		fmt.Println(m)
	}
	if len(missing)+len(faults) > 0 {
		os.Exit(1)
	}
}

// check returns the names and packages below a folder that lack a comment. It skips folders that the go command skips.
func check(dir string) ([]string, error) {
	var missing []string
	undocumented := map[string]bool{} // folder of a package -> no package comment seen so far
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != dir && (name[0] == '.' || name[0] == '_' || name == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, p, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		missing = append(missing, unexplained(fset, file)...)
		seen, known := undocumented[filepath.Dir(p)]
		undocumented[filepath.Dir(p)] = (seen || !known) && file.Doc == nil
		if file.Name.Name == "main" {
			return nil
		}
		for _, id := range bare(file) {
			missing = append(missing, fmt.Sprintf("%s: %s has no doc comment", fset.Position(id.Pos()), id.Name))
		}
		return nil
	})
	for folder, none := range undocumented {
		if none {
			missing = append(missing, folder+": no package comment")
		}
	}
	slices.Sort(missing)
	return missing, err
}

// bare returns the exported identifiers of a file that have no comment.
func bare(file *ast.File) []*ast.Ident {
	var ids []*ast.Ident
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || receiver(d.Recv.List[0].Type).IsExported()) {
				ids = append(ids, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if d.Doc == nil && s.Doc == nil && s.Comment == nil && s.Name.IsExported() {
						ids = append(ids, s.Name)
					}
				case *ast.ValueSpec:
					if d.Doc == nil && s.Doc == nil && s.Comment == nil {
						ids = append(ids, exported(s.Names)...)
					}
				}
			}
		}
	}
	return ids
}

func exported(names []*ast.Ident) []*ast.Ident {
	var ids []*ast.Ident
	for _, n := range names {
		if n.IsExported() {
			ids = append(ids, n)
		}
	}
	return ids
}

// receiver returns the name of the type of a method: T in T, *T and T[P].
func receiver(e ast.Expr) *ast.Ident {
	for {
		switch t := e.(type) {
		case *ast.Ident:
			return t
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		default:
			return ast.NewIdent("_")
		}
	}
}
