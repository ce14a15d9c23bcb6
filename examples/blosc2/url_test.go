package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/internal/tabletest"
	"github.com/goblosc/blosc2/ndarray"
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

// TestURLDir compares the output of verbs for the URL of a directory with that for the directory.
func TestURLDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a.b2nd")
	must(t, "", "copy", "-sparse", fixturesDir+"/python-blosc2/grid_032_lz4hc_none_i2.b2nd", dir)
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(dir))))
	defer server.Close()
	url := server.URL + "/a.b2nd/"
	for _, verb := range []string{"info", "info -chunks", "dump", "verify", "vlmeta"} {
		args := strings.Fields(verb)
		want := strings.ReplaceAll(must(t, "", append(args, dir)...), dir, url)
		if got := must(t, "", append(args, url)...); got != want {
			t.Errorf("%s: %q, want %q", verb, got, want)
		}
	}
	if must(t, "", "slice", url, "0:3") != must(t, "", "slice", dir, "0:3") {
		t.Error("slice differs")
	}
	copied := filepath.Join(t.TempDir(), "copy")
	must(t, "", "copy", url, copied)
	if must(t, "", "dump", copied) != must(t, "", "dump", dir) {
		t.Error("the copy differs")
	}
	fails(t, 1, "404", "", "info", server.URL+"/none/")
	fails(t, 1, "can only be read", "", "append", url, "x")
}

