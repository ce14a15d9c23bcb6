package remote

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goblosc/blosc2/internal/link"
)

// randomBytes returns n bytes that are the same each time.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(b)
	return b
}

// newLink returns a link of 50 ms and 100 MB/s to an object.
func newLink(data []byte) *link.Link {
	return &link.Link{Latency: 50 * time.Millisecond, Bandwidth: 100e6, Objects: map[string]link.Object{"/a": {Data: data, ETag: `"1"`}}}
}

// open opens the object of a link.
func open(t testing.TB, l *link.Link, o Options) *Object {
	t.Helper()
	o.Client = l.Client()
	obj, err := Open(t.Context(), "http://host/a", &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { obj.Close() })
	return obj
}

// want compares counts.
func want(t *testing.T, what string, s link.Stats, requests, rounds int, most int64) {
	t.Helper()
	t.Logf("%s: %d requests, %d rounds, %d bytes, %d in flight", what, s.Requests, s.Rounds, s.Bytes, s.InFlight)
	if s.Requests > requests || s.Rounds > rounds || s.Bytes > most {
		t.Errorf("%s: %d requests, %d rounds, %d bytes, want at most %d, %d, %d", what, s.Requests, s.Rounds, s.Bytes, requests, rounds, most)
	}
}

// TestLinkOpen counts what opening takes, and that both ends of the object need no other request.
func TestLinkOpen(t *testing.T) {
	for _, c := range []struct {
		size             int
		o                Options
		noSuffix         bool
		requests, rounds int
	}{
		{0, Options{}, false, 2, 1},
		{1000, Options{}, false, 2, 1},
		{1000, Options{Small: true}, false, 1, 1},
		{64 << 10, Options{Small: true}, false, 1, 1},
		{64<<10 + 1, Options{Small: true}, false, 2, 2},
		{100_000, Options{}, false, 2, 1},
		{10_000_000, Options{}, false, 2, 1},
		{10_000_000, Options{}, true, 3, 2},
		{10_000_000, Options{platform: platform{noSuffix: true, noConditions: true}}, true, 2, 2},
		{1000, Options{platform: platform{noSuffix: true, noConditions: true}}, true, 1, 1},
	} {
		t.Run(fmt.Sprintf("%d,%v,%v", c.size, c.o.Small, c.noSuffix), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				data := randomBytes(c.size)
				l := newLink(data)
				l.NoSuffix = c.noSuffix
				start := time.Now()
				obj := open(t, l, c.o)
				took := time.Since(start)
				want(t, "open", l.Stats(), c.requests, c.rounds, 2*keep)
				if most := time.Duration(c.rounds)*l.Latency + 5*time.Millisecond; took > most {
					t.Errorf("open took %v, want at most %v", took, most)
				}
				if obj.Size() != int64(c.size) || c.size > 0 && obj.Version() != `"1"` {
					t.Errorf("size %d, version %s", obj.Size(), obj.Version())
				}
				for _, r := range []Range{{Off: 0, Len: keep}, {Off: 1, Len: keep - 1}, {Off: int64(c.size) - keep, Len: keep}} {
					off, end := max(r.Off, 0), min(r.End(), int64(c.size))
					if off >= end {
						continue
					}
					p := make([]byte, end-off)
					if _, err := obj.ReadAt(p, off); err != nil || !bytes.Equal(p, data[off:end]) {
						t.Errorf("reading %d bytes at %d: %v", len(p), off, err)
					}
				}
				want(t, "ends", l.Stats(), 0, 0, 0)
			})
		})
	}
}

