package remote_test

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/internal/link"
	"github.com/goblosc/blosc2/ndarray"
)

// deadFiles is an http.RoundTripper to a server that answers no request for some files.
type deadFiles struct {
	*link.Link
	suffixes []string // of the URLs
	stall    bool     // nothing happens, or else the connection is reset
	requests *atomic.Int64
	last     chan struct{} // closed when the last attempt of a request begins
}

func newDeadFiles(l *link.Link, stall bool, suffixes ...string) deadFiles {
	return deadFiles{l, suffixes, stall, new(atomic.Int64), make(chan struct{})}
}

func (r deadFiles) RoundTrip(req *http.Request) (*http.Response, error) {
	if !slices.ContainsFunc(r.suffixes, func(s string) bool { return strings.HasSuffix(req.URL.Path, s) }) {
		return r.Link.RoundTrip(req)
	}
	if r.requests.Add(1) == attempts {
		close(r.last)
	}
	if r.stall {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	time.Sleep(r.Latency)
	return nil, errors.New("connection reset by peer")
}

// TestDeadFiles reads files with few requests in flight, while the server does not answer requests for some of them.
// Only reads of these files fail.
func TestDeadFiles(t *testing.T) {
	one, two := []string{"00000000.chunk"}, []string{"00000000.chunk", "00000001.chunk"}
	for _, c := range []struct {
		name    string
		o       remote.Options
		dead    []string
		stall   bool
		latency time.Duration
	}{
		{"one slot", remote.Options{Requests: 1}, one, false, 50 * time.Millisecond},
		{"one slot, no answer", remote.Options{Requests: 1}, one, true, 50 * time.Millisecond},
		{"all slots", remote.Options{Requests: 2}, two, false, 50 * time.Millisecond},
		{"one repetition", remote.Options{Requests: 4, Retries: 1}, one, false, 500 * time.Millisecond},
		{"no repetition", remote.Options{Requests: 4, Retries: -1}, one, false, 50 * time.Millisecond},
		{"slow", remote.Options{Requests: 4}, one, false, 4 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			inFiles(t, 20, remote.Options{}, func(t *testing.T, _ *remote.Dir, l *link.Link) {
				l.Latency = c.latency
				c.o.Client = &http.Client{Transport: newDeadFiles(l, c.stall, c.dead...)}
				d, err := remote.OpenDir(t.Context(), "http://host/d/", &c.o)
				if err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				for i, err := range readers(20, func(i int) error {
					if i >= 2 {
						time.Sleep(time.Millisecond)
					}
					return readFile(t.Context(), d, int64(i))
				}) {
					if (err != nil) != (i < len(c.dead)) {
						t.Errorf("file %d: %v", i, err)
					}
				}
			})
		})
	}
}

// TestDeadFilesLater reads a file again and again without an answer, and then many files at the time of its last
// attempt. They wait for slots, and do not fail.
func TestDeadFilesLater(t *testing.T) {
	inFiles(t, 100, remote.Options{}, func(t *testing.T, _ *remote.Dir, l *link.Link) {
		l.Latency = 50 * time.Millisecond
		r := newDeadFiles(l, false, "00000000.chunk")
		d, err := remote.OpenDir(t.Context(), "http://host/d/", &remote.Options{Client: &http.Client{Transport: r}})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		const calls = 20
		r.requests.Store(-(calls - 1) * attempts)
		for i, err := range readers(100, func(i int) error {
			if i > 0 {
				<-r.last
				time.Sleep(time.Millisecond)
				return readFile(t.Context(), d, int64(i))
			}
			for range calls - 1 {
				if err := readFile(t.Context(), d, 0); err == nil {
					return nil
				}
			}
			return readFile(t.Context(), d, 0)
		}) {
			if (err != nil) != (i == 0) {
				t.Errorf("file %d: %v", i, err)
			}
		}
	})
}

