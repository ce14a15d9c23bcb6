package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// server serves one object on loopback, with faults.
type server struct {
	*httptest.Server
	data     []byte
	requests atomic.Int64

	mu    sync.Mutex
	fault func(n int64, w http.ResponseWriter, r *http.Request) bool // reports whether it has answered request n
	etag  string
}

// newServer starts a server. When the test ends, no goroutine and no connection may be left.
func newServer(t testing.TB, data []byte) *server {
	t.Helper()
	before := runtime.NumGoroutine()
	s := &server{data: data, etag: `"1"`}
	var open sync.Map
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateClosed || state == http.StateHijacked {
			open.Delete(c)
		} else {
			open.Store(c, state)
		}
	}
	s.Start()
	t.Cleanup(func() {
		var left int
		for range 200 {
			left = 0
			open.Range(func(_, _ any) bool { left++; return true })
			if left == 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if left > 0 {
			t.Errorf("%d connections are left", left)
		}
		s.Close()
		for i := 0; runtime.NumGoroutine() > before; i++ {
			if i == 200 {
				buf := make([]byte, 1<<20)
				t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	return s
}

// set sets the fault of all later requests, which are counted from 1.
func (s *server) set(fault func(n int64, w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
	s.requests.Store(0)
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.requests.Add(1)
	s.mu.Lock()
	fault, etag := s.fault, s.etag
	s.mu.Unlock()
	w.Header().Set("ETag", etag)
	if fault == nil || !fault(n, w, r) {
		s.serve(w, r)
	}
}

// serve answers without a fault.
func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.data))
}

// quick are options without long waits.
func quick() *Options {
	return &Options{MaxWait: 20 * time.Millisecond, Stall: 10 * time.Second, Retries: 3, MaxWhole: 300_000}
}

// openServer opens the object of a server and closes it at the end of the test.
func openServer(t testing.TB, s *server, o *Options) *Object {
	t.Helper()
	obj, err := Open(t.Context(), s.URL, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { obj.Close() })
	return obj
}

// hijack takes the connection of a request.
func hijack(w http.ResponseWriter) net.Conn {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	return c
}

// partial answers with a range, whose header fields may be wrong, and a body.
func partial(w http.ResponseWriter, contentRange string, body []byte) {
	w.Header().Set("Content-Range", contentRange)
	w.WriteHeader(http.StatusPartialContent)
	w.Write(body)
}

// faultTest is a fault of the answers to reads of an open object.
type faultTest struct {
	name  string
	fault func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool
	err   error  // that the read must wrap, or nil if the read must succeed
	text  string // in the text of the error
}

// Faults of the connection and of servers with too much to do end. So the second request succeeds.
var passingFaults = []faultTest{
	{"reset", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		c := hijack(w)
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
		return true
	}, nil, "attempts"},
	{"closed", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		hijack(w).Close()
		return true
	}, nil, "attempts"},
	{"status 503", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return true
	}, nil, "503"},
	{"status 429", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Retry-After", "0")
		http.Error(w, "too many", http.StatusTooManyRequests)
		return true
	}, nil, "429"},
	{"status 500", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusInternalServerError)
		w.Write(make([]byte, 1<<20))
		return true
	}, nil, "500"},
	{"short body", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		var from, to int64
		fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
		w.Header().Set("Content-Length", strconv.FormatInt(to+1-from, 10))
		partial(w, fmt.Sprintf("bytes %d-%d/%d", from, to, len(s.data)), s.data[from:from+(to-from)/2])
		return true
	}, nil, "broke off"},
	{"stalled header", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	}, nil, "sends nothing"},
	{"stalled body", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		var from, to int64
		fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
		partial(w, fmt.Sprintf("bytes %d-%d/%d", from, to, len(s.data)), s.data[from:from+1])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	}, nil, "sends nothing"},
	{"not HTTP", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		c := hijack(w)
		c.Write([]byte("hello\r\n\r\n"))
		c.Close()
		return true
	}, nil, "malformed"},
	{"long header", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
		return false
	}, nil, "header"},
}

