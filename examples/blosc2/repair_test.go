package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRepair repairs an array without its end, also to leaves of a store, and an array with a damaged chunk.
func TestRepair(t *testing.T) {
	dir := t.TempDir()
	raw := strings.Repeat("0123456789abcdef", 500)
	array, fixed := filepath.Join(dir, "a.b2nd"), filepath.Join(dir, "fixed.b2nd")
	must(t, raw, "create", "-shape", "1000", "-dtype", "<i8", "-chunks", "100", "-blocks", "50", "-level", "0", array)
	whole, err := os.ReadFile(array)
	if err != nil {
		t.Fatal(err)
	}
	write := func(b []byte) {
		if err := os.WriteFile(array, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(whole[:len(whole)-60]) // without the trailer and the end of the index
	if out := must(t, "", "repair", array, fixed); !strings.HasSuffix(out, "chunks: 10 intact, in order of their offsets; lost: 0\n") {
		t.Errorf("%s", out)
	}
	must(t, "", "verify", fixed)
	if got := must(t, "", "dump", fixed); got != raw {
		t.Error("the data differs")
	}
	fails(t, 1, fixed+" already exists; use -overwrite to replace it\n", "", "repair", array, fixed)

	st := storeOf(t, "s.b2d", "/x")
	must(t, "", "repair", array, st+"/new")
	fails(t, 1, "already exists", "", "repair", array, st+"/x")
	must(t, "", "repair", "-overwrite", array, st+"/x")
	if got := squeeze(must(t, "", "ls", st)); got != "/new array (1000,) <i8\n/x array (1000,) <i8\n" {
		t.Errorf("%s", got)
	}

	damaged := []byte(string(whole))
	at := strings.Index(string(whole), raw[:800]) // the first chunk
	clear(damaged[at-32 : at])
	write(damaged)
	out := must(t, "", "repair", "-overwrite", array, fixed)
	if !strings.Contains(out, "chunk 0 at byte ") || !strings.HasSuffix(out, "chunks: 9 intact, in order of the index; lost: 1\n") {
		t.Errorf("%s", out)
	}
	if got := must(t, "", "dump", fixed); got != strings.Repeat("\x00", 800)+raw[800:] {
		t.Error("the data differs")
	}
	for _, to := range []string{array, dir + "/./a.b2nd"} {
		fails(t, 1, to+" is the damaged frame itself", "", "repair", "-overwrite", array, to)
	}
	leaf := filepath.Join(st, "x.b2nd")
	if err := os.WriteFile(leaf, damaged, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{leaf, st + "/x"} {
		for _, to := range []string{leaf, st + "/x"} {
			fails(t, 1, to+" is the damaged frame itself", "", "repair", "-overwrite", from, to)
		}
	}
	for _, name := range []string{array, leaf} {
		if got, err := os.ReadFile(name); err != nil || string(got) != string(damaged) {
			t.Errorf("%s has changed, %v", name, err)
		}
	}
	sparse := filepath.Join(dir, "sparse")
	must(t, "", "copy", "-sparse", fixed, sparse)
	fails(t, 1, sparse+" is the damaged frame itself", "", "repair", "-overwrite", "-sparse", sparse, sparse)
	write([]byte("no chunks"))
	fails(t, 1, "no intact chunk", "", "repair", array, fixed+"2")
	fails(t, 2, "missing", "", "repair", array)
	fails(t, 1, "a file or a directory", "", "repair", array, "-")
}