// TestURLChunks counts the requests for the table of chunks: the headers are read together, and each only once. The
// server answers late. So reading over the chunks costs less than more requests, on a busy machine as well.
func TestURLChunks(t *testing.T) {
	const chunks, chunkItems = 200, 40 << 10
	data := make([]uint32, chunks*chunkItems)
	x := uint32(1)
	for i := range data {
		x = x*1664525 + 1013904223
		data[i] = x ^ x>>13
	}
	path := filepath.Join(t.TempDir(), "a.b2nd")
	a, err := ndarray.Create(t.Context(), path, []int64{int64(len(data))}, data, &ndarray.CreateOptions{Chunks: []int64{chunkItems}})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	dir, requests := slowServer(t, filepath.Dir(path), 50*time.Millisecond)
	url := dir + "/a.b2nd"
	want := strings.ReplaceAll(must(t, "", "info", "-chunks", path), path, url)
	if got := must(t, "", "info", "-chunks", url); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if n := requests.Load(); n > chunks/10 {
		t.Errorf("%d requests for the headers of %d chunks", n, chunks)
	}
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

// TestURLStore reads leaves and tables of stores on a server.
func TestURLStore(t *testing.T) {
	const dir = "../../testdata"
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for _, line := range []string{
		"ls PATH/stores/tree.b2z", "ls -json PATH/stores/embed.b2e", "ls PATH/stores/tree.b2z/img", "ls PATH/stores/lazy_a.b2nd",
		"info PATH/stores/tree.b2z/img/level0", "dump PATH/stores/tree.b2z/img/level2", "vlmeta PATH/stores/tree.b2z/img/level0",
		"slice PATH/stores/tree.b2z/img/level1 3,4:6", "verify PATH/stores/tree.b2z/meta/pos",
		"table PATH/tables/t43_ndarray.b2z", "table -csv PATH/tables/wide0.b2z",
	} {
		want := strings.ReplaceAll(must(t, "", strings.Fields(strings.ReplaceAll(line, "PATH", dir))...), dir, server.URL)
		if got := must(t, "", strings.Fields(strings.ReplaceAll(line, "PATH", server.URL))...); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	fails(t, 1, "404", "", "info", server.URL+"/stores/none.b2z/x")
	fails(t, 1, "/none", "", "info", server.URL+"/stores/tree.b2z/none")
	fails(t, 1, "group", "", "dump", server.URL+"/stores/tree.b2z/img")
	fails(t, 1, "", "", "info", server.URL+"/stores/tree.b2z")
	for _, path := range []string{"/stores/tree.b2z/img/level0", "/python-blosc2/shape_08.b2nd"} {
		fails(t, 1, "can only be read", "", "append", server.URL+path, "x")
	}
}

// TestURLTable counts the requests for a table: they read many rows of a column together.
func TestURLTable(t *testing.T) {
	const rows, columns = 300_000, 3
	var list []string
	for i := range columns {
		list = append(list, fmt.Sprintf(`{"name": "c%d", "kind": "int32"}`, i))
	}
	b := tabletest.New(t, strings.Join(list, ", "), tabletest.AllLive(rows))
	data := make([]int32, rows)
	x := uint32(1)
	for i := range columns {
		for k := range data {
			x = x*1664525 + 1013904223
			data[k] = int32(x ^ x>>13)
		}
		tabletest.Write(b, fmt.Sprintf("_cols/c%d", i), []int64{rows}, data)
	}
	st, err := store.Open(t.Context(), b.Dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	path := filepath.Join(t.TempDir(), "t.b2z")
	if err := st.Pack(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	dir, requests := slowServer(t, filepath.Dir(path), 10*time.Millisecond)
	for _, line := range []string{"table -csv PATH", "table -json -rows 1: PATH"} {
		want := must(t, "", strings.Fields(strings.ReplaceAll(line, "PATH", path))...)
		requests.Store(0)
		if must(t, "", strings.Fields(strings.ReplaceAll(line, "PATH", dir+"/t.b2z"))...) != want {
			t.Errorf("%s differs", line)
		}
		if n := requests.Load(); n > 12*columns {
			t.Errorf("%s: %d requests", line, n)
		}
	}
}

// TestEscapedKeys reads leaves with keys that are escaped in their URL, as blosc2 serve writes them.
func TestEscapedKeys(t *testing.T) {
	file := storeOf(t, "s.b2e", "/a b/c?d", "/a b/x", "/e%20f", "/e f/x", "/é")
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(file))))
	defer server.Close()
	address := server.URL + "/s.b2e"
	for escaped, key := range map[string]string{"/a%20b/c%3Fd": "/a b/c?d", "/e%20f": "/e%20f", "/e%2520f": "/e%20f", "/%C3%A9": "/é", "/a b/x": "/a b/x"} {
		if got := must(t, "", "ls", "-json", address+escaped); !strings.Contains(got, `"`+key+`"`) {
			t.Errorf("%s: %s", escaped, got)
		}
		must(t, "", "verify", address+escaped)
	}
	if got := must(t, "", "info", "-tree", address+"/a%20b"); !strings.Contains(got, "── c?d  ") || strings.Contains(got, "a b") {
		t.Errorf("%s", got)
	}
	fails(t, 1, "/a%20b/none", "", "verify", address+"/a%20b/none")
	fails(t, 1, ", such as "+address+"/a%20b/c%3Fd\n", "", "info", address+"/a%20b")
}

// TestSplitURL splits URLs of stores from keys.
func TestSplitURL(t *testing.T) {
	for _, c := range []struct{ url, name, key string }{
		{"http://h/a.b2z/k/l", "http://h/a.b2z", "/k/l"},
		{"HTTPS://h:80/d/a.b2e/k", "HTTPS://h:80/d/a.b2e", "/k"},
		{"http://h/a.b2z", "http://h/a.b2z", "/"},
		{"http://h/a.b2z/", "http://h/a.b2z", "/"},
		{"http://h.b2z/a.b2nd", "", ""},
		{"http://h.b2z", "", ""},
		{"http://h/a.b2z/k?x=1", "", ""},
		{"http://h/", "", ""},
	} {
		name, key, ok := splitURL(c.url)
		if name != c.name || key != c.key || ok != (c.name != "") {
			t.Errorf("%s: %q, %q, %v", c.url, name, key, ok)
		}
	}
}

// slowServer serves the files of a directory. It answers after a delay, and counts the requests.
func slowServer(t *testing.T, dir string, delay time.Duration) (url string, requests *atomic.Int64) {
	requests = new(atomic.Int64)
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		time.Sleep(delay)
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}
