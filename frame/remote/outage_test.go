package remote_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
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

const (
	attempts = 6                   // of a request with the default options
	giveUp   = 3 * time.Minute     // in which one request gives up
	inFlight = 16 * (attempts + 1) // of all requests: those in flight make another attempt before they keep their slots
)

// checkOutage checks that calls in an outage have taken the time of one request, or of one attempt more if it had to
// wait for a slot, and few requests.
func checkOutage(t *testing.T, l *link.Link, start time.Time, requests int) {
	t.Helper()
	took, s := time.Since(start), l.Stats()
	most := giveUp + 10*time.Second
	if requests == inFlight {
		most += giveUp / attempts
	}
	if took < giveUp || took > most || s.Requests > requests {
		t.Errorf("%v and %d requests, want %v to %v and at most %d requests", took, s.Requests, giveUp, most, requests)
	}
}

// TestOutage calls functions while the server is down. Each returns an error when one request has given up.
func TestOutage(t *testing.T) {
	stored := makeArray(t, []int64{200, 50, 100}, []int64{1, 50, 100}, []int64{1, 10, 100}, 0, false)
	_, files := makeDir(t, stored, false)
	ctx := context.Background()
	for _, c := range []struct {
		name string
		file string // whose request has failed; "" = any
		do   func(a farArray) error
	}{
		{"item", "0000001E.chunk", func(a farArray) error { _, err := ndarray.Item[float32](ctx, a, 30, 20, 20); return err }},
		{"chunk", "0000001E.chunk", func(a farArray) error { _, err := a.Frame().ReadChunk(ctx, nil, 30); return err }},
		{"header", "0000001E.chunk", func(a farArray) error { _, err := a.Frame().ChunkInfo(ctx, 30); return err }},
		{"read", "", func(a farArray) error { _, err := ndarray.Read[float32](ctx, a); return err }},
		{"copy", "", func(a farArray) error { _, err := ndarray.Copy(ctx, "", a, nil); return err }},
		{"save", "", func(a farArray) error { _, err := a.Save(ctx, io.Discard); return err }},
		{"verify", "", func(a farArray) error { return a.Verify(ctx, func(error) error { return nil }) }},
		{"reduce", "", func(a farArray) error { _, err := ndarray.ReduceAll[float64](ctx, a, ndarray.OpSum, nil); return err }},
		{"concat", "", func(a farArray) error {
			_, err := ndarray.Concat(ctx, "", 0, []ndarray.Reader{a.Array, a.Array}, nil)
			return err
		}},
		{"infos", "", func(a farArray) error {
			for _, err := range a.ChunkInfos(ctx) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		down := func(t *testing.T, a farArray) {
			sparse := strings.Contains(a.src.(fmt.Stringer).String(), "/d/")
			a.link.Stats()
			a.link.Latency = forever
			start := time.Now()
			err := c.do(a)
			var at *frame.Error
			var e *remote.Error
			if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &at) || at.Part != "chunk" || !errors.As(err, &e) {
				t.Errorf("error %v", err)
			} else if sparse && !strings.HasSuffix(e.URL, cmp.Or(c.file, ".chunk")) {
				t.Errorf("error of %s, want %s: %v", e.URL, c.file, err)
			} else if others := sparse && c.file == ""; strings.Contains(err.Error(), ": with other chunks: http") != others {
				t.Errorf("other chunks: want %v: %v", others, err)
			}
			requests := inFlight
			if c.file != "" {
				requests = attempts
			}
			checkOutage(t, a.link, start, requests)
			a.link.Latency = time.Millisecond
			a.read(t, ndarray.Span(20, 40))
		}
		t.Run(c.name+" of object", func(t *testing.T) { far(t, stored, remote.Options{}, ndarray.OpenOptions{}, down) })
		t.Run(c.name+" of directory", func(t *testing.T) { inDir(t, stored, files, remote.Options{}, ndarray.OpenOptions{}, down) })
	}
}

// TestOutageMany reads other bytes with many goroutines while the server is down. No request waits for more than one
// other.
func TestOutageMany(t *testing.T) {
	const n = 256
	inFiles(t, n, remote.Options{Gap: -1}, func(t *testing.T, d *remote.Dir, l *link.Link) {
		l.Latency = forever
		start := time.Now()
		for i, err := range readers(n, func(i int) error { return readFile(t.Context(), d, int64(i)) }) {
			var e *remote.Error
			if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &e) || e.URL != fmt.Sprintf("http://host/d/%08X.chunk", i) {
				t.Errorf("file %d: %v", i, err)
			}
		}
		checkOutage(t, l, start, inFlight)

		l.Latency = time.Millisecond
		l.Objects["/a"] = link.Object{Data: make([]byte, 10_000_000), ETag: `"1"`}
		src, err := remote.Open(t.Context(), "http://host/a", &remote.Options{Client: l.Client()})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		l.Stats()
		l.Latency = forever
		start = time.Now()
		for i, err := range readers(n, func(i int) error { _, err := src.ReadAt(make([]byte, 10), int64(100_000+10_000*i)); return err }) {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("read %d: %v", i, err)
			}
		}
		checkOutage(t, l, start, inFlight)
		l.Latency = time.Millisecond
		if _, err := src.ReadAt(make([]byte, 10), 1_000_000); err != nil {
			t.Errorf("after the outage: %v", err)
		}
	})
}

