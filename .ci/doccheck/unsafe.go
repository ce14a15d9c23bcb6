package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// harmless are the functions of package unsafe that touch no memory.
var harmless = map[string]bool{"Sizeof": true, "Alignof": true, "Offsetof": true}

// unexplained returns the uses of package unsafe in a file without a comment that begins with "Safe:" and names the
// check that makes the use safe. The comment is on the line of the use, ends on the line before, or is part of the
// comment before the declaration that has the use.
func unexplained(fset *token.FileSet, file *ast.File) (missing []string) {
	line := func(p token.Pos) int { return fset.Position(p).Line }
	explained := map[int]bool{} // lines
	for _, g := range file.Comments {
		if isReason(g) {
			for n := line(g.Pos()); n <= line(g.End())+1; n++ {
				explained[n] = true
			}
		}
	}
	for _, decl := range file.Decls {
		var doc *ast.CommentGroup
		switch d := decl.(type) {
		case *ast.FuncDecl:
			doc = d.Doc
		case *ast.GenDecl:
			doc = d.Doc
		}
		if doc != nil && isReason(doc) {
			continue
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "unsafe" && !harmless[s.Sel.Name] && !explained[line(s.Pos())] {
				explained[line(s.Pos())] = true // one message for a line
				missing = append(missing, fmt.Sprintf("%s: no comment that says why unsafe.%s is safe", fset.Position(s.Pos()), s.Sel.Name))
			}
			return true
		})
	}
	return missing
}

// isReason reports whether a line of a comment begins with "Safe:".
func isReason(g *ast.CommentGroup) bool {
	return strings.HasPrefix(g.Text(), "Safe: ") || strings.Contains(g.Text(), "\nSafe: ")
}
