package main

import (
	"os"
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
