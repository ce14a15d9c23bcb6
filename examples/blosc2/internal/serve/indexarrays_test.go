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

// TestIndexArraysSmall asks for selections with small index arrays: while large answers take all that they may, and for
// an answer of the size of all memory.
func TestIndexArraysSmall(t *testing.T) {
	dir := t.TempDir()
	a, err := ndarray.Zeros(t.Context(), filepath.Join(dir, "a.b2nd"), []int64{16, 1 << 16}, "|u1", nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	c := testConfig()
	c.Limits.Memory, c.Limits.Result, c.Limits.Requests = 16<<20, 2<<20, 64
	s := newServer(t, dir, c)
	list := func(n int) string { return "/a.b2nd?sel=[" + strings.Repeat("1,", n-1) + "1],1" }
	n := int(s.memory.small) * 4 / 16
	s.memory.used.Add(s.memory.most)
	get(t, s, list(n))
	body(t, ask(t, s, "GET", list(n+1)), 503)
	if used := s.memory.used.Load(); used != s.memory.most {
		t.Errorf("%d bytes are taken after the answers, want %d", used, s.memory.most)
	}
	s.memory.give(s.memory.most)

	c.Limits.Result, c.Limits.Memory = 1<<20, 1<<20
	s = newServer(t, dir, c)
	get(t, s, "/a.b2nd?sel=[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]")
	get(t, s, "/a.b2nd?sel=")
	if used := s.memory.used.Load(); used != 0 {
		t.Errorf("%d bytes are taken after the answers, want 0", used)
	}
}
