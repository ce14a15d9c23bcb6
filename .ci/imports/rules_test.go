package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"testing"
)

const rulesSample = `package ndarray

import (
	"context"
	"errors"
)

type Options struct{}
type ReadOptions struct{}
type Array struct{}
type hidden struct{}
type Shapes struct{ Shape []int64; Axes []int; Chunks []int32; inner []int32 }
type Reader interface{ ReadBytes(ctx context.Context, dst []byte) }

func Good[T any](ctx context.Context, name string, data []T, o *Options)       {}
func GoodBytes(ctx context.Context, name string, data []byte, o *ReadOptions)  {}
func OpenBytes(b []byte, o *Options)                                           {}
func Open(ctx context.Context, name string, o *Options)                        {}
func (*Array) Attr(name string, v any)                                         {}

func Transpose(axes ...int)             {}
func (*Array) Blocks() []int32          { return nil }
func Late(name string, ctx context.Context)            {}
func NameLast(ctx context.Context, x int, name string) {}
func OptionsFirst(o *Options, x int)                   {}
func TypedBytes[T any](data []T)                       {}
func Raw(data []byte)                                  {}
func Short(x int)                                      {}
func ShortBytes(data []byte)                           {}
func (*Array) Late(x int, ctx context.Context)         {}
func (hidden) Unseen(x int, ctx context.Context)       {}
func unseen(x int, ctx context.Context)                {}

var ErrOwn = errors.New("own")
var errOwn = errors.New("own")
`

func TestRules(t *testing.T) {
	p := &loaded{path: "ndarray", fset: token.NewFileSet(), info: &types.Info{Uses: map[*ast.Ident]types.Object{}}}
	f, err := parser.ParseFile(p.fset, "a.go", rulesSample, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	p.files = []*ast.File{f}
	conf := types.Config{Importer: importer.ForCompiler(p.fset, "source", nil)}
	if p.types, err = conf.Check(module+"/ndarray", p.fset, p.files, p.info); err != nil {
		t.Fatal(err)
	}
	got := checkRules([]*loaded{p, {path: "internal/x"}})
	want := []string{
		"ndarray.Array.Blocks: a result has type []int32, want []int64",
		"ndarray.Array.Late: the context must be the first parameter",
		"ndarray.ErrOwn: an exported error must have the value of the same name in internal/errs",
		"ndarray.Late: the context must be the first parameter",
		"ndarray.NameLast: name must be the first parameter after the context",
		"ndarray.OptionsFirst: a function with options must take a context",
		"ndarray.OptionsFirst: options must be the last parameter",
		"ndarray.Raw: a function with a parameter data []byte must be called ...Bytes",
		"ndarray.Shapes: Chunks has type []int32, want []int64",
		"ndarray.ShortBytes: Short must have a type parameter, as it is the short name",
		"ndarray.TypedBytes: a function with a type parameter must not be called ...Bytes",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestSharedErrors accepts an error of internal/errs under its own name only.
func TestSharedErrors(t *testing.T) {
	fset := token.NewFileSet()
	errs := types.NewPackage(module+"/internal/errs", "errs")
	v := types.NewVar(token.NoPos, errs, "ErrA", types.Universe.Lookup("error").Type())
	errs.Scope().Insert(v)
	errs.MarkComplete()
	p := &loaded{path: "frame", fset: fset, info: &types.Info{Uses: map[*ast.Ident]types.Object{}}}
	f, err := parser.ParseFile(fset, "a.go", "package frame\n\nimport \""+module+"/internal/errs\"\n\nvar ErrA, ErrB = errs.ErrA, errs.ErrA\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	p.files = []*ast.File{f}
	conf := types.Config{Importer: importerFunc(func(string) (*types.Package, error) { return errs, nil })}
	if p.types, err = conf.Check(module+"/frame", fset, p.files, p.info); err != nil {
		t.Fatal(err)
	}
	if got := ownErrors(p); !slices.Equal(got, []string{"ErrB"}) {
		t.Errorf("%q, want ErrB", got)
	}
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }
