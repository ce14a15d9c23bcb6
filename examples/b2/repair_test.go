package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRepair cuts the end of an array off, and damages a chunk of another.
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
	write(whole[:len(whole)-60]) // neither trailer nor all of the index
	if out := must(t, "", "repair", array, fixed); !strings.HasSuffix(out, "chunks: 10 sound, by their positions; lost: 0\n") {
		t.Errorf("%s", out)
	}
	must(t, "", "verify", fixed)
	if got := must(t, "", "dump", fixed); got != raw {
		t.Error("other content")
	}
	fails(t, 1, "exists", "", "repair", array, fixed)

	broken := []byte(string(whole))
	at := strings.Index(string(whole), raw[:800]) // the first chunk
	clear(broken[at-32 : at])
	write(broken)
	out := must(t, "", "repair", "-overwrite", array, fixed)
	if !strings.Contains(out, "chunk 0 at byte ") || !strings.HasSuffix(out, "chunks: 9 sound, in their order; lost: 1\n") {
		t.Errorf("%s", out)
	}
	if got := must(t, "", "dump", fixed); got != strings.Repeat("\x00", 800)+raw[800:] {
		t.Error("other content")
	}
	write([]byte("nothing of use"))
	fails(t, 1, "no intact chunk", "", "repair", array, fixed+"2")
	fails(t, 2, "missing", "", "repair", array)
}
