package main

import (
	"os"
	"reflect"
	"testing"
)

// TestEmptyArguments gives each verb an empty argument, as a shell does for a variable that is not set. No verb makes a
// file.
func TestEmptyArguments(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, v := range newCLI().node().Children {
		for i, p := range v.Positional {
			if mayBeEmpty(p.Name) {
				continue
			}
			args := []string{v.Name}
			for range v.Positional {
				args = append(args, "x")
			}
			args[1+i] = ""
			fails(t, 2, "blosc2 "+v.Name+": argument "+p.Name+" is empty (see blosc2 help "+v.Name+")\n", "", args...)
		}
	}
	fails(t, 2, "argument PATH is empty", "", "info", "a", "")
	fails(t, 2, "-addr is empty", "", "serve", "-addr", "", ".")
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestArgumentBytes gives each verb arguments that are not UTF-8, as names of files may be. No byte changes, as that
// would be the name of another file.
func TestArgumentBytes(t *testing.T) {
	const word = "keep\xfe\x00\xff"
	for _, v := range newCLI().node().Children {
		c := newCLI()
		args := []string{v.Name}
		for _, f := range v.Flags {
			if f.Target.Type() == reflect.TypeFor[*string]() {
				args = append(args, "--"+f.Name+"="+word)
			}
		}
		for _, p := range v.Positional {
			if p.Name == "SHAPE" {
				args = append(args, "3")
			} else {
				args = append(args, word)
			}
		}
		if _, err := c.k.Parse(args); err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		values := c.verb(v.Name).Positional
		for _, f := range c.verb(v.Name).Flags {
			if f.Target.Type() == reflect.TypeFor[*string]() {
				values = append(values, f.Value)
			}
		}
		for _, x := range values {
			got := reflect.Indirect(x.Target)
			if x.IsSlice() && x.Name == "PATH" {
				got = got.Index(0)
			}
			if got.Kind() == reflect.String && got.String() != word {
				t.Errorf("%s %s: %q", v.Name, x.Name, got)
			}
		}
	}
}
