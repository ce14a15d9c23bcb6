package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
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
		NoSync: true, Attrs: map[string]any{"a": 1, "bé": 2, "c": 3, "d": 4}})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	stored, err := os.ReadFile(filepath.Join(dir, "a.b2nd"))
	if err != nil {
		t.Fatal(err)
	}
	// Another library may write a name that is not UTF-8.
	stored = bytes.ReplaceAll(stored, []byte("bé"), []byte("b\xc3("))
	if err := os.WriteFile(filepath.Join(dir, "a.b2nd"), stored, 0o666); err != nil {
		t.Fatal(err)
	}
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
	if len(v) != 2 || v["bytes 62c328"] != "[NaN]" || null != nil || !ok || len(faults) != 2 {
		t.Errorf("%v, %v", v, faults)
	}
	for _, name := range []string{"a", "c"} {
		if text := faults[name]; !strings.Contains(text, "too large") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// TestSmallAnswers fills the memory with large answers. Small ones are still given, to as many requests as there are.
func TestSmallAnswers(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.b2nd"), 300_000)
	c := testConfig()
	const most = 2 << 20 / 20 // bytes of a small answer
	for name, quote := range map[string]string{"json.b2nd": `"`, "text.b2nd": ""} {
		a, err := ndarray.Zeros(t.Context(), filepath.Join(dir, name), []int64{3}, "<i4", &ndarray.CreateOptions{
			NoSync: true, Attrs: map[string]any{"x": quote}})
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
	}
	c.Attribute = func(w *bufio.Writer, content []byte, _ func(int64) error) error {
		quote := content[1:] // after the length
		w.Write(slices.Concat(quote, bytes.Repeat([]byte("x"), most*9/10), quote))
		return nil
	}
	c.Limits.Memory, c.Limits.Result, c.Limits.Requests = 16<<20, 2<<20, 20
	s := newServer(t, dir, c)
	var large, small int64
	for s.memory.take(1_200_000, 1_200_000) == nil {
		large++
	}
	rest := s.memory.most - s.memory.used.Load()
	if err := s.memory.take(rest, s.memory.most); err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{"/a.b2nd?sel=0&format=json", "/a.b2nd?sel=:25000", "/api/info/a.b2nd", "/?format=json", "/api/fetch/a.b2nd?slice_=:9",
		"/api/fetch/a.b2nd?slice_=:25000", "/api/info/json.b2nd", "/api/info/text.b2nd"} {
		get(t, s, uri)
	}
	body(t, ask(t, s, "GET", "/a.b2nd?sel="), 503)
	for s.memory.take(most, most) == nil {
		small++
	}
	if large != 12 || small < 20 {
		t.Errorf("%d large and %d small answers", large, small)
	}
	s.memory.give(large*1_200_000 + rest + small*most)
	get(t, s, "/a.b2nd?sel=")
	for _, l := range []Limits{{Memory: 10, Result: 10, Requests: 1}, {Memory: 9, Result: 10, Requests: 1}, {Memory: 80, Result: 75, Requests: 1}} {
		if b := newBudget(l); b.take(min(l.Result, l.Memory), l.Result) != nil {
			t.Errorf("%+v: no answer of the largest size", l)
		}
	}
}

// TestSlowWhileShort sends selections to a client that takes them slowly. That breaks off an answer only if others were
// refused memory in the meantime.
func TestSlowWhileShort(t *testing.T) {
	dir := t.TempDir()
	writeNoise(t, filepath.Join(dir, "a.b2nd"), 32<<20)
	c := testConfig()
	c.Limits.Memory, c.Limits.Result = 64<<20, 32<<20
	for _, rate := range []int64{1, 1 << 50} {
		c.Limits.Rate = rate
		s := newServer(t, dir, c)
		addr, _ := start(t, s)
		for _, short := range []bool{false, true} {
			for _, uri := range []string{"/a.b2nd?sel=:", "/a.b2nd?sel=:5000000&format=json", "/a.b2nd"} {
				r, err := http.Get("http://" + addr + uri)
				if err != nil {
					t.Fatal(err)
				}
				if short {
					s.memory.used.Add(s.memory.max)
					body(t, ask(t, s, "GET", "/a.b2nd?sel=:9999"), 503)
					s.memory.used.Add(-s.memory.max)
				}
				_, err = io.Copy(io.Discard, r.Body)
				r.Body.Close()
				if breaks := short && rate > 1 && uri != "/a.b2nd"; (err != nil) != breaks {
					t.Errorf("%s, short %v, rate %d: %v", uri, short, rate, err)
				}
				eventually(t, "the memory is free", func() bool { return s.memory.used.Load() == 0 })
			}
		}
	}
}

// TestHeld writes to a buffer with a limit and a budget.
func TestHeld(t *testing.T) {
	memory := &budget{max: 100, most: 100}
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
	// 32 bytes are copied to memory for 60.
	for _, c := range []struct {
		most, small, others int64
		err                 error
	}{{100, 0, 8, nil}, {100, 0, 9, errBusy}, {60, 0, 0, nil}, {60, 0, 1, errBusy}, {0, 60, 40, nil}, {0, 60, 41, errBusy}, {0, 80, 20, nil}, {0, 80, 21, errBusy}} {
		memory.most, memory.small = c.most, c.small
		if err := h.text(strings.Repeat("y", 32)); err != nil {
			t.Fatal(err)
		}
		memory.used.Add(c.others)
		if err := h.text("y"); err != c.err || err == nil && memory.used.Load() != 60+c.others {
			t.Errorf("%+v: %d bytes, %v", c, memory.used.Load(), err)
		}
		memory.give(c.others)
		h.free()
	}
	memory.most, memory.small = 10, 0
	if err := h.text(string(slices.Repeat([]byte("y"), 11))); !errors.Is(err, errBusy) || memory.used.Load() != 0 {
		t.Errorf("%v", err)
	}
}
