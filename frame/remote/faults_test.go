package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

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
	}, os.ErrDeadlineExceeded, "sends nothing: i/o timeout (after 2 attempts)"},
	{"stalled body", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		var from, to int64
		fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
		partial(w, fmt.Sprintf("bytes %d-%d/%d", from, to, len(s.data)), s.data[from:from+1])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	}, os.ErrDeadlineExceeded, "sends nothing: i/o timeout (after 2 attempts)"},
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
	}, ErrChanged, "412 Precondition Failed: the object was replaced; open it again"},
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
	}, fs.ErrNotExist, "404 Not Found: not found: the object was removed"},
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
	{"encoded, second field", func(s *server, n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header()["Content-Encoding"] = []string{"identity", "gzip"}
		return false
	}, errors.ErrUnsupported, "identity, gzip"},
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
