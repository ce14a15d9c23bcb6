package main

import (
	"strings"
	"testing"
)

// TestGoal copies an array with each goal, and prints the table of a choice.
func TestGoal(t *testing.T) {
	from, to := newArray(t), t.TempDir()+"/copy"
	frame := fixturesDir + "/python-blosc2/schunk_edit_c.b2frame"
	for _, goal := range []string{"balanced", "smallest", "fastest"} {
		for _, name := range []string{from, frame} {
			must(t, "", "copy", "-overwrite", "-goal", goal, name, to)
			if must(t, "", "dump", to) != must(t, "", "dump", name) || must(t, "", "verify", to) != "" {
				t.Errorf("%s %s: the data differs", goal, name)
			}
		}
		must(t, numbers(100), "create", "-overwrite", "-goal", goal, "-shape", "100", "-dtype", "<i4", to)
	}
	for _, args := range [][]string{{"-codec", "lz4"}, {"-level", "1"}, {"-filters", "shuffle"}, {"-split", "auto"}, {"-dict"}, {"-codec-meta", "1"}} {
		fails(t, 2, "-goal is in place of", "", append([]string{"copy", "-goal", "fastest", from, to}, args...)...)
	}
	fails(t, 2, "want balanced, smallest or fastest", "", "copy", "-goal", "small", from, to)
	fails(t, 2, "-goal is in place of", "", "bench", "-goal", "fastest", "-codecs", "lz4", from)
	large := writeFile(t, t.TempDir()+"/large.npy", npyFile([]int64{16000}, false, numbers(16000)))
	out := must(t, "", "bench", "-goal", "balanced", large)
	if !strings.Contains(out, "goal balanced, sample of") || !strings.Contains(out, "zstd:5") || !strings.Contains(out, "cost") {
		t.Error(out)
	}
}
