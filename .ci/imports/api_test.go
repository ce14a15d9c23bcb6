package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestAPI(t *testing.T) {
	p := loadText(t)
	p.path = "meta"
	want := []string{
		"meta: const C untyped int", "meta: const D untyped int", "meta: func A()", "meta: func Unused[T any](T)",
		"meta: method B.M()", "meta: method B.String() string", "meta: method B.Unused()", "meta: type B struct",
	}
	if got := apiOf(p); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".ci"), 0o777); err != nil {
		t.Fatal(err)
	}
	pkgs := []*loaded{p, {path: "internal/x"}}
	if faults, err := checkAPI(dir, pkgs, true); err != nil || len(faults) > 0 {
		t.Fatal(faults, err)
	}
	if faults, err := checkAPI(dir, pkgs, false); err != nil || len(faults) > 0 {
		t.Error(faults, err)
	}
	name := filepath.Join(dir, apiFile)
	if err := os.WriteFile(name, []byte("meta: func Gone()\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if faults, err := checkAPI(dir, pkgs, false); err != nil || len(faults) != len(want)+2 {
		t.Errorf("%q, %v: want a fault for each change", faults, err)
	}
}