// These faults are of the object or the server.
var lastingFaults = []faultTest{
	{"another ETag", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("ETag", `"2"`)
		return false // which answers 412
	}, ErrChanged, "412"},
	{"another ETag without conditions", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("ETag", `"2"`)
		r.Header.Del("If-Match")
		return false
	}, ErrChanged, `version "2", opened as "1"`},
	{"no ETag", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Del("ETag")
		r.Header.Del("If-Match")
		return false
	}, ErrChanged, `version unknown`},
	{"weak ETag", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("ETag", `W/"1"`)
		r.Header.Del("If-Match")
		return false
	}, ErrChanged, "version"},
	{"gone", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		http.NotFound(w, r)
		return true
	}, fs.ErrNotExist, "404"},
	{"gone is changed", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusGone)
		return true
	}, ErrChanged, "410"},
	{"forbidden", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	}, fs.ErrPermission, "403"},
	{"shorter", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Range", "bytes */1000")
		w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		return true
	}, ErrChanged, "1000 bytes"},
	{"another size", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		partial(w, "bytes 200000-209999/1000000", s.data[:10_000])
		return true
	}, ErrChanged, "1000000 bytes"},
	{"other range", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		partial(w, fmt.Sprintf("bytes 0-9999/%d", len(s.data)), s.data[:10_000])
		return true
	}, errors.ErrUnsupported, "want bytes 200000-209999"},
	{"shorter range", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		partial(w, fmt.Sprintf("bytes 200000-200000/%d", len(s.data)), s.data[:1])
		return true
	}, errors.ErrUnsupported, "want bytes 200000-209999"},
	{"no Content-Range", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusPartialContent)
		w.Write(s.data[:10_000])
		return true
	}, errors.ErrUnsupported, "no Content-Range"},
	{"bad Content-Range", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		partial(w, "bytes 200000-209999/*", s.data[:10_000])
		return true
	}, errors.ErrUnsupported, "want bytes FIRST-LAST/SIZE"},
	{"huge Content-Range", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		partial(w, "bytes 200000-9223372036854775807/9223372036854775808", s.data[:10_000])
		return true
	}, errors.ErrUnsupported, "want bytes FIRST-LAST/SIZE"},
	{"Content-Length", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Length", "20000")
		partial(w, fmt.Sprintf("bytes 200000-209999/%d", len(s.data)), make([]byte, 20_000))
		return true
	}, errors.ErrUnsupported, "Content-Length is 20000"},
	{"longer body", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 200000-209999/%d", len(s.data)))
		w.WriteHeader(http.StatusPartialContent)
		w.(http.Flusher).Flush() // chunked
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				break
			}
		}
		return true
	}, errors.ErrUnsupported, "more than"},
	{"encoded", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Encoding", "gzip")
		return false
	}, errors.ErrUnsupported, "gzip"},
	{"several ranges", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		r.Header.Set("Range", "bytes=0-1,5-6")
		return false
	}, errors.ErrUnsupported, "several ranges"},
	{"range ignored", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		r.Header.Del("Range")
		return false
	}, errors.ErrUnsupported, "no longer answers with the range"},
	{"redirect loop", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, "/again", http.StatusFound)
		return true
	}, nil, "10 redirects"},
	{"long Retry-After", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}, nil, "asks to wait"},
	{"status 418", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusTeapot)
		return true
	}, nil, "418"},
}

