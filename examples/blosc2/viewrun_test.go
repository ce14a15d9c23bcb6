//go:build !js && !wasip1

package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// TestGoldenView compares first screens with files of testdata/golden.
func TestGoldenView(t *testing.T) {
	dir := fixturesDir + "/"
	for name, path := range map[string]string{
		"view":        "python-blosc2/dtype_f4.b2nd",
		"view_dates":  "python-blosc2/dtype_M8_s.b2nd",
		"view_struct": "python-blosc2/dtype_struct_nested.b2nd",
		"view_text":   "python-blosc2/dtype_U6.b2nd",
		"view_tensor": "stores/tensor.bl2",
		"view_frame":  "stores/objects.b2b",
		"view_store":  "stores/tree.b2z",
		"view_group":  "stores/tree.b2d/img",
	} {
		golden(t, name, must(t, "", "view", dir+path))
	}
	_, text, _ := strings.Cut(readFile(t, "README.md"), "```text\n")
	text, _, _ = strings.Cut(text, "```")
	screen := readFile(t, filepath.Join("testdata", "golden", "view"))
	for line := range strings.Lines(text) {
		if !strings.Contains(screen, line) {
			t.Errorf("README.md has a line that view does not print: %q", line)
		}
	}
	if strings.Count(text, "\n") != 10 {
		t.Errorf("README.md: %q", text)
	}
	fails(t, 1, "no such file", "", "view", "missing.b2nd")
	fails(t, 2, "argument PATH is missing", "", "view")
}

// TestViewEscapedKeys opens all leaves of the list of a store on a server.
func TestViewEscapedKeys(t *testing.T) {
	file := storeOf(t, "s.b2e", "/a?b", "/a#b", "/a b", "/a%20b", "/%")
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(file))))
	defer server.Close()
	e := &env{ctx: t.Context()}
	list, err := openDocument(e, server.URL+"/s.b2e")
	if err != nil || len(list.Entries) != 5 {
		t.Fatalf("%d entries, %v", len(list.Entries), err)
	}
	for _, entry := range list.Entries {
		doc, err := openDocument(e, entry.Path)
		if err != nil {
			t.Errorf("%s: %v", entry.Key, err)
			continue
		}
		doc.Close()
	}
}

// TestViewCombiningCharacters expects that a cell of characters that take no columns is shortened.
func TestViewCombiningCharacters(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a")
	must(t, "a\x00\x00\x00"+strings.Repeat("\x01\x03\x00\x00", 9999), "create", "-dtype", "<U10000", out)
	if text := []rune(must(t, "", "view", out)); len(text) > 2000 {
		t.Errorf("%d characters", len(text))
	}
}
