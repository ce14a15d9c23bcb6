package remote

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// TestDiskWhole caches objects that the server sends as a whole: small ones because several ranges have more bytes, and
// others because it ignores ranges. They are then opened without any byte from the server.
func TestDiskWhole(t *testing.T) {
	for _, c := range []struct {
		size      int
		multipart bool
	}{
		{1000, true}, {keep + 1, true}, {100_000, true}, {2*keep - 1, true},
		{1000, false}, {keep, false}, {100_000, false}, {2*keep + 1, false}, {3 * keep, false}, {300_000, false},
	} {
		data := randomBytes(c.size)
		s := newServer(t, data)
		ignore := func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if !c.multipart {
				r.Header.Del("Range")
			}
			return false
		}
		s.set(ignore)
		o := diskOptions(t.TempDir())
		o.Multipart = c.multipart
		read := func(what string) {
			t.Helper()
			obj, err := Open(t.Context(), s.URL, o)
			if err != nil {
				t.Fatalf("%+v: %s: %v", c, what, err)
			}
			readAll(t, obj, data, []Range{{Off: 0, Len: int64(c.size)}})
			if obj.whole == c.multipart {
				t.Errorf("%+v: %s: whole is %v", c, what, obj.whole)
			}
			settle(t, obj)
		}
		read("first")
		s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true })
		read("no answer")
		s.set(ignore)
		read("unchanged") // removes the mark to ask first

		// Without a block, the server sends the object again.
		blocks, err := filepath.Glob(filepath.Join(o.Dir, "*-*"))
		if err != nil || (len(blocks) > 0) != (c.size > 2*keep) {
			t.Errorf("%+v: %d blocks, %v", c, len(blocks), err)
		}
		if len(blocks) > 0 {
			if err := os.Remove(blocks[0]); err != nil {
				t.Fatal(err)
			}
			read("a missing block")
		}
		data = bytes.Clone(data)
		data[c.size/2]++
		s.replace(data, `"2"`)
		obj, err := Open(t.Context(), s.URL, o)
		if err != nil {
			t.Fatal(err)
		}
		if obj.check != nil {
			obj.check.Wait() // it finds the change
		}
		settle(t, obj)
		read("replaced")
	}
}

// TestDiskWholeDamaged damages files of an object of a server that ignores ranges. The object is received once more,
// and then cached again.
func TestDiskWholeDamaged(t *testing.T) {
	damages := map[string]func(b []byte) []byte{
		"changed": func(b []byte) []byte { b[10] ^= 1; return b },
		"empty":   func(b []byte) []byte { return nil },
		"shorter": func(b []byte) []byte { return b[:len(b)-1] },
		"longer":  func(b []byte) []byte { return append(b, make([]byte, 400_000)...) },
	}
	for name, damage := range damages {
		for _, which := range []string{"*-1", "*" + entrySuffix} {
			data := randomBytes(300_000)
			s := newServer(t, data)
			s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool { r.Header.Del("Range"); return false })
			o := diskOptions(t.TempDir())
			received := func() int64 {
				t.Helper()
				n := atomic.Int64{}
				o.Trace = func(e Event) {
					if e.Kind == Request {
						n.Add(e.Len)
					}
				}
				obj, err := Open(t.Context(), s.URL, o)
				if err != nil {
					t.Fatal(err)
				}
				readAll(t, obj, data, []Range{{Off: 0, Len: int64(len(data))}})
				settle(t, obj)
				return n.Load()
			}
			received()
			names, err := filepath.Glob(filepath.Join(o.Dir, which))
			if err != nil || len(names) != 1 {
				t.Fatal(names, err)
			}
			b, err := os.ReadFile(names[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(names[0], damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			if first, second := received(), received(); first != int64(len(data)) || second != 0 {
				t.Errorf("%s %s: received %d and %d bytes, want %d and 0", name, which, first, second, len(data))
			}
		}
	}
}

// TestDiskWholeLarge opens an object of a server that ignores ranges that is too large for the folder. It must not
// remove the files of another object.
func TestDiskWholeLarge(t *testing.T) {
	small, large := randomBytes(300_000), randomBytes(3<<20)
	s1, s2 := newServer(t, small), newServer(t, large)
	s2.set(func(n int64, w http.ResponseWriter, r *http.Request) bool { r.Header.Del("Range"); return false })
	o := diskOptions(t.TempDir())
	o.DirBytes, o.MaxWhole = 1<<20, 4<<20
	for i := range 3 {
		o.Trace = nil
		obj := openServer(t, s2, o)
		readAll(t, obj, large, []Range{{Off: 0, Len: int64(len(large))}})
		settle(t, obj)
		n := atomic.Int64{}
		o.Trace = func(e Event) {
			if e.Kind == Request {
				n.Add(e.Len)
			}
		}
		obj = openServer(t, s1, o)
		readAll(t, obj, small, []Range{{Off: 0, Len: int64(len(small))}})
		settle(t, obj)
		if i > 0 && n.Load() > 1 { // one byte confirms the version
			t.Errorf("received %d bytes of an object in the cache, want 1", n.Load())
		}
	}
}
