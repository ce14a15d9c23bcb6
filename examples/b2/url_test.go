package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// TestURL compares the output of verbs for a URL with that for a file.
func TestURL(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(fixturesDir)))
	defer server.Close()
	for _, name := range []string{"python-blosc2/grid_032_lz4hc_none_i2.b2nd", "python-blosc2/schunk_lz4hc.b2frame", "python-blosc2/vlmeta.b2nd"} {
		path, url := filepath.Join(fixturesDir, filepath.FromSlash(name)), server.URL+"/"+name
		for _, verb := range []string{"info", "info -json", "dump", "dump -npy", "verify", "vlmeta"} {
			args := strings.Fields(verb)
			want := strings.ReplaceAll(must(t, "", append(args, path)...), path, url)
			if got := must(t, "", append(args, url)...); got != want {
				t.Errorf("%s %s: %q, want %q", verb, name, got, want)
			}
		}
		copied := filepath.Join(t.TempDir(), "copy")
		must(t, "", "copy", url, copied)
		if must(t, "", "dump", copied) != must(t, "", "dump", path) {
			t.Errorf("%s: the copy differs", name)
		}
	}
	array := "/python-blosc2/grid_032_lz4hc_none_i2.b2nd"
	for _, sel := range []string{"0:3", "..., -1", "[5, 3], :"} {
		if must(t, "", "slice", server.URL+array, sel) != must(t, "", "slice", fixturesDir+array, sel) {
			t.Errorf("slice %s differs", sel)
		}
	}
	fails(t, 1, "404", "", "info", server.URL+"/missing.b2nd")
	fails(t, 1, "not a Blosc2 frame", "", "info", server.URL+"/README.md")
	fails(t, 1, "not an array", "", "slice", server.URL+"/python-blosc2/schunk_lz4hc.b2frame", "0")
}

// TestURLChunk reads a single chunk from a server.
func TestURLChunk(t *testing.T) {
	names, err := filepath.Glob(fixturesDir + "/*/*.chunk")
	if err != nil || len(names) == 0 {
		t.Fatalf("no chunks in %s: %v", fixturesDir, err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(fixturesDir)))
	defer server.Close()
	for _, path := range names[:1] {
		url := server.URL + filepath.ToSlash(strings.TrimPrefix(path, filepath.Clean(fixturesDir)))
		for _, verb := range []string{"info", "dump"} {
			want := strings.ReplaceAll(must(t, "", verb, path), path, url)
			if got := must(t, "", verb, url); got != want {
				t.Errorf("%s %s: %q, want %q", verb, path, got, want)
			}
		}
		fails(t, 1, "want a frame", "", "vlmeta", url)
	}
}
