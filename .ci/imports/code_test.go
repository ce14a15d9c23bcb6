package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"testing"
)

// loadText makes a package of some files. a.go, b.go and c.go form a cycle by a function, a method and a constant.
func loadText(t *testing.T) *loaded {
	t.Helper()
	texts := map[string]string{
		"a.go": "package x\n\nfunc A() { var v B; v.M() }",
		"b.go": "package x\n\ntype B struct{}\n\nfunc (B) M() { _ = C }\nfunc (B) Unused() {}",
		"c.go": "package x\n\nconst C = D\n\nfunc c() { A() }\nfunc Unused[T any](T) { c() }",
		"d.go": "package x\n\nconst D = 1\n\ntype hidden struct{}\n\nfunc (hidden) Method() {}\nfunc (B) String() string { return \"\" }",
	}
	p := &loaded{path: "x", fset: token.NewFileSet(), info: &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		f, err := parser.ParseFile(p.fset, name, texts[name], parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		p.files = append(p.files, f)
	}
	var err error
	if p.types, err = new(types.Config).Check(module+"/x", p.fset, p.files, p.info); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFileCycles(t *testing.T) {
	// d.go declares a method of B, which is in b.go, and c.go uses D.
	want := [][]string{{"a.go", "b.go", "c.go", "d.go"}}
	if got := fileCycles(loadText(t)); !reflect.DeepEqual(got, want) {
		t.Errorf("cycles %v, want %v", got, want)
	}
	graph := map[string]map[string]bool{"a": {"b": true}, "b": {"c": true}, "c": {"b": true}, "d": {"d": true, "a": true}}
	if got, want := components(graph), [][]string{{"b", "c"}, {"a"}, {"d"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("components %v, want %v", got, want)
	}
}

func TestCheckCycles(t *testing.T) {
	p := loadText(t)
	if faults := checkCycles([]*loaded{p}); len(faults) > 0 {
		t.Errorf("faults %q for a cycle of four files", faults)
	}
	if faults := longCycles([]*loaded{p}, 3); len(faults) != 1 {
		t.Errorf("faults %q, want one", faults)
	}
}

func TestUnused(t *testing.T) {
	got, err := unused(t.TempDir(), []*loaded{loadText(t)})
	if want := []string{"x.B.Unused", "x.Unused"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}
