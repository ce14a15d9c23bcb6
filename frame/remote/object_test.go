package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestRandomReads lets goroutines read random ranges from a server with random faults that pass. Some cancel their
// reads.
func TestRandomReads(t *testing.T) {
	for _, cache := range []int64{0, 200_000} {
		data := randomBytes(1_000_000)
		s := newServer(t, data)
		o := quick()
		o.Cache, o.MaxLen, o.MaxBytes, o.Gap, o.Requests, o.Retries = cache, 50_000, 100_000, 3000, 5, 50
		o.MaxWait = time.Millisecond
		obj := openServer(t, s, o)
		var mu sync.Mutex
		r := rand.New(rand.NewPCG(1, uint64(cache)))
		s.set(func(n int64, w http.ResponseWriter, req *http.Request) bool {
			mu.Lock()
			k := r.IntN(60)
			mu.Unlock()
			if k < 6 { // all faults that end without a stall
				return passingFaults[k].fault(s, n, w, req)
			}
			return false
		})
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 3))
				for range 20 {
					want := make([]Range, r.IntN(20)+1)
					for i := range want {
						off := r.Int64N(int64(len(data)))
						want[i] = Range{Off: off, Len: min(r.Int64N(1<<r.IntN(17)), int64(len(data))-off)}
					}
					ctx, cancel := context.WithCancel(t.Context())
					canceled := r.IntN(4) == 0
					if canceled {
						time.AfterFunc(time.Duration(r.IntN(3000))*time.Microsecond, cancel)
					}
					if err := readRanges(ctx, obj, data, want); err != nil && !(canceled && errors.Is(err, context.Canceled)) {
						t.Error(err)
					}
					cancel()
				}
			})
		}
		wg.Wait()
		obj.table.mu.Lock()
		for i, seg := range obj.table.segments {
			if seg.refs != 0 || i > 0 && seg.Off < obj.table.segments[i-1].End() {
				t.Errorf("segment %v: %d references", seg.Range, seg.refs)
			}
		}
		if n := obj.table.bytes; n > cache || cache == 0 && len(obj.table.segments) > 2 {
			t.Errorf("%d bytes in %d segments", n, len(obj.table.segments))
		}
		obj.table.mu.Unlock()
		obj.Close()
	}
}

