package paths

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestPaths(t *testing.T) {
	for _, c := range [][3]string{ // a name, what Trim returns, and Dir
		{"a", "a", "."}, {"a/b", "a/b", "a"}, {"a/b/", "a/b", "a"}, {"a/b//././/", "a/b", "a"}, {"a//b", "a//b", "a"},
		{"a/../b", "a/../b", "a/.."}, {"a/..", "a/..", "a"}, {"../", "..", "."}, {".", ".", "."}, {"./", ".", "."},
		{"./a", "./a", "."}, {"/", "/", "/"}, {"//", "//", "//"}, {"/a", "/a", "/"}, {"/a/", "/a", "/"}, {"/.", "/.", "/"},
		{"", "", "."}, {".../", "...", "."}, {"a.", "a.", "."},
	} {
		name, trimmed, dir := filepath.FromSlash(c[0]), filepath.FromSlash(c[1]), filepath.FromSlash(c[2])
		if got := Trim(name); got != trimmed {
			t.Errorf("Trim(%q): %q, want %q", name, got, trimmed)
		}
		if got := Dir(name); got != dir {
			t.Errorf("Dir(%q): %q, want %q", name, got, dir)
		}
		if got, err := Abs(name); err != nil || !filepath.IsAbs(got) || runtime.GOOS != "windows" && !strings.HasSuffix(got, name) {
			t.Errorf("Abs(%q): %q, %v", name, got, err)
		}
		if got := Join(trimmed, "x"); filepath.Clean(got) != filepath.Join(trimmed, "x") {
			t.Errorf("Join(%q, x): %q", trimmed, got)
		}
	}
	if got := Join(".", "x"); got != "x" {
		t.Errorf("Join(., x): %q", got)
	}
}
