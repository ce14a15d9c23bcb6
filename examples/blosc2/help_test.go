package main

import (
	"strings"
	"testing"
)

// TestHelpWidth checks that help has no line that a terminal would break, except for examples.
func TestHelpWidth(t *testing.T) {
	for _, width := range []int{60, 79, 100} {
		root := newCLI().node()
		texts := map[string]string{"overview": overview(root, width)}
		for _, v := range root.Children {
			texts[v.Name] = verbHelp(v, width)
		}
		for name, text := range texts {
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				example := strings.HasPrefix(line, "  ") && (strings.Contains(line, "blosc2 ") || strings.Contains(line, "curl "))
				word := !strings.Contains(strings.TrimSpace(line), " ")
				if len(line) > width && !example && !word {
					t.Errorf("%s: %d columns, want at most %d: %q", name, len(line), width, line)
				}
				if line != strings.TrimRight(line, " ") {
					t.Errorf("%s: space at the end of %q", name, line)
				}
			}
		}
	}
}

// TestHelpOfCompletions expects help for every word that the completions offer after help.
func TestHelpOfCompletions(t *testing.T) {
	for _, name := range verbNames(newCLI().node()) {
		if got := must(t, "", "help", name); !strings.HasPrefix(got, "usage: blosc2 "+name) {
			t.Errorf("help %s: %q", name, got)
		}
	}
}