func TestReadAt(t *testing.T) {
	data := randomBytes(300_000)
	s := newServer(t, data)
	obj := openServer(t, s, nil)
	for _, r := range []Range{{Off: 0, Len: 1}, {Off: 299_990, Len: 20}, {Off: 300_000, Len: 1}, {Off: 400_000, Len: 1}, {Off: 60_000, Len: 200_000}, {Off: 5, Len: 0}} {
		p := make([]byte, r.Len)
		n, err := obj.ReadAt(p, r.Off)
		q := make([]byte, r.Len)
		m, wantErr := bytes.NewReader(data).ReadAt(q, r.Off)
		if n != m || err != wantErr || !bytes.Equal(p, q) {
			t.Errorf("%v: %d bytes, %v, want %d, %v", r, n, err, m, wantErr)
		}
	}
	if _, err := obj.ReadAt(make([]byte, 1), -1); !errors.Is(err, ErrBounds) {
		t.Errorf("negative offset: %v", err)
	}
	for _, r := range []Range{{Off: -1, Len: 1}, {Off: 0, Len: 300_001}, {Off: 1 << 62, Len: 1 << 62}, {Off: 5, Len: -1}} {
		if err := obj.ReadRanges(t.Context(), []Range{r}, nil); !errors.Is(err, ErrBounds) {
			t.Errorf("%v: %v, want ErrBounds", r, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := obj.ReadAtContext(ctx, make([]byte, 1), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
	var none context.Context
	if _, err := obj.ReadAtContext(none, make([]byte, 1), 0); err != nil {
		t.Error(err)
	}
	stop := errors.New("stop")
	for _, n := range []int64{100, 200_000} {
		o := openServer(t, s, &Options{MaxLen: 1000})
		if err := o.ReadRanges(t.Context(), []Range{{Off: 1000, Len: n}}, func(int, int64, []byte) error { return stop }); err != stop {
			t.Errorf("%d bytes: %v, want the error of got", n, err)
		}
	}
}

// TestBrowser reads without suffix ranges and conditions, as a browser must.
func TestBrowser(t *testing.T) {
	data := randomBytes(300_000)
	s := newServer(t, data)
	fault := func(n int64, w http.ResponseWriter, r *http.Request) bool {
		for _, name := range []string{"If-Match", "If-Unmodified-Since"} {
			if r.Header.Get(name) != "" {
				t.Errorf("%s in a request", name)
			}
		}
		if strings.HasPrefix(r.Header.Get("Range"), "bytes=-") {
			t.Errorf("suffix range")
		}
		return false
	}
	s.set(fault)
	o := quick()
	o.platform = platform{noSuffix: true, noConditions: true}
	o.Client = &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer o.Client.CloseIdleConnections()
	obj := openServer(t, s, o)
	readAll(t, obj, data, []Range{{Off: 0, Len: 300_000}})
	s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("ETag", `"2"`)
		return fault(n, w, r)
	})
	if _, err := obj.ReadAt(make([]byte, 1), 150_000); !errors.Is(err, ErrChanged) {
		t.Errorf("after a change: %v", err)
	}
}

// TestLastModified reads an object whose version is the time of its last change.
func TestLastModified(t *testing.T) {
	data := randomBytes(300_000)
	s := newServer(t, data)
	modified := time.Now().Add(-time.Hour)
	var mu sync.Mutex
	s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Del("ETag")
		http.ServeContent(w, r, "", modified, bytes.NewReader(data))
		return true
	})
	obj := openServer(t, s, nil)
	readAll(t, obj, data, []Range{{Off: 0, Len: 300_000}})
	if obj.Version() != modified.UTC().Format(http.TimeFormat) {
		t.Errorf("version %s", obj.Version())
	}
	mu.Lock()
	modified = modified.Add(time.Minute)
	mu.Unlock()
	if _, err := obj.ReadAt(make([]byte, 1), 150_000); !errors.Is(err, ErrChanged) {
		t.Errorf("after a change: %v", err)
	}
	if _, err := obj.ReadAt(make([]byte, 1), 0); !errors.Is(err, ErrChanged) {
		t.Errorf("bytes in memory, after a change was noticed: %v", err)
	}

	// An object that was changed less than a second ago is not cached on disk: it may change again in the same second.
	for _, age := range []time.Duration{0, time.Hour} {
		mu.Lock()
		modified = time.Now().Add(-age)
		mu.Unlock()
		o := diskOptions(t.TempDir())
		openServer(t, s, o).Close()
		before := s.requests.Load()
		openServer(t, s, o).Close()
		if n := s.requests.Load() - before; (age == 0) != (n == 2) {
			t.Errorf("%d requests to open an object again that was changed %v ago", n, age)
		}
	}
}

// TestOddETags reads an object with a weak ETag beside Last-Modified, and one whose ETag has a space, which package
// net/http never matches. Then the ETag changes.
func TestOddETags(t *testing.T) {
	data := randomBytes(300_000)
	for _, tags := range [][2]string{{`W/"1"`, `W/"2"`}, {`"1 a"`, `"2 a"`}} {
		t.Run(tags[0], func(t *testing.T) {
			var etag atomic.Value
			etag.Store(tags[0])
			s := newServer(t, data)
			s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
				w.Header().Set("ETag", etag.Load().(string))
				http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(data))
				return true
			})
			obj := openServer(t, s, nil)
			readAll(t, obj, data, []Range{{Off: 0, Len: 300_000}})
			if err := obj.Refresh(t.Context()); err != nil {
				t.Errorf("%s: %v", tags[0], err)
			}
			etag.Store(tags[1])
			want := "version " + tags[1] + ", opened as " + tags[0]
			if _, err := obj.ReadAt(make([]byte, 1), 150_000); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

// TestLongVersions reads objects whose versions are too long to be kept.
func TestLongVersions(t *testing.T) {
	data := randomBytes(300_000)
	s := newServer(t, data)
	modified := time.Unix(1e9, 0).UTC().Format(http.TimeFormat)
	long := strings.Replace(modified, " GMT", "."+strings.Repeat("0", maxVersion)+" GMT", 1)
	tag := `"` + strings.Repeat("x", maxVersion-2) + `"`
	for _, c := range []struct{ etag, modified, want string }{
		{tag, modified, tag}, {`"` + strings.Repeat("x", maxVersion) + `"`, modified, modified},
		{`"` + strings.Repeat("x", maxVersion) + `"`, "", ""}, {"", long, ""},
	} {
		s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", c.etag)
			w.Header().Set("Last-Modified", c.modified)
			return false
		})
		obj, err := Open(t.Context(), s.URL, quick())
		if c.want == "" {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%.10s, %.40s: %v, want ErrUnsupported", c.etag, c.modified, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		readAll(t, obj, data, []Range{{Off: 100_000, Len: 10}})
		if got := obj.Version(); got != c.want {
			t.Errorf("%.10s, %.40s: version %.40q, want %.40q", c.etag, c.modified, got, c.want)
		}
		obj.Close()
	}
	g := &memoryGetter{data: data, version: strings.Repeat("x", maxVersion+1)}
	if _, err := OpenGetter(t.Context(), "store/x", g, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a long version of a Getter: %v, want ErrUnsupported", err)
	}
}

