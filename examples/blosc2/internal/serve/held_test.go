package serve

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// countingWriter notes how much memory of the budget is taken when content is sent.
type countingWriter struct {
	*httptest.ResponseRecorder
	memory *budget
	least  int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.least = min(w.least, w.memory.used.Load())
	return w.ResponseRecorder.Write(p)
}

// TestAnswersTakeMemory checks that descriptions, listings and sparse frames belong to the budget while they are sent,
// and have limits.
func TestAnswersTakeMemory(t *testing.T) {
	dir := t.TempDir()
	for name, sparse := range map[string]bool{"a.b2nd": false, "s": true} {
		a, err := ndarray.Zeros(t.Context(), filepath.Join(dir, name), []int64{3}, "<i4", &ndarray.CreateOptions{
			NoSync: true, Sparse: sparse, Attrs: map[string]any{"x": make([]byte, 1000)}})
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
	}
	c := testConfig()
	c.Attribute = func(w *bufio.Writer, content []byte, check func(int64) error) error {
		err := check(int64(len(content)))
		if err == nil {
			fmt.Fprintf(w, "%q", strings.Repeat("x", 5000)) // longer than its content
		}
		return err
	}
	s := newServer(t, dir, c)
	for _, uri := range []string{"/api/info/a.b2nd", "/?format=json", "/", "/api/fetch/s"} {
		w := &countingWriter{ResponseRecorder: httptest.NewRecorder(), memory: s.memory, least: math.MaxInt64}
		s.ServeHTTP(w, httptest.NewRequest("GET", uri, nil))
		n := int64(w.Body.Len())
		if w.Code != 200 || n == 0 || w.least < n {
			t.Errorf("%s: status %d, %d bytes with %d of the budget", uri, w.Code, n, w.least)
		}
		s.memory.used.Add(s.memory.max)
		body(t, ask(t, s, "GET", uri), 503)
		s.memory.used.Add(-s.memory.max)
		limited := c
		limited.Limits.Result = n - 1
		body(t, ask(t, newServer(t, dir, limited), "GET", uri), 413)
		limited.Limits.Result = n
		body(t, ask(t, newServer(t, dir, limited), "GET", uri), 200)
	}
}

// TestAttributeErrors describes an array with attributes that cannot be decoded. It names their errors, and has the
// others.
func TestAttributeErrors(t *testing.T) {
	dir := t.TempDir()
	a, err := ndarray.Zeros(t.Context(), filepath.Join(dir, "a.b2nd"), []int64{3}, "<i4", &ndarray.CreateOptions{
		NoSync: true, Attrs: map[string]any{"a": 1, "b\xff": 2, "c": 3, "d": 4}})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	c := testConfig()
	c.Limits.Memory, c.Limits.Result = 1<<20, 1<<20
	c.Attribute = func(w *bufio.Writer, content []byte, check func(int64) error) error {
		switch content[0] {
		case 1:
			return check(1 << 40)
		case 2:
			w.WriteString("[NaN]") // JSON only for Python
		case 3:
			return check(1<<20 + 1)
		case 4:
			if err := check(100); err != nil {
				return err
			}
			w.WriteString("null")
		}
		return nil
	}
	s := newServer(t, dir, c)
	var info struct {
		SChunk struct {
			VLMeta map[string]any    `json:"vlmeta"`
			Errors map[string]string `json:"vlmeta_errors"`
		}
	}
	if err := json.Unmarshal([]byte(get(t, s, "/api/info/a.b2nd")), &info); err != nil {
		t.Fatal(err)
	}
	v, faults := info.SChunk.VLMeta, info.SChunk.Errors
	null, ok := v["d"]
	if len(v) != 2 || v["bytes 62ff"] != "[NaN]" || null != nil || !ok || len(faults) != 2 {
		t.Errorf("%v, %v", v, faults)
	}
	for _, name := range []string{"a", "c"} {
		if text := faults[name]; !strings.Contains(text, "too large") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// TestHeld writes to a buffer with a limit and a budget.
func TestHeld(t *testing.T) {
	memory := &budget{max: 100}
	h := held{what: "x", limit: 60, memory: memory}
	for range 60 {
		if err := h.text("y"); err != nil {
			t.Fatal(err)
		}
		if used := memory.used.Load(); used != int64(cap(h.bytes)) {
			t.Fatalf("%d bytes with a budget of %d", cap(h.bytes), used)
		}
	}
	if err := h.text("z"); statusOf(err) != 413 || string(h.bytes) != strings.Repeat("y", 60) {
		t.Errorf("%q, %v", h.bytes, err)
	}
	if h.free(); memory.used.Load() != 0 || len(h.bytes) != 0 {
		t.Errorf("%d bytes are left", memory.used.Load())
	}
	memory.max = 10
	if err := h.text(string(slices.Repeat([]byte("y"), 11))); !errors.Is(err, errBusy) || memory.used.Load() != 0 {
		t.Errorf("%v", err)
	}
}
