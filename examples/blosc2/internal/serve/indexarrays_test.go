package serve

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// TestIndexArrays asks for selections whose index arrays take more memory than their items.
func TestIndexArrays(t *testing.T) {
	dir := t.TempDir()
	a, err := ndarray.Zeros(t.Context(), filepath.Join(dir, "a.b2nd"), []int64{10, 10}, "|u1", nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	c := testConfig()
	c.Limits.Result, c.Limits.Memory = 1<<20, 8<<20
	s := newServer(t, dir, c)
	uri := func(n int) string {
		return "/a.b2nd?sel=[" + strings.Repeat("[1],", n-1) + "[1]],[" + strings.Repeat("1,", n-1) + "1]"
	}
	get(t, s, uri(600))
	if got := body(t, ask(t, s, "GET", uri(1000)), 413); !strings.Contains(got, "index arrays") {
		t.Error(got)
	}
	s.memory.used.Add(2 << 20) // other answers
	get(t, s, uri(500))
	body(t, ask(t, s, "GET", uri(600)), 503)
	if used := s.memory.used.Load(); used != 2<<20 {
		t.Errorf("%d bytes are taken after the answers, want 2 MiB", used)
	}
	s.memory.give(2 << 20)
	body(t, ask(t, s, "GET", strings.Replace(uri(1000), "a.b2nd?sel", "api/fetch/a.b2nd?slice_", 1)), 413)
	body(t, ask(t, s, "GET", strings.Replace(uri(500), "a.b2nd?sel", "api/fetch/a.b2nd?slice_", 1)), 400)
}