func TestTrace(t *testing.T) {
	data := randomBytes(300_000)
	s := newServer(t, data)
	var mu sync.Mutex
	var events []Event
	o := quick()
	o.Cache = 100_000
	o.Trace = func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}
	check := func(want ...string) {
		t.Helper()
		var got []string
		for _, e := range events {
			got = append(got, fmt.Sprint(e.Kind, e.Off, e.Len, e.Status, e.Err != nil))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("events %q, want %q", got, want)
		}
		events = nil
	}
	obj := openServer(t, s, o)
	slices.SortFunc(events, func(a, b Event) int { return cmp.Compare(a.Off, b.Off) })
	check("request 0 65536 206 false", "request 234464 65536 206 false")
	s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
		return n == 1 && passingFaults[2].fault(s, n, w, r)
	})
	for range 2 {
		readAll(t, obj, data, []Range{{Off: 100_000, Len: 10}})
	}
	check("request 100000 0 503 true", "request 100000 10 206 false", "memory 100000 10 0 false")
	s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
		return n == 1 && passingFaults[5].fault(s, n, w, r)
	})
	readAll(t, obj, data, []Range{{Off: 110_000, Len: 10}})
	check("request 110000 4 206 true", "request 110004 6 206 false")
}

// TestPanic lets code of the user panic: the panic must reach the caller.
func TestPanic(t *testing.T) {
	data := randomBytes(300_000)
	s := newServer(t, data)
	o := quick()
	bad := false
	o.Trace = func(Event) {
		if bad {
			panic("mine")
		}
	}
	obj := openServer(t, s, o)
	bad = true
	catch := func(f func()) (v any) {
		defer func() { v = recover() }()
		f()
		return nil
	}
	if v := catch(func() { obj.ReadAt(make([]byte, 1), 100_000) }); v != "mine" {
		t.Errorf("ReadAt: %v", v)
	}
	if v := catch(func() { Open(t.Context(), s.URL, o) }); v != "mine" {
		t.Errorf("Open: %v", v)
	}
	bad = false
	readAll(t, obj, data, []Range{{Off: 100_000, Len: 1}})
	if v := catch(func() {
		obj.ReadRanges(t.Context(), []Range{{Off: 100_000, Len: 1}}, func(int, int64, []byte) error { panic("got") })
	}); v != "got" {
		t.Errorf("ReadRanges: %v", v)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []*Options{{Requests: -1}, {Cache: -1}, {MaxLen: 2, MaxBytes: 1}, {MaxLen: 1 << 31}, {DirBytes: 1}, {Key: "a"}, {Stall: -1}} {
		if _, err := Open(t.Context(), "http://127.0.0.1:1/", o); !errors.Is(err, ErrParam) {
			t.Errorf("%+v: %v, want ErrParam", o, err)
		}
	}
	for _, u := range []string{"", "a.b2nd", "ftp://host/a", "http://", "http://user:secret@ho st/", "https://x:pass%zz@host",
		"http://user:pass/word@host/", "http://user:pass?word@host/", "http://user:pass#word@host/", "user:pass@host/a", "http:user:pass@host/a",
		"http:/user:pass@host/a", "http:///user:pass@host/a", "/user:pass@host"} {
		_, err := Open(t.Context(), u, nil)
		if !errors.Is(err, ErrParam) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "pass") {
			t.Errorf("%q: %v, want ErrParam", u, err)
		}
	}
	_, err := Open(t.Context(), "http://user:secret@127.0.0.1:1/a?key=hidden#part", &Options{Retries: -1})
	if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "hidden") || !strings.Contains(err.Error(), "127.0.0.1:1/a") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := Open(ctx, "http://127.0.0.1:1/", nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second {
		t.Errorf("error %v after %v", err, time.Since(start))
	}
}

