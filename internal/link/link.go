// Package link simulates a link to an HTTP server for tests: requests take a set latency, and bodies share a set
// bandwidth. It counts requests, rounds and bytes. In a bubble of testing/synctest the time is virtual.
package link

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// A Link is an http.RoundTripper that serves objects from memory, as http.ServeContent does. Set its fields before use.
// It is safe for concurrent use.
type Link struct {
	Latency   time.Duration // from a request to the first byte of its answer
	Bandwidth float64       // bytes per second of all answers; 0 = unlimited
	Objects   map[string]Object
	NoSuffix  bool // the server refuses suffix ranges

	mu    sync.Mutex
	free  time.Time // when the link has sent all bytes so far
	ended int       // rounds with an answer
	stats Stats
}

// Object is what a Link serves at a path.
type Object struct {
	Data []byte
	ETag string // with its quotes
}

// Stats counts what a Link has done. A request that starts after an answer of round n was received belongs to round n+1
// or a later one. So Rounds is the number of latencies that passed one after the other, at most.
type Stats struct {
	Requests, Rounds int
	Bytes            int64 // of bodies
	InFlight         int   // largest number of requests in flight
	now              int
}

// Stats returns what was counted, and sets the counts to 0.
func (l *Link) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	l.stats, l.ended = Stats{now: s.now}, 0
	return s
}

// Client returns an HTTP client that uses the link.
func (l *Link) Client() *http.Client { return &http.Client{Transport: l} }

// RoundTrip implements http.RoundTripper.
func (l *Link) RoundTrip(req *http.Request) (*http.Response, error) {
	l.mu.Lock()
	l.stats.Requests++
	l.stats.now++
	l.stats.InFlight = max(l.stats.InFlight, l.stats.now)
	round := l.ended + 1
	l.stats.Rounds = max(l.stats.Rounds, round)
	l.mu.Unlock()
	if err := sleep(req.Context(), l.Latency); err != nil {
		l.end(0)
		return nil, err
	}
	l.end(round)
	w := httptest.NewRecorder()
	o, ok := l.Objects[req.URL.Path]
	switch r := req.Header.Get("Range"); {
	case !ok:
		http.NotFound(w, req)
	case l.NoSuffix && len(r) > 6 && r[:7] == "bytes=-":
		http.Error(w, "no suffix ranges", http.StatusNotImplemented)
	default:
		w.Header().Set("ETag", o.ETag)
		http.ServeContent(w, req, req.URL.Path, time.Time{}, bytes.NewReader(o.Data))
	}
	resp := w.Result()
	resp.Request = req
	l.mu.Lock()
	l.stats.now++
	l.mu.Unlock()
	resp.Body = &body{Reader: resp.Body, link: l, ctx: req.Context()}
	return resp, nil
}

// end notes the end of the wait for an answer.
func (l *Link) end(round int) {
	l.mu.Lock()
	l.stats.now--
	l.ended = max(l.ended, round)
	l.mu.Unlock()
}

// body sends the bytes of an answer as fast as the link allows.
type body struct {
	io.Reader
	link *Link
	ctx  context.Context
	once sync.Once
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p[:min(len(p), 64<<10)])
	l := b.link
	l.mu.Lock()
	l.stats.Bytes += int64(n)
	var wait time.Duration
	if now := time.Now(); l.Bandwidth > 0 {
		if l.free.Before(now) {
			l.free = now
		}
		l.free = l.free.Add(time.Duration(float64(n) / l.Bandwidth * float64(time.Second)))
		wait = l.free.Sub(now)
	}
	l.mu.Unlock()
	if e := sleep(b.ctx, wait); e != nil {
		return 0, e
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.once.Do(func() { b.link.end(0) })
	return nil
}

// sleep waits, or returns the error of the context when it ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
