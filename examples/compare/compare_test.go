package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/examples/compare/result"
)

// TestRun runs every kind of cell once, for a short time.
func TestRun(t *testing.T) {
	name, out := filepath.Join(t.TempDir(), "r.json"), new(bytes.Buffer)
	args := []string{"-quick", "-size", "131072", "-rounds", "1", "-round", "1us", "-json", name}
	if err := run(args, out); err != nil {
		t.Fatalf("%v, after\n%s", err, out)
	}
	r, err := result.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]int{}
	for _, g := range r.Groups {
		cells[g.Name] = g.Cells
		if !(g.Min > 0 && g.Min <= g.Mean*1.001) {
			t.Errorf("%+v", g)
		}
	}
	chunks := len(sets) * len(pipelines) * 2 // of one codec and level
	for name, want := range map[string]int{
		"kernels": 40, "encode-fast": 2*chunks + 2*len(sets), "decode-fast": 3*chunks + 2*len(sets) + 6,
		"encode-deep": 3 * chunks, "decode-deep": 2 * chunks, "read-1": 9, "read-2": 9, "write": 7,
	} {
		if cells[name] != want {
			t.Errorf("%s: %d cells, want %d", name, cells[name], want)
		}
	}
	for _, x := range r.Rows {
		if x.Go <= 0 || x.C <= 0 || x.Ratio <= 0 || x.Bytes <= 0 || (x.GoSize > 0) != strings.HasPrefix(x.Group, "encode") {
			t.Errorf("%+v", x)
		}
		if fast := strings.HasPrefix(x.Name, "lz4") || strings.HasPrefix(x.Name, "blosclz"); fast && x.GoSize != x.CSize {
			t.Errorf("%s: %d bytes, C produces %d", x.Name, x.GoSize, x.CSize)
		}
	}
}

// TestSelect runs one cell.
func TestSelect(t *testing.T) {
	out := new(bytes.Buffer)
	if err := run([]string{"-quick", "-rounds", "3", "-run", "^kernels/shuffle/4/256K"}, out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "shuffle/4/256K"); n != 2 { // in the table and in the summary
		t.Errorf("%d lines, %s", n, out)
	}
	for _, args := range [][]string{{"-run", "("}, {"-rounds", "0"}, {"-levels", "1,10"}, {"more"}} {
		if run(args, out) == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// TestCommandOf leaves out the flags for the files with the results.
func TestCommandOf(t *testing.T) {
	got := commandOf([]string{"-run", "^(a|b)", "-docs", "../..", "-levels", "5", "-quick", "-json", "x"})
	if want := "-run '^(a|b)' -levels 5 -quick"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
