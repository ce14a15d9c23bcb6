package remote

import (
	"bytes"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// server serves one object on loopback, with faults.
type server struct {
	*httptest.Server
	requests atomic.Int64

	mu    sync.Mutex
	data  []byte                                                     // tests that never replace it read it without mu
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

// replace replaces the object.
func (s *server) replace(data []byte, etag string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data, s.etag = data, etag
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.requests.Add(1)
	s.mu.Lock()
	fault, data, etag := s.fault, s.data, s.etag
	s.mu.Unlock()
	w.Header().Set("ETag", etag)
	if fault == nil || !fault(n, w, r) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}
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