// breaks is an http.RoundTripper to a server that goes down: the bodies of the next answers break off, and no others
// follow.
type breaks struct {
	*link.Link
	answers *atomic.Int64
}

func (r breaks) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.answers.Add(-1) < 0 {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	resp, err := r.Link.RoundTrip(req)
	if err == nil && r.answers.Load() < 64 {
		resp.Body = io.NopCloser(io.LimitReader(resp.Body, 5))
	}
	return resp, err
}

// TestOutageBroken reads with many goroutines while the server goes down. The first answers break off.
func TestOutageBroken(t *testing.T) {
	inFiles(t, 64, remote.Options{}, func(t *testing.T, _ *remote.Dir, l *link.Link) {
		r := breaks{l, new(atomic.Int64)}
		r.answers.Store(100)
		d, err := remote.OpenDir(t.Context(), "http://host/d/", &remote.Options{Client: &http.Client{Transport: r}})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		r.answers.Store(64)
		l.Stats()
		start := time.Now()
		for i, err := range readers(64, func(i int) error { return readFile(t.Context(), d, int64(i)) }) {
			if err == nil {
				t.Errorf("file %d: no error", i)
			}
		}
		if took := time.Since(start); took > giveUp+time.Minute {
			t.Errorf("%v, want about 3 minutes", took)
		}
	})
}

// oneFault is an http.RoundTripper with a fault of one file: there is no answer, or one with a status.
type oneFault struct {
	*link.Link
	suffix string // of the URL
	status int
	after  string // Retry-After
}

func (r oneFault) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Path, r.suffix) {
		return r.Link.RoundTrip(req)
	}
	if r.status == 0 {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	resp, err := r.Link.RoundTrip(req)
	if err == nil {
		resp.StatusCode = r.status
		resp.Header.Set("Retry-After", r.after)
	}
	return resp, err
}

