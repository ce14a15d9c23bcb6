// Package cloudtest tests drivers against a server in the process of the test.
package cloudtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/ndarray"
)

// Store is what distinguishes a kind of store from others: requests for the object dir/a of the bucket named bucket.
type Store struct {
	Path      string                              // of requests for the object
	Range     string                              // the header with the range
	Match     string                              // the header with the version
	Quoted    bool                                // the version is in quotation marks
	SetHeader func(h http.Header, version string) // sets the headers of an answer
	Setenv    func(setenv func(name, value string), host string)
	Open      func(object string) (*remote.Object, error) // opens an object of the bucket, such as "dir/a"
	Exists    func(h http.Header) int                     // sets the headers of "it exists", and returns the status
	Bucket    func(host string) (Bucket, Save, error)     // opens the bucket
}

// Save saves an array to an object of a bucket.
type Save func(ctx context.Context, key string, a *ndarray.Array, overwrite bool) error

// server answers requests for one object.
type server struct {
	store      *Store
	mu         sync.Mutex
	data       []byte
	generation int
	ignore     bool  // conditions
	shift      int64 // of ranges
	requests   []string
}

// version returns the version of the object as requests have it.
func (s *server) version() string {
	v := strconv.Itoa(s.generation)
	if s.store.Quoted {
		v = strconv.Quote(v)
	}
	return v
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	match, span := r.Header.Get(s.store.Match), r.Header.Get(s.store.Range)
	s.requests = append(s.requests, span+" "+match)
	switch {
	case r.URL.Path != s.store.Path || s.data == nil:
		http.NotFound(w, r)
	case match != "" && match != s.version() && !s.ignore:
		w.WriteHeader(http.StatusPreconditionFailed)
	default:
		s.store.SetHeader(w.Header(), s.version())
		var from, to int64
		if n, _ := fmt.Sscanf(span, "bytes=%d-%d", &from, &to); n == 2 && from > 0 {
			span = fmt.Sprintf("bytes=%d-%d", from+s.shift, to+s.shift)
		}
		r.Header.Set("Range", span)
		r.Header.Del("If-Match")
		http.ServeContent(w, r, "", time.Now(), bytes.NewReader(s.data))
	}
}

// TestOpen opens an object and reads it before and after it changes, and with a wrong range.
func TestOpen(t *testing.T, store *Store) {
	data := make([]byte, 1<<20)
	for i := range len(data) / 32 {
		h := sha256.Sum256(fmt.Append(nil, i))
		copy(data[32*i:], h[:])
	}
	s := &server{store: store}
	listener := httptest.NewServer(s)
	defer listener.Close()
	store.Setenv(t.Setenv, strings.TrimPrefix(listener.URL, "http://"))
	for name, change := range map[string]func(){
		"replaced":                func() { s.generation = 2 },
		"replaced, no conditions": func() { s.generation, s.ignore = 2, true },
		"deleted":                 func() { s.data = nil },
		"other range":             func() { s.shift = 32 },
	} {
		s.data, s.generation, s.ignore, s.requests, s.shift = data, 1, false, nil, 0
		src, err := store.Open("dir/a")
		if err != nil {
			t.Fatal(err)
		}
		if len(s.requests) != 2 || src.Size() != int64(len(data)) || src.Version() != `"1"` {
			t.Errorf("requests %q, size %d, version %s", s.requests, src.Size(), src.Version())
		}
		p := make([]byte, 1000)
		if _, err := src.ReadAt(p, 500_000); err != nil || !bytes.Equal(p, data[500_000:501_000]) {
			t.Fatal(err)
		}
		if got, want := s.requests[2], "bytes=500000-500999 "+s.version(); got != want {
			t.Errorf("request %q, want %q", got, want)
		}
		s.mu.Lock()
		change()
		s.mu.Unlock()
		want := frame.ErrChanged
		if s.shift != 0 {
			want = errors.ErrUnsupported
		}
		for range 2 {
			if _, err := src.ReadAt(p, 600_000); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
		src.Close()
	}
	if _, err := store.Open("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want ErrNotExist", err)
	}
}

// TestLocations opens an object of two stores by one URL, with one cache on disk. open opens dir/a at a host.
func TestLocations(t *testing.T, store *Store, open func(host string, o *remote.Options) (*remote.Object, error)) {
	o := &remote.Options{Dir: t.TempDir()}
	var servers []*server
	var hosts []string
	for i := range 2 {
		s := &server{store: store, data: bytes.Repeat([]byte{byte(i)}, 1000), generation: i}
		listener := httptest.NewServer(s)
		defer listener.Close()
		servers, hosts = append(servers, s), append(hosts, strings.TrimPrefix(listener.URL, "http://"))
	}
	for _, i := range []int{0, 1, 0} {
		src, err := open(hosts[i], o)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 1000)
		if _, err := src.ReadAt(got, 0); err != nil || !bytes.Equal(got, servers[i].data) {
			t.Errorf("store %d: bytes of store %d, %v", i, got[0], err)
		}
		src.Close()
	}
	servers[0].mu.Lock()
	defer servers[0].mu.Unlock()
	if n := len(servers[0].requests); n > 3 { // two to open it, and perhaps one for the version
		t.Errorf("%d requests, want the object from the disk", n)
	}
}

// TestWriteFaults writes an object and objects of an array, and the store refuses them or does not answer.
func TestWriteFaults(t *testing.T, store *Store) {
	var answer atomic.Pointer[http.HandlerFunc] // to a request that writes
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			http.NotFound(w, r)
			return
		}
		io.Copy(io.Discard, r.Body)
		(*answer.Load())(w, r)
	}))
	defer listener.Close()
	host := strings.TrimPrefix(listener.URL, "http://")
	store.Setenv(t.Setenv, host)
	b, save, err := store.Bucket(host)
	if err != nil {
		t.Fatal(err)
	}
	a, err := ndarray.Create(t.Context(), "", []int64{3}, []int32{1, 2, 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, c := range []struct {
		name      string
		overwrite bool
		timeout   time.Duration
		answer    http.HandlerFunc
		want      error // nil is any error
	}{
		{"exists", false, time.Minute, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(store.Exists(w.Header())) }, fs.ErrExist},
		{"denied", true, time.Minute, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, fs.ErrPermission},
		{"no answer", true, 100 * time.Millisecond, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, context.DeadlineExceeded},
		{"connection lost", false, 100 * time.Millisecond, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, nil},
	} {
		answer.Store(&c.answer)
		for name, write := range map[string]func(ctx context.Context) error{
			"Save": func(ctx context.Context) error { return save(ctx, "dir/a", a, c.overwrite) },
			"Put":  func(ctx context.Context) error { return b.Objects("dir").Put(ctx, "a", []byte("data"), c.overwrite) },
		} {
			ctx, cancel := context.WithTimeout(t.Context(), c.timeout)
			if err := write(ctx); err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%s, %s: %v, want %v", name, c.name, err, c.want)
			}
			cancel()
		}
	}
}
