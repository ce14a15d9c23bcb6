package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// checkRules returns a fault for each exported name of the public packages that breaks a rule of the interface. See
// docs/ARCHITECTURE.md, "Rules of the interface".
func checkRules(pkgs []*loaded) []string {
	var faults []string
	for _, p := range pkgs {
		if !slices.Contains(public, p.path) {
			continue
		}
		add := func(name, format string, args ...any) {
			faults = append(faults, p.path+"."+name+": "+fmt.Sprintf(format, args...))
		}
		for name, f := range functions(p.types) {
			checkOrder(f, func(format string, args ...any) { add(name, format, args...) })
			if p.path == "ndarray" {
				checkBytes(p.types, f, func(format string, args ...any) { add(name, format, args...) })
			}
		}
		if p.path == "ndarray" {
			faults = append(faults, otherIntegers(p.types)...)
		}
		for _, name := range ownErrors(p) {
			add(name, "an exported error must have the value of the same name in internal/errs")
		}
	}
	slices.Sort(faults)
	return faults
}

// functions ranges over the exported functions of a package, and the exported methods of its exported types.
func functions(pkg *types.Package) map[string]*types.Func {
	all := map[string]*types.Func{}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Func:
			all[name] = o
		case *types.TypeName:
			var t types.Type = types.NewPointer(o.Type())
			if types.IsInterface(o.Type()) {
				t = o.Type()
			}
			for m := range types.NewMethodSet(t).Methods() {
				if f := m.Obj().(*types.Func); f.Exported() {
					all[name+"."+f.Name()] = f
				}
			}
		}
	}
	return all
}

// checkOrder checks the order of parameters: a context first, the name of what a function creates or opens next,
// options last. Functions with options may wait, and so take a context, except OpenBytes and those of package chunk,
// which work on memory.
func checkOrder(f *types.Func, add func(format string, args ...any)) {
	params := f.Signature().Params()
	for i := range params.Len() {
		v := params.At(i)
		if isOptions(v.Type()) && !isContext(params.At(0).Type()) && f.Pkg().Name() != "chunk" && f.Name() != "OpenBytes" {
			add("a function with options must take a context")
		}
		switch {
		case isContext(v.Type()):
			if i > 0 {
				add("the context must be the first parameter")
			}
		case v.Name() == "name":
			if i > 1 || i == 1 && !isContext(params.At(0).Type()) {
				add("name must be the first parameter after the context")
			}
		case isOptions(v.Type()):
			if i < params.Len()-1 {
				add("options must be the last parameter")
			}
		}
	}
}

func isContext(t types.Type) bool { return t.String() == "context.Context" }

// isOptions reports whether a type is a pointer to a struct whose name ends in Options.
func isOptions(t types.Type) bool {
	p, ok := t.(*types.Pointer)
	if !ok {
		return false
	}
	n, ok := p.Elem().(*types.Named)
	return ok && strings.HasSuffix(n.Obj().Name(), "Options")
}

// checkBytes checks that functions on items as they are stored have a name that ends in Bytes, and others have not.
func checkBytes(pkg *types.Package, f *types.Func, add func(format string, args ...any)) {
	sig := f.Signature()
	typed := sig.TypeParams().Len() > 0
	short, isBytes := strings.CutSuffix(f.Name(), "Bytes")
	if isBytes && typed {
		add("a function with a type parameter must not be called ...Bytes")
	}
	if g, ok := pkg.Scope().Lookup(short).(*types.Func); isBytes && short != "Open" && ok && g.Signature().TypeParams().Len() == 0 {
		add("%s must have a type parameter, as it is the short name", short)
	}
	for v := range sig.Params().Variables() {
		if s, ok := v.Type().(*types.Slice); ok && !isBytes && types.Identical(s.Elem(), types.Typ[types.Byte]) {
			add("a function with a parameter %s []byte must be called ...Bytes", v.Name())
		}
	}
}

// otherIntegers returns a fault for each slice of integers in an exported function or field that is not []int64, or
// []int for axes.
func otherIntegers(pkg *types.Package) []string {
	var faults []string
	look := func(where string, v *types.Var) {
		s, ok := v.Type().(*types.Slice)
		if !ok {
			return
		}
		b, ok := s.Elem().(*types.Basic)
		isAxes := strings.EqualFold(v.Name(), "axes")
		if ok && b.Info()&types.IsInteger != 0 && b.Kind() != types.Int64 && b.Kind() != types.Byte && !(b.Kind() == types.Int && isAxes) {
			faults = append(faults, fmt.Sprintf("%s.%s: %s has type %s, want []int64", pkg.Name(), where, cmp.Or(v.Name(), "a result"), v.Type()))
		}
	}
	for name, f := range functions(pkg) {
		for v := range f.Signature().Params().Variables() {
			look(name, v)
		}
		for v := range f.Signature().Results().Variables() {
			look(name, v)
		}
	}
	for _, name := range pkg.Scope().Names() {
		o, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || !o.Exported() || o.IsAlias() {
			continue
		}
		if u, ok := o.Type().Underlying().(*types.Struct); ok {
			for f := range u.Fields() {
				if f.Exported() {
					look(name, f)
				}
			}
		}
	}
	return faults
}

// notAnError is the answer of an encoder, on which the caller stores the stream uncompressed. It fails no call.
const notAnError = "codec.ErrIncompressible"

// ownErrors returns the exported variables of a package that are called Err... and are not those of internal/errs.
func ownErrors(p *loaded) []string {
	var names []string
	for _, file := range p.files {
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.VAR {
				continue
			}
			for _, spec := range d.Specs {
				s := spec.(*ast.ValueSpec)
				for i, id := range s.Names {
					if strings.HasPrefix(id.Name, "Err") && p.path+"."+id.Name != notAnError && !(i < len(s.Values) && isShared(p, s.Values[i], id.Name)) {
						names = append(names, id.Name)
					}
				}
			}
		}
	}
	return names
}

// isShared reports whether an expression is the variable of internal/errs with a name.
func isShared(p *loaded, e ast.Expr, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	o := p.info.Uses[s.Sel]
	return o != nil && o.Pkg() != nil && o.Pkg().Path() == module+"/internal/errs"
}
