package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck checks a module with faults that only some systems have: in a file for one system, in a constant that
// overflows with 32 bits, in a test.
func TestCheck(t *testing.T) {
	files := map[string]string{
		"go.mod":             "module example\n\ngo 1.25\n",
		"a.go":               "package a\n\nimport \"os\"\n\nfunc Name(f *os.File) string { return f.Name() + sep }\n",
		"sep_linux.go":       "package a\n\nconst sep = \"/\"\n",
		"sep_windows.go":     "package a\n\nconst sep = 1\n",
		"sep_darwin.go":      "package a\n\nconst sep = \":\"\n",
		"a_test.go":          "package a_test\n\nimport \"example\"\n\nvar f = a.Name\n",
		"only_test.go":       "package a\n\nvar n int = 1 << 40\n\nfunc sum() int { return n }\n",
		"mac_darwin_test.go": "package a\n\nfunc twice() int { return sum() + missing }\n",
	}
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ system, want string }{
		{"linux/amd64", ""},
		{"windows/amd64", "mismatched types"},
		{"linux/386", "overflows"},
		{"darwin/arm64", "undefined: missing"},
		{"freebsd/amd64", "undefined: sep"},
	} {
		n, err := check(dir, test.system, "./...")
		switch {
		case test.want == "" && (err != nil || n != 3): // the package, the package with its tests, and package a_test
			t.Errorf("%s: %d packages, error %v, want 3 and none", test.system, n, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: error %v, want %q", test.system, err, test.want)
		}
	}
}
