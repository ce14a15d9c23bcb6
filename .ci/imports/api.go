package main

import (
	"bytes"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// apiFile lists the exported names of the public packages, one per line. It is under version control, so that a diff
// shows every change of the interface. Run the command with -update to rewrite it.
const apiFile = ".ci/api.txt"

// public are the packages whose exported names are the interface of the module.
var public = []string{"chunk", "codec", "frame", "frame/remote", "frame/store", "frame/store/objects", "frame/store/table", "meta", "ndarray", "ndarray/npy", "shuffle"}

// checkAPI returns a fault if apiFile does not list the names that are exported now. With update it writes the file.
func checkAPI(dir string, pkgs []*loaded, update bool) ([]string, error) {
	var lines []string
	for _, p := range pkgs {
		if slices.Contains(public, p.path) {
			lines = append(lines, apiOf(p)...)
		}
	}
	now := []byte(strings.Join(lines, "\n") + "\n")
	name := filepath.Join(dir, apiFile)
	if update {
		return nil, os.WriteFile(name, now, 0o666)
	}
	was, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(was, now) {
		return nil, nil
	}
	old := strings.Split(strings.TrimSpace(string(was)), "\n")
	var faults []string
	for _, l := range lines {
		if !slices.Contains(old, l) {
			faults = append(faults, "new in the interface: "+l)
		}
	}
	for _, l := range old {
		if !slices.Contains(lines, l) {
			faults = append(faults, "no longer in the interface: "+l)
		}
	}
	return append(faults, apiFile+": not what is exported; update it with go run ./.ci/imports -update"), nil
}

// apiOf returns a line for each exported name of a package, and for each exported field and method of its types,
// sorted.
func apiOf(p *loaded) []string {
	qualify := func(q *types.Package) string {
		if q == p.types {
			return ""
		}
		return q.Name()
	}
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, p.path+": "+fmt.Sprintf(format, args...)) }
	scope := p.types.Scope()
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		if !o.Exported() {
			continue
		}
		t, ok := o.(*types.TypeName)
		if !ok {
			add("%s", types.ObjectString(o, qualify))
			continue
		}
		kind := types.TypeString(t.Type().Underlying(), qualify)
		switch u := t.Type().Underlying().(type) {
		case *types.Struct:
			kind = "struct"
			for f := range u.Fields() {
				if f.Exported() {
					add("field %s.%s %s", name, f.Name(), types.TypeString(f.Type(), qualify))
				}
			}
		case *types.Interface:
			kind = "interface"
		}
		add("type %s %s", name, kind)
		methods := types.NewMethodSet(t.Type())
		if !types.IsInterface(t.Type()) {
			methods = types.NewMethodSet(types.NewPointer(t.Type()))
		}
		for m := range methods.Methods() {
			if f := m.Obj(); f.Exported() {
				sig := types.TypeString(f.Type(), qualify)
				add("method %s.%s%s", name, f.Name(), strings.TrimPrefix(sig, "func"))
			}
		}
	}
	slices.Sort(lines)
	return lines
}