// TestDeadFilesVerify verifies an array with a file for which there is no answer. The other chunks are still verified.
func TestDeadFilesVerify(t *testing.T) {
	stored := makeArray(t, []int64{40, 50, 100}, []int64{1, 50, 100}, []int64{1, 10, 100}, 0, false)
	_, files := makeDir(t, stored, false)
	for _, o := range []remote.Options{{}, {Requests: 1}, {Retries: -1}, {Requests: 2, Retries: -1}} {
		for _, concurrency := range []int{1, 4} {
			inDir(t, stored, files, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
				a.link.Latency = 50 * time.Millisecond
				o.Client = &http.Client{Transport: newDeadFiles(a.link, false, "0000001E.chunk")}
				src, err := remote.OpenDir(t.Context(), "http://host/d/", &o)
				if err != nil {
					t.Fatal(err)
				}
				defer src.Close()
				b, err := ndarray.OpenSource(t.Context(), src, &ndarray.OpenOptions{Concurrency: concurrency})
				if err != nil {
					t.Fatal(err)
				}
				defer b.Close()
				var faults []error
				err = b.Verify(t.Context(), func(err error) error { faults = append(faults, err); return nil })
				var at *frame.Error
				if err != nil || len(faults) != 1 || !errors.As(faults[0], &at) || at.Chunk != 30 {
					t.Errorf("Requests %d, Retries %d, Concurrency %d: %v, faults %v", o.Requests, o.Retries, concurrency, err, faults)
				}
			})
		}
	}
}

// TestDeadFilesCached reads a replaced file that is in a cache on disk and whose last use ended before an answer, after
// the read of a file for which there is no answer. The replaced file is asked for first.
func TestDeadFilesCached(t *testing.T) {
	inFiles(t, 2, remote.Options{}, func(t *testing.T, _ *remote.Dir, l *link.Link) {
		dir := t.TempDir()
		open := func(dead ...string) *remote.Dir {
			t.Helper()
			r := newDeadFiles(l, false, dead...)
			d, err := remote.OpenDir(t.Context(), "http://host/d/", &remote.Options{Client: &http.Client{Transport: r}, Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		for _, latency := range []time.Duration{time.Millisecond, forever} {
			l.Latency = latency
			d := open()
			if err := readFile(t.Context(), d, 1); err != nil {
				t.Fatal(err)
			}
			d.Close()
			synctest.Wait() // for the end of canceled requests
		}
		l.Latency = time.Millisecond
		l.Objects["/d/00000001.chunk"] = link.Object{Data: bytes.Repeat([]byte{7}, 100_000), ETag: `"new"`}
		d := open("00000000.chunk")
		defer d.Close()
		if err := readFile(t.Context(), d, 0); err == nil {
			t.Error("the dead file: no error")
		}
		var b [10]byte
		if _, err := d.ReadAtContext(t.Context(), b[:], d.ChunkOffset(1)+50_000); err != nil || b[0] != 7 {
			t.Errorf("the replaced file begins with %d: %v", b[0], err)
		}
	})
}

// TestOutageFew reads fewer files than requests can be in flight while the server is down, and many files with one
// attempt for each request.
func TestOutageFew(t *testing.T) {
	stored := makeArray(t, []int64{10, 50, 100}, []int64{1, 50, 100}, []int64{1, 10, 100}, 0, false)
	_, files := makeDir(t, stored, false)
	for _, concurrency := range []int{1, 4} {
		inDir(t, stored, files, remote.Options{}, ndarray.OpenOptions{Concurrency: concurrency}, func(t *testing.T, a farArray) {
			for _, do := range []func() error{
				func() error { _, err := ndarray.Read[float32](t.Context(), a); return err },
				func() error { return a.Verify(t.Context(), func(error) error { return nil }) },
			} {
				a.link.Stats()
				a.link.Latency = forever
				start := time.Now()
				if err := do(); err == nil {
					t.Error("no error")
				}
				checkOutage(t, a.link, start, 10*attempts)
				a.link.Latency = time.Millisecond
				a.read(t)
			}
		})
	}
	inFiles(t, 256, remote.Options{Retries: -1}, func(t *testing.T, d *remote.Dir, l *link.Link) {
		l.Latency = forever
		start := time.Now()
		readers(256, func(i int) error { return readFile(t.Context(), d, int64(i)) })
		if took, s := time.Since(start), l.Stats(); took != 2*giveUp/attempts || s.Requests != 32 {
			t.Errorf("%v and %d requests, want 1 minute and 32 requests", took, s.Requests)
		}
	})
}