// TestOutageOneFile reads a directory with a file that the server does not send. Reads of other files do not fail, also
// those that wait for a slot.
func TestOutageOneFile(t *testing.T) {
	stored := makeArray(t, []int64{200, 50, 100}, []int64{1, 50, 100}, []int64{1, 10, 100}, 0, false)
	_, files := makeDir(t, stored, false)
	for _, status := range []int{0, http.StatusInternalServerError} {
		inDir(t, stored, files, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
			fault := oneFault{Link: a.link, suffix: "0000001E.chunk", status: status}
			src, err := remote.OpenDir(t.Context(), "http://host/d/", &remote.Options{Client: &http.Client{Transport: fault}, Requests: 2})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			b, err := ndarray.OpenSource(t.Context(), src, &ndarray.OpenOptions{Concurrency: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			var faults []error
			err = b.Verify(t.Context(), func(err error) error { faults = append(faults, err); return nil })
			var at *frame.Error
			if err != nil || len(faults) != 1 || !errors.As(faults[0], &at) || at.Chunk != 30 {
				t.Errorf("status %d: %v, faults %v", status, err, faults)
			}
			for i, err := range readers(200, func(i int) error {
				off := int64(100) // each read needs a request: there is no cache
				for range 20 {    // until the fault is final
					if _, err := src.ReadAtContext(t.Context(), make([]byte, 10), src.ChunkOffset(int64(i))+off); err != nil {
						return err
					}
					off += 20
					time.Sleep(20 * time.Second)
				}
				return nil
			}) {
				if (err != nil) != (i == 30) {
					t.Errorf("status %d: file %d: %v", status, i, err)
				}
			}
		})
	}
}

// TestOutageRequests reads an item while the server answers each request with an error, which is tried once.
func TestOutageRequests(t *testing.T) {
	stored := makeArray(t, []int64{200, 50, 100}, []int64{1, 50, 100}, []int64{1, 10, 100}, 0, false)
	_, files := makeDir(t, stored, false)
	inDir(t, stored, files, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
		fault := oneFault{Link: a.link, suffix: ".chunk", status: http.StatusServiceUnavailable, after: "20"}
		o := &remote.Options{Client: &http.Client{Transport: fault}, Retries: 1}
		src, err := remote.OpenDir(t.Context(), "http://host/d/", o)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		b, err := ndarray.OpenSource(t.Context(), src, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		a.link.Stats()
		_, err = ndarray.Item[float32](t.Context(), b, 30, 20, 20)
		if s := a.link.Stats(); err == nil || s.Requests != 2 {
			t.Errorf("%d requests, want 2: %v", s.Requests, err)
		}
	})
}

// TestRetryAfterSlot reads a file while another request waits for the time that the server asks for. It leaves its slot
// to the file.
func TestRetryAfterSlot(t *testing.T) {
	inFiles(t, 2, remote.Options{}, func(t *testing.T, _ *remote.Dir, l *link.Link) {
		fault := oneFault{Link: l, suffix: "00000000.chunk", status: http.StatusServiceUnavailable, after: "20"}
		d, err := remote.OpenDir(t.Context(), "http://host/d/", &remote.Options{Client: &http.Client{Transport: fault}, Requests: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		start := time.Now()
		readers(2, func(i int) error {
			time.Sleep(time.Duration(i) * time.Second)
			err := readFile(t.Context(), d, int64(i))
			if took := time.Since(start); i == 1 && (err != nil || took > 2*time.Second) {
				t.Errorf("the file took %v, want about 1 s: %v", took, err)
			}
			return err
		})
	})
}

// TestOutageCached reads a directory that is in a cache on disk while the server is down. A use of the cache that ended
// before an answer makes the next one ask first, which takes the time of one request for all files together.
func TestOutageCached(t *testing.T) {
	const n = 100
	inFiles(t, n, remote.Options{}, func(t *testing.T, _ *remote.Dir, l *link.Link) {
		o := &remote.Options{Client: l.Client(), Dir: t.TempDir()}
		read := func() (first byte) {
			t.Helper()
			d, err := remote.OpenDir(t.Context(), "http://host/d/", o)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			var want []remote.Range
			for i := range int64(n) {
				want = append(want, remote.Range{Off: d.ChunkOffset(i), Len: 100_000})
			}
			err = d.ReadRanges(t.Context(), want, func(i int, at int64, b []byte) error {
				if i == 7 && at == 0 {
					first = b[0]
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			return first
		}
		read()
		l.Latency = forever
		start := time.Now()
		if read(); time.Since(start) > time.Second {
			t.Errorf("the first use without an answer took %v", time.Since(start))
		}
		for range 2 {
			synctest.Wait() // for the end of canceled requests
			l.Stats()
			start = time.Now()
			read()
			checkOutage(t, l, start, attempts+n)
		}
		synctest.Wait()
		l.Latency = time.Millisecond
		l.Objects["/d/00000007.chunk"] = link.Object{Data: bytes.Repeat([]byte{1}, 100_000), ETag: `"new"`}
		if read() != 1 {
			t.Error("the next use after the outage has not asked first")
		}
	})
}