// TestFaults reads 10,000 bytes from a server with a fault: the read must have the right bytes or the right error.
func TestFaults(t *testing.T) {
	data := randomBytes(500_000)
	read := func(obj *Object) error {
		p := make([]byte, 10_000)
		n, err := obj.ReadAt(p, 200_000)
		if err == nil && (n != len(p) || !bytes.Equal(p, data[200_000:210_000])) {
			t.Errorf("wrong bytes")
		}
		return err
	}
	check := func(t *testing.T, obj *Object, f faultTest) {
		t.Helper()
		err := read(obj)
		var e *Error
		if !errors.As(err, &e) || f.err != nil && !errors.Is(err, f.err) || !strings.Contains(err.Error(), f.text) {
			t.Errorf("error %v, want %v with %q", err, f.err, f.text)
		}
		if err != nil && strings.Count(err.Error(), "http://127.0.0.1") != 1 {
			t.Errorf("the error should name the URL once: %v", err)
		}
	}
	for _, f := range passingFaults {
		t.Run(f.name, func(t *testing.T) {
			s := newServer(t, data)
			o := quick()
			if strings.HasPrefix(f.name, "stalled") {
				o.Stall, o.Retries = 300*time.Millisecond, 1
			}
			obj := openServer(t, s, o)
			s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool { return n <= 1 && f.fault(s, n, w, r) })
			if err := read(obj); err != nil {
				t.Errorf("one fault: %v", err)
			}
			s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool { return f.fault(s, n, w, r) })
			check(t, obj, f)
			most := int64(o.Retries + 1)
			if n := s.requests.Load(); n < most || n > 2*most { // package net/http repeats some requests, too
				t.Errorf("%d requests, want %d", n, most)
			}
		})
	}
	for _, f := range lastingFaults {
		t.Run(f.name, func(t *testing.T) {
			s := newServer(t, data)
			obj := openServer(t, s, quick())
			s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool { return f.fault(s, n, w, r) })
			check(t, obj, f)
			s.set(nil)
			if err := read(obj); f.err != ErrChanged && !errors.Is(f.err, fs.ErrNotExist) && err != nil {
				t.Errorf("after the fault: %v", err)
			} else if f.err == ErrChanged && !errors.Is(err, ErrChanged) {
				t.Errorf("after a change: %v, want ErrChanged", err)
			}
		})
	}
}

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
		}, nil, "changed", ErrChanged},
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
		{"busy twice", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if n <= 2 {
				w.WriteHeader(http.StatusBadGateway)
			}
			return n <= 2
		}, nil, "", nil},
		{"always busy", big, func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}, nil, "4 attempts", nil},
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

// TestCancel cancels one of two reads of the same bytes, and then both.
func TestCancel(t *testing.T) {
	data := randomBytes(500_000)
	s := newServer(t, data)
	obj := openServer(t, s, nil)
	goOn := make(chan struct{})
	arrived := make(chan struct{}, 10)
	canceled := make(chan struct{}, 10)
	s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
		arrived <- struct{}{}
		select {
		case <-goOn:
		case <-r.Context().Done():
			canceled <- struct{}{}
		}
		return false
	})
	read := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		go func() {
			p := make([]byte, 1000)
			_, err := obj.ReadAtContext(ctx, p, 200_000)
			if err == nil && !bytes.Equal(p, data[200_000:201_000]) {
				err = errors.New("wrong bytes")
			}
			done <- err
		}()
		return done
	}
	reason := errors.New("reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	one := read(ctx)
	<-arrived
	two := read(t.Context())
	for refs := 0; refs != 2; { // until both wait for the same bytes
		obj.table.mu.Lock()
		refs = obj.table.overlapping(Range{Off: 200_000, Len: 1})[0].refs
		obj.table.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	cancel(reason)
	if err := <-one; !errors.Is(err, reason) {
		t.Errorf("canceled read: %v", err)
	}
	goOn <- struct{}{}
	if err := <-two; err != nil {
		t.Errorf("other read: %v", err)
	}
	if n := s.requests.Load(); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}

	ctx, cancel = context.WithCancelCause(t.Context())
	one = read(ctx)
	<-arrived
	cancel(reason)
	<-one
	<-canceled // the request too
	two = read(t.Context())
	<-arrived
	close(goOn)
	if err := <-two; err != nil {
		t.Errorf("read after a canceled one: %v", err)
	}
}

// TestClose closes an object while it is read.
func TestClose(t *testing.T) {
	s := newServer(t, randomBytes(500_000))
	obj := openServer(t, s, nil)
	arrived := make(chan struct{}, 10)
	s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
		arrived <- struct{}{}
		<-r.Context().Done()
		return false
	})
	done := make(chan error)
	go func() {
		_, err := obj.ReadAt(make([]byte, 10), 200_000)
		done <- err
	}()
	<-arrived
	if err := obj.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read: %v, want ErrClosed", err)
	}
	if err := obj.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
	for _, off := range []int64{0, 200_000, 500_000} {
		if _, err := obj.ReadAt(make([]byte, 10), off); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("read at %d after Close: %v", off, err)
		}
	}
}