// TestLinkRanges counts the requests for a selection with gaps, and for a whole object.
func TestLinkRanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := randomBytes(50 << 20)
		l := newLink(data)
		obj := open(t, l, Options{MaxLen: 1 << 20})
		l.Stats()

		// 4 KiB of each 16 KiB: the gaps take less time than requests.
		var near []Range
		for off := int64(1 << 20); off < 9<<20; off += 16 << 10 {
			near = append(near, Range{Off: off, Len: 4 << 10})
		}
		readAll(t, obj, data, near)
		want(t, "near", l.Stats(), 9, 1, 8<<20)

		// 4 KiB of each MiB: the gaps take more time.
		var far []Range
		for off := int64(10 << 20); off < 42<<20; off += 1 << 20 {
			far = append(far, Range{Off: off, Len: 4 << 10})
		}
		readAll(t, obj, data, far)
		want(t, "far", l.Stats(), 32, 2, 32*4<<10)

		// The order in which goroutines run can cost the last request its place, so that the best of some reads counts.
		best := time.Duration(math.MaxInt64)
		for range 5 {
			l := newLink(data)
			obj := open(t, l, Options{MaxLen: 1 << 20})
			l.Stats()
			start := time.Now()
			p := make([]byte, len(data))
			if _, err := obj.ReadAt(p, 0); err != nil || !bytes.Equal(p, data) {
				t.Fatal(err)
			}
			best = min(best, time.Since(start))
			want(t, "whole", l.Stats(), 60, 10, int64(len(data))*101/100)
		}
		ideal := time.Duration(float64(len(data))/l.Bandwidth*float64(time.Second)) + l.Latency
		if best > ideal*105/100 {
			t.Errorf("the whole object took %v, want at most 1.05 times %v", best, ideal)
		}
	})
}

// TestLinkShared lets goroutines read the same ranges: the bytes must be received once.
func TestLinkShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := randomBytes(8 << 20)
		l := newLink(data)
		obj := open(t, l, Options{MaxLen: 256 << 10})
		l.Stats()
		var plane []Range
		for off := int64(1 << 20); off < 7<<20; off += 1 << 20 {
			plane = append(plane, Range{Off: off, Len: 100_000})
		}
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() { readAll(t, obj, data, plane) })
		}
		wg.Wait()
		want(t, "64 goroutines", l.Stats(), len(plane), 1, int64(len(plane))*100_000)
	})
}

// TestLinkInFlight checks the limits of requests and bytes in flight.
func TestLinkInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := randomBytes(4 << 20)
		l := newLink(data)
		obj := open(t, l, Options{Requests: 3, MaxLen: 64 << 10, MaxBytes: 1 << 20, Gap: -1})
		l.Stats()
		p := make([]byte, len(data))
		if _, err := obj.ReadAt(p, 0); err != nil || !bytes.Equal(p, data) {
			t.Fatal(err)
		}
		if s := l.Stats(); s.InFlight > 3 {
			t.Errorf("%d requests in flight, want 3", s.InFlight)
		}
	})
}

// TestLinkCache reads the same bytes again.
func TestLinkCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := randomBytes(4 << 20)
		l := newLink(data)
		obj := open(t, l, Options{Cache: 1 << 20})
		read := func(off, n int64) { readAll(t, obj, data, []Range{{Off: off, Len: n}}) }
		l.Stats()
		read(1<<20, 600_000)
		want(t, "cold", l.Stats(), 1, 1, 600_000)
		read(1<<20+100, 599_000)
		want(t, "warm", l.Stats(), 0, 0, 0)
		read(1<<20-100, 600_200)
		want(t, "around", l.Stats(), 2, 1, 200)
		read(2<<20, 800_000)
		l.Stats()
		if obj.table.bytes > 1<<20 {
			t.Errorf("the cache holds %d bytes", obj.table.bytes)
		}
		read(1<<20, 600_000)
		if s := l.Stats(); s.Requests == 0 {
			t.Error("the cache holds more than its limit")
		}
	})
}

// readAll reads ranges and compares them.
func readAll(t *testing.T, obj *Object, data []byte, want []Range) {
	t.Helper()
	if err := readRanges(t.Context(), obj, data, want); err != nil {
		t.Error(err)
	}
}

// readRanges reads ranges. It returns an error if a byte is wrong, missing, or delivered twice.
func readRanges(ctx context.Context, obj *Object, data []byte, want []Range) error {
	got := make([][]byte, len(want))
	seen := make([]int64, len(want))
	for i, w := range want {
		got[i] = make([]byte, w.Len)
	}
	err := obj.ReadRanges(ctx, want, func(i int, at int64, b []byte) error {
		if len(b) == 0 {
			return fmt.Errorf("range %d: no bytes", i)
		}
		copy(got[i][at:], b)
		seen[i] += int64(len(b))
		return nil
	})
	if err != nil {
		return err
	}
	for i, w := range want {
		if seen[i] != w.Len || !bytes.Equal(got[i], data[w.Off:w.End()]) {
			return fmt.Errorf("range %v: wrong bytes, %d delivered", w, seen[i])
		}
	}
	return nil
}
