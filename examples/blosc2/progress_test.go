package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestProgressOfPaths shows the progress of reading each kind of path. All bytes are counted.
func TestProgressOfPaths(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a.b2nd")
	must(t, numbers(10_000), "create", "-dtype", "<i4", "-chunks", "1000", a)
	must(t, "", "copy", "-sparse", a, filepath.Join(dir, "sparse.b2nd"))
	store := copyTree(t, fixturesDir+"/stores/tree.b2d")
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	stored, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{a, "-", server.URL + "/a.b2nd", server.URL + "/sparse.b2nd/"}
	if runtime.GOOS == "linux" {
		paths = append(paths, filepath.Join(dir, "sparse.b2nd"), store+"/img/level0")
	}
	for _, path := range paths {
		for _, args := range [][]string{{"dump", "-raw"}, {"stats", "-quantiles", "0.5"}, {"diff", a}, {"diff", "-"}} {
			if args[0] == "diff" && (path == args[1] || strings.HasPrefix(path, store)) {
				continue // nothing to compare, or another array
			}
			args = append(args, "-progress", path)
			if code, _, errOut := callFree(string(stored), args...); code != 0 || !strings.Contains(errOut, "100%") {
				t.Errorf("%q: exit %d, %q", args, code, errOut)
			}
		}
	}
}

// TestErrorPaths expects the path in errors of reading a damaged chunk, for each kind of path, with and without
// progress.
func TestErrorPaths(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.b2nd"), filepath.Join(dir, "bad.b2nd")
	must(t, numbers(10_000), "create", "-dtype", "<i4", good)
	stored, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	copy(stored[150:], "no header of a chunk")
	writeFile(t, bad, string(stored))
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	url := server.URL + "/bad.b2nd"
	for path, shown := range map[string]string{bad: bad, "-": "standard input", url: url} {
		for _, option := range []string{"-progress", "-progress=false"} {
			for _, args := range [][]string{{"dump", "-raw", option, path}, {"verify", option, path}, {"diff", option, path, good}, {"diff", option, good, path}} {
				code, out, errOut := callFree(string(stored), args...)
				if text := string(out) + errOut; code == 0 || !strings.Contains(text, "frame "+shown+": chunk 0") {
					t.Errorf("%q: exit %d, %q", args, code, text)
				}
			}
		}
	}
}