// TestIdleConns checks that the connections of all requests in flight are kept for the next call.
func TestIdleConns(t *testing.T) {
	c, err := newClient("http://host/a", &Options{Requests: 256})
	if err != nil {
		t.Fatal(err)
	}
	if tr, ok := c.http.Transport.(*http.Transport); !ok || tr.MaxIdleConns < 256 || tr.MaxIdleConnsPerHost < 256 {
		t.Errorf("transport %+v", c.http.Transport)
	}
}

func TestContentRange(t *testing.T) {
	for _, s := range []string{"", "bytes", "bytes 0-1", "bytes 0-1/2/3", "bytes 1-0/5", "bytes 0-5/5", "bytes -1/5", "bytes 0-/5", "bytes +0-1/5", "items 0-1/5", "bytes 0-1/99999999999999999999", "bytes */5"} {
		if _, _, _, err := parseContentRange(s); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%q: %v", s, err)
		}
	}
	if a, b, n, err := parseContentRange("Bytes 2-3/9"); a != 2 || b != 3 || n != 9 || err != nil {
		t.Error(a, b, n, err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for s, want := range map[string]time.Duration{
		"": 0, "x": 0, "-5": 0, "7": 7 * time.Second,
		"2147483648": (1<<31 - 1) * time.Second, "99999999999999999999": (1<<31 - 1) * time.Second,
		"Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second, "Fri, 02 Jan 2026 03:04:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {s}}, now); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
	h := http.Header{"Retry-After": {"Fri, 02 Jan 2026 04:00:10 GMT"}, "Date": {"Fri, 02 Jan 2026 04:00:00 GMT"}}
	if got := retryAfter(h, now); got != 10*time.Second {
		t.Errorf("another clock: %v, want 10s", got)
	}
}

// TestUnreachable checks the errors of servers that cannot be reached.
func TestUnreachable(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	start := time.Now()
	if _, err := Open(t.Context(), s.URL, nil); err == nil || !strings.Contains(err.Error(), "certificate") || time.Since(start) > 5*time.Second {
		t.Errorf("unknown certificate: %v", err)
	}
	if _, err := Open(t.Context(), s.URL, &Options{Client: s.Client()}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("known certificate: %v", err)
	}
}

var _ interface {
	io.ReaderAt
	io.Closer
	ReadAtContext(ctx context.Context, p []byte, off int64) (int, error)
	Size() int64
} = (*Object)(nil)

// TestTracePanics lets Options.Trace panic while an object and a directory are read. No segment and no file stays in
// use, and later reads succeed.
func TestTracePanics(t *testing.T) {
	data := randomBytes(500_000)
	s := newServer(t, data)
	var armed atomic.Bool
	o := quick()
	o.Cache = 1 << 20
	o.Trace = func(Event) {
		if armed.Load() {
			panic("trace")
		}
	}
	panics := func(f func()) {
		t.Helper()
		armed.Store(true)
		defer armed.Store(false)
		defer func() {
			if v := recover(); v != "trace" {
				t.Errorf("panic %v", v)
			}
		}()
		f()
	}
	obj := openServer(t, s, o)
	p := make([]byte, 1000)
	panics(func() { obj.ReadAt(p, 200_000) }) // a request
	readAll(t, obj, data, []Range{{Off: 200_000, Len: 1000}})
	panics(func() { obj.ReadAt(p, 200_000) }) // bytes in memory
	panics(func() {
		obj.ReadRanges(t.Context(), []Range{{Off: 200_000, Len: 1000}, {Off: 400_000, Len: 10}}, func(int, int64, []byte) error { return nil })
	})
	readAll(t, obj, data, []Range{{Off: 200_000, Len: 1000}, {Off: 400_000, Len: 10}})
	obj.table.mu.Lock()
	for _, seg := range obj.table.segments {
		if seg.refs != 0 {
			t.Errorf("segment %v: %d references", seg.Range, seg.refs)
		}
	}
	obj.table.mu.Unlock()

	dir, err := OpenDir(t.Context(), s.URL, o)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	panics(func() { dir.ReadAtContext(t.Context(), p, dir.ChunkOffset(3)+1000) })
	if f := dir.files[3]; f == nil || f.users != 0 {
		t.Errorf("file %+v", f)
	}
	if _, err := dir.ReadAtContext(t.Context(), p, dir.ChunkOffset(3)+1000); err != nil || !bytes.Equal(p, data[1000:2000]) {
		t.Error(err)
	}
}
