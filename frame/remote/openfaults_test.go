package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestOpenFaults opens an object on a server with a fault in its first answers.
func TestOpenFaults(t *testing.T) {
	big, small := randomBytes(500_000), randomBytes(100_000)
	ignore := func(n int64, w http.ResponseWriter, r *http.Request) bool { r.Header.Del("Range"); return false }
	for _, c := range []struct {
		name  string
		data  []byte
		fault func(n int64, w http.ResponseWriter, r *http.Request) bool
		o     func(*Options)
		text  string // of the error, or "" if opening must succeed
		err   error
	}{
		{"ranges ignored", small, ignore, nil, "", nil},
		{"ranges ignored, large", big, ignore, nil, "ignores ranges", errors.ErrUnsupported},
		{"ranges ignored, none whole", small, ignore, func(o *Options) { o.MaxWhole = -1 }, "ignores ranges", errors.ErrUnsupported},
		{"endless", small, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					break
				}
			}
			return true
		}, nil, "more than 300000 bytes", errors.ErrUnsupported},
		{"without a length", small, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.(http.Flusher).Flush()
			w.Write(small)
			return true
		}, nil, "", nil},
		{"no suffix: 416", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if suffix := strings.HasPrefix(r.Header.Get("Range"), "bytes=-"); suffix {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return true
			}
			return false
		}, nil, "", nil},
		{"no suffix: 200", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if strings.HasPrefix(r.Header.Get("Range"), "bytes=-") {
				r.Header.Del("Range")
			}
			return false
		}, nil, "", nil},
		{"no suffix: 400", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if strings.HasPrefix(r.Header.Get("Range"), "bytes=-") {
				w.WriteHeader(http.StatusBadRequest)
				return true
			}
			return false
		}, nil, "", nil},
		{"changed between", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, min(n, 5))) // the requests of the first two pairs differ
			return false
		}, nil, "", nil},
		{"always changing", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, n))
			return false
		}, nil, "the object was replaced; open it again", ErrChanged},
		{"weak ETag", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", `W/"1"`)
			return false
		}, nil, "names no version", errors.ErrUnsupported},
		{"weak ETag, small", small[:1000], func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", `W/"1"`)
			return false
		}, nil, "", nil},
		{"weak ETag with Last-Modified", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", `W/"1"`)
			w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
			return false
		}, nil, "", nil},
		{"no version", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Del("ETag")
			return false
		}, nil, "names no version", errors.ErrUnsupported},
		{"no version, accepted", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Del("ETag")
			return false
		}, func(o *Options) { o.Unversioned = true }, "", nil},
		{"bad ETag", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", `1`)
			return false
		}, nil, "names no version", errors.ErrUnsupported},
		{"not found", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			http.NotFound(w, r)
			return true
		}, nil, "404", fs.ErrNotExist},
		{"unauthorized", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}, nil, "401", fs.ErrPermission},
		{"encoded", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Encoding", "br")
			return false
		}, nil, `"br"`, errors.ErrUnsupported},
		{"encoded, second field", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header()["Content-Encoding"] = []string{"identity", "br"}
			return false
		}, nil, `"identity, br"`, errors.ErrUnsupported},
		{"busy twice", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if n <= 2 {
				w.WriteHeader(http.StatusBadGateway)
			}
			return n <= 2
		}, nil, "", nil},
		{"always busy", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}, nil, "(after 4 attempts)", nil},
		{"busy, no repetition", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}, func(o *Options) { o.Retries = -1 }, "(after 1 attempt)", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, c.data)
			s.set(c.fault)
			o := quick()
			if c.o != nil {
				c.o(o)
			}
			obj, err := Open(t.Context(), s.URL, o)
			if c.text != "" {
				if err == nil || !strings.Contains(err.Error(), c.text) || c.err != nil && !errors.Is(err, c.err) {
					t.Errorf("error %v, want %v with %q", err, c.err, c.text)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer obj.Close()
			got, err := io.ReadAll(io.NewSectionReader(obj, 0, obj.Size()))
			if err != nil || !bytes.Equal(got, c.data) {
				t.Errorf("%d bytes of %d: %v", len(got), len(c.data), err)
			}
		})
	}
}

// TestTruncatedWhileOpened breaks off the first answer and then replaces the object by an empty one. Open returns an
// error or the empty object, and not the part that has arrived.
func TestTruncatedWhileOpened(t *testing.T) {
	for _, small := range []bool{false, true} {
		s := newServer(t, randomBytes(30_000))
		s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if n <= 2 {
				w.Header().Set("Content-Length", "30000")
				partial(w, "bytes 0-29999/30000", s.data[:10_000])
				return true
			}
			w.Header().Set("Content-Range", "bytes */0")
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			return true
		})
		o := quick()
		o.Small, o.Retries = small, 10
		obj, err := Open(t.Context(), s.URL, o)
		if err != nil {
			continue
		}
		p := make([]byte, 30_000)
		if n, err := obj.ReadAt(p, 0); n > 0 || err != io.EOF {
			t.Errorf("Small %v: %d bytes of an empty object of %d, %v", small, n, obj.Size(), err)
		}
		obj.Close()
	}
}

