package main

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
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

// TestLateTotal shows progress whose total is unknown at first. Once it is known, the percentage is that of the rest.
func TestLateTotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		p := &progress{stop: make(chan struct{})}
		p.shown.Go(func() { p.show(&out, false, "bytes", 0, time.Second) })
		p.add(300)
		time.Sleep(1500 * time.Millisecond)
		p.expect(900)
		time.Sleep(time.Second)
		p.add(300)
		time.Sleep(time.Second)
		p.add(300)
		p.end()
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		for i, want := range []string{"(300 B,", "( 0/600 B)", " 50% ", "100% "} {
			if len(lines) != 4 || !strings.Contains(lines[i], want) {
				t.Fatalf("line %d is not %q: %q", i, want, lines)
			}
		}
	})
}

// TestReadsBesideMemory counts what is read from files and from memory.
func TestReadsBesideMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not count the bytes of a process")
	}
	const n = 1 << 20
	name := filepath.Join(t.TempDir(), "file")
	writeFile(t, name, strings.Repeat("x", n))
	p := &progress{}
	memory := &countedBytes{strings.NewReader(strings.Repeat("x", 2*n)), 2 * n, p, true}
	read := func(off int64) {
		t.Helper()
		if _, err := memory.ReadAtContext(t.Context(), make([]byte, n), off); err != nil {
			t.Fatal(err)
		}
	}
	read(0)
	p.followReads(n)
	read(n)
	readFile(t, name)
	if p.update(); p.done.Load() < 3*n {
		t.Errorf("%d bytes, want at least %d", p.done.Load(), 3*n)
	}
}

// TestPasses compares the number of times that stats expects to read the items with that of the library.
func TestPasses(t *testing.T) {
	const n = 10_000
	for _, dtype := range []string{"<i2", "<f4", "<f8"} {
		d, err := meta.ParseDType(dtype)
		if err != nil {
			t.Fatal(err)
		}
		items := make([]byte, n*d.Size)
		rand.NewChaCha8([32]byte{7}).Read(items)
		a, err := ndarray.CreateBytes(t.Context(), "", []int64{n}, dtype, items, nil)
		if err != nil {
			t.Fatal(err)
		}
		var stored bytes.Buffer
		if _, err := a.Save(t.Context(), &stored); err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{0, 1, 8, 11, 30} {
			p := &progress{}
			b, err := ndarray.OpenSource(t.Context(), &countedBytes{bytes.NewReader(stored.Bytes()), int64(stored.Len()), p, true}, nil)
			if err != nil {
				t.Fatal(err)
			}
			before := p.done.Load()
			v := &statsCmd{Bins: new(int)}
			for i := range k {
				v.Quantiles = append(v.Quantiles, (float64(i)+0.5)/float64(k))
			}
			if k > 0 {
				if _, err := ndarray.Quantiles(t.Context(), b, v.Quantiles, &ndarray.ReduceOptions{SkipNaN: true}); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := int((p.done.Load()-before+a.CBytes()/2)/a.CBytes()), v.passes(0, d); got != want {
				t.Errorf("%d quantiles of %s: the items are read %d times, expected %d", k, dtype, got, want)
			}
		}
	}
}
