package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

func TestCompact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	raw := make([]byte, 40000)
	for i := range raw {
		raw[i] = byte(rng.Uint32())
	}
	for _, form := range []string{"", "-sparse"} {
		name := filepath.Join(t.TempDir(), "x.b2nd")
		must(t, string(raw), "create", "-shape", "100,100", "-dtype", "<i4", "-chunks", "20,20", "-sparse="+fmt.Sprint(form != ""), name)
		must(t, "", "resize", name, "50,100")
		dumped := must(t, "", "dump", name)
		if form != "" {
			if err := os.WriteFile(filepath.Join(name, "00000FFF.chunk"), raw, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if dead := must(t, "", "compact", "-n", name); len(dead) != len("dead bytes: 20000\n") {
			t.Errorf("%s: %s", form, dead)
		}
		if out := must(t, "", "compact", name); len(out) != len("dead bytes released: 20000\n") {
			t.Errorf("%s: %s", form, out)
		}
		if dead := must(t, "", "compact", "-n", name); dead != "dead bytes: 0\n" {
			t.Errorf("%s: %s", form, dead)
		}
		must(t, "", "verify", name)
		if got := must(t, "", "dump", name); got != dumped {
			t.Error("compact changed the data")
		}
	}
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("not a frame"), 0o666); err != nil {
		t.Fatal(err)
	}
	fails(t, 1, "not a Blosc2 frame", "", "compact", bad)
	fails(t, 2, "missing", "", "compact")
}