// TestUnnamed opens small objects of a server that names no version. All bytes are of one answer, and Refresh does not
// call an object unchanged that it cannot compare.
func TestUnnamed(t *testing.T) {
	for _, size := range []int{1000, 100_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			old, replaced := bytes.Repeat([]byte("a"), size), bytes.Repeat([]byte("b"), size)
			s := newServer(t, old)
			s.set(func(_ int64, w http.ResponseWriter, r *http.Request) bool {
				w.Header().Del("ETag")
				if strings.HasPrefix(r.Header.Get("Range"), "bytes=-") {
					http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(replaced))
					return true
				}
				return false
			})
			obj := openServer(t, s, quick())
			got, err := io.ReadAll(io.NewSectionReader(obj, 0, obj.Size()))
			if err != nil || !bytes.Equal(got, old) {
				t.Errorf("%d of a, %d of b, %v", bytes.Count(got, []byte("a")), bytes.Count(got, []byte("b")), err)
			}
			s.replace(replaced, "")
			if err := obj.Refresh(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("Refresh: %v, want ErrUnsupported", err)
			}
			s.replace(replaced[1:], "")
			if err := obj.Refresh(t.Context()); !errors.Is(err, ErrChanged) {
				t.Errorf("Refresh with another size: %v, want ErrChanged", err)
			}
		})
	}
}

// TestRefreshWhole refreshes an object of a server that ignores ranges, before and after it was replaced.
func TestRefreshWhole(t *testing.T) {
	for _, condition := range []bool{true, false} {
		t.Run(fmt.Sprint(condition), func(t *testing.T) {
			s := newServer(t, randomBytes(200_000))
			s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
				r.Header.Del("Range")
				if !condition {
					r.Header.Del("If-Match")
				}
				return false
			})
			obj := openServer(t, s, quick())
			if err := obj.Refresh(t.Context()); err != nil {
				t.Errorf("the same version: %v", err)
			}
			readAll(t, obj, s.data, []Range{{Off: 100_000, Len: 1000}})
			s.replace(s.data, `"2"`)
			if err := obj.Refresh(t.Context()); !errors.Is(err, ErrChanged) {
				t.Errorf("another version: %v, want ErrChanged", err)
			}
		})
	}
}

// TestRefreshEmpty refreshes an empty object, before and after it was replaced by one with bytes.
func TestRefreshEmpty(t *testing.T) {
	for _, kind := range []string{"200", "416", "416 without a version", "getter"} {
		s := newServer(t, nil)
		var replaced atomic.Bool
		s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if replaced.Load() || kind == "200" {
				return false
			}
			if kind != "416" {
				w.Header().Del("ETag")
			}
			w.Header().Set("Content-Range", "bytes */0")
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			return true
		})
		g := &memoryGetter{version: "1"}
		open := func() (*Object, error) { return Open(t.Context(), s.URL, quick()) }
		if kind == "getter" {
			open = func() (*Object, error) { return OpenGetter(t.Context(), "x", g, nil) }
		}
		obj, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if err := obj.Refresh(t.Context()); err != nil {
			t.Errorf("%s: the same version: %v", kind, err)
		}
		g.data, g.version = []byte("now there is content"), "2"
		replaced.Store(true)
		s.replace(g.data, g.version)
		if err := obj.Refresh(t.Context()); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: another version: %v, want ErrChanged", kind, err)
		}
		obj.Close()
	}
}

// hugeGetter is a Getter of an object of zeros.
type hugeGetter struct{ size int64 }

func (g hugeGetter) Get(_ context.Context, off, n int64, _ string) (*Answer, error) {
	if off < 0 {
		off = g.size - n
	}
	return &Answer{Body: io.NopCloser(bytes.NewReader(make([]byte, min(n, g.size-off)))), Size: g.size, Version: "1"}, nil
}

// TestHugeObject reads the end of an object whose server claims nearly 2^62 bytes. Larger ones are not opened.
func TestHugeObject(t *testing.T) {
	for _, size := range []int64{1<<62 - 1, 1 << 62, 1<<63 - 1} {
		s := newServer(t, nil)
		s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
			var from, to int64
			if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); err != nil {
				if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=-%d", &to); err != nil {
					return false
				}
				from, to = size-to, size-1
			}
			partial(w, fmt.Sprintf("bytes %d-%d/%d", from, min(to, size-1), size), make([]byte, min(to, size-1)-from+1))
			return true
		})
		for _, dir := range []string{"", t.TempDir()} {
			for kind, open := range map[string]func(o *Options) (*Object, error){
				"server": func(o *Options) (*Object, error) { return Open(t.Context(), s.URL, o) },
				"getter": func(o *Options) (*Object, error) { return OpenGetter(t.Context(), "x", hugeGetter{size}, o) },
			} {
				o := quick()
				if o.Dir = dir; kind == "getter" {
					o.MaxWhole = 0
				}
				obj, err := open(o)
				if size >= maxSize {
					if !errors.Is(err, errors.ErrUnsupported) {
						t.Errorf("%s of %d bytes: %v", kind, size, err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s of %d bytes: %v", kind, size, err)
					continue
				}
				p := make([]byte, 100)
				for _, off := range []int64{size - 100, size - 64<<10 - 50, size - 1<<20, 1 << 20} {
					if _, err := obj.ReadAt(p, off); err != nil {
						t.Errorf("%s of %d bytes: at %d: %v", kind, size, off, err)
					}
				}
				obj.Close()
			}
		}
	}
}

// TestErrorWithoutBody gets an error whose short body never arrives. It must be returned long before Options.Stall.
func TestErrorWithoutBody(t *testing.T) {
	s := newServer(t, nil)
	s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(http.StatusNotFound)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	})
	start := time.Now()
	_, err := Open(t.Context(), s.URL, quick())
	if took := time.Since(start); !errors.Is(err, fs.ErrNotExist) || took > 3*time.Second {
		t.Errorf("%v after %v, want ErrNotExist", err, took)
	}
}
