// Package object caches the bytes of an object that is read with requests for ranges: a file of the user, or an object
// on a server.
package object

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/goblosc/blosc2/frame"
)

const (
	pageSize = 32 << 10
	maxGap   = 16  // pages that are read rather than requested separately: they take less time than a request
	maxRun   = 128 // pages of a request
	inFlight = 6   // requests: browsers send no more to a server
	maxBatch = 512 // pages that a call holds at once
)

// A Getter requests bytes of one version of an object. It is safe for concurrent use.
type Getter interface {
	// Get returns the n bytes at off, which are inside the object.
	Get(ctx context.Context, off, n int64) ([]byte, error)
}

// An Object is a frame.Source that keeps the bytes that it has read, up to a limit. It is safe for concurrent use.
type Object struct {
	get   Getter
	size  int64
	limit int // pages
	slots chan struct{}

	mu    sync.Mutex
	pages map[int64]*page
	clock int64
	stats Stats
}

// page is pageSize bytes, or fewer at the end of the object.
type page struct {
	data []byte
	used int64
}

// Stats counts requests.
type Stats struct{ Requests, Bytes int64 }

// New returns an object of some bytes that caches up to limit bytes. head is its first bytes, which may be empty.
func New(get Getter, size, limit int64, head []byte) *Object {
	o := &Object{get: get, size: size, limit: int(max(limit/pageSize, maxBatch)), slots: make(chan struct{}, inFlight), pages: map[int64]*page{}}
	o.put(0, head, map[int64][]byte{})
	return o
}

// Size implements frame.Source.
func (o *Object) Size() int64 { return o.size }

// Stats returns what was requested so far.
func (o *Object) Stats() Stats {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stats
}

// ReadAtContext implements frame.Source.
func (o *Object) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	err := o.ReadRanges(ctx, []frame.Range{{Off: off, Len: int64(len(p))}}, func(_ int, at int64, b []byte) error {
		copy(p[at:], b)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// ReadRanges reads ranges: see frame.Source.
func (o *Object) ReadRanges(ctx context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error {
	byPage := map[int64][]part{}
	for i, w := range want {
		if w.Off < 0 || w.Len < 0 || w.Off > o.size-w.Len {
			return fmt.Errorf("%d bytes at offset %d of %d bytes: %w", w.Len, w.Off, o.size, frame.ErrBounds)
		}
		for at := int64(0); at < w.Len; {
			p := (w.Off + at) / pageSize
			n := min((p+1)*pageSize-w.Off-at, w.Len-at)
			byPage[p] = append(byPage[p], part{p, (w.Off + at) % pageSize, n, i, at})
			at += n
		}
	}
	var parts []part
	for _, p := range slices.Sorted(maps.Keys(byPage)) {
		parts = append(parts, byPage[p]...)
	}
	for len(parts) > 0 {
		n, pages := firstPages(parts)
		held, err := o.hold(ctx, pages)
		if err != nil {
			return err
		}
		for _, p := range parts[:n] {
			if err := got(p.want, p.at, held[p.page][p.off:p.off+p.n]); err != nil {
				return err
			}
		}
		parts = parts[n:]
	}
	return ctx.Err()
}

// part is a part of a wanted range in one page.
type part struct {
	page, off, n int64
	want         int
	at           int64
}

// firstPages returns how many of the parts are in the first pages, and these pages in ascending order.
func firstPages(parts []part) (n int, pages []int64) {
	for i, p := range parts {
		if k := len(pages); k == 0 || pages[k-1] != p.page {
			if k == maxBatch {
				return i, pages
			}
			pages = append(pages, p.page)
		}
	}
	return len(parts), pages
}

// hold returns the bytes of pages, which are in ascending order. It requests those that are missing.
func (o *Object) hold(ctx context.Context, pages []int64) (map[int64][]byte, error) {
	held := make(map[int64][]byte, len(pages))
	var missing []int64
	o.mu.Lock()
	o.clock++
	for _, p := range pages {
		if have := o.pages[p]; have != nil {
			have.used = o.clock
			held[p] = have.data
		} else {
			missing = append(missing, p)
		}
	}
	o.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, r := range runs(missing) {
		wg.Go(func() {
			if err := o.load(ctx, r, held); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return held, nil
}

// runs merges pages that are close to each other into requests: the first page and the one after the last.
func runs(pages []int64) [][2]int64 {
	var list [][2]int64
	for _, p := range pages {
		k := len(list) - 1
		if k >= 0 && p-list[k][1] <= maxGap && p-list[k][0] < maxRun {
			list[k][1] = p + 1
		} else {
			list = append(list, [2]int64{p, p + 1})
		}
	}
	return list
}

// load requests the pages of a run and adds them to the cache and to held.
func (o *Object) load(ctx context.Context, run [2]int64, held map[int64][]byte) error {
	select {
	case o.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-o.slots }()
	off := run[0] * pageSize
	n := min(run[1]*pageSize, o.size) - off
	b, err := o.get.Get(ctx, off, n)
	if err != nil {
		return err
	}
	if int64(len(b)) != n {
		return fmt.Errorf("%d bytes at offset %d, want %d", len(b), off, n)
	}
	o.put(off, b, held)
	return nil
}

// put adds the whole pages in the bytes at off to the cache and to held.
func (o *Object) put(off int64, b []byte, held map[int64][]byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stats.Requests++
	o.stats.Bytes += int64(len(b))
	for p := off / pageSize; len(b) > 0; p++ {
		n := min(pageSize, o.size-p*pageSize)
		if int64(len(b)) < n {
			break
		}
		held[p] = b[:n:n]
		o.pages[p] = &page{b[:n:n], o.clock}
		b = b[n:]
	}
	if len(o.pages) > o.limit {
		o.evict()
	}
}

// evict removes the quarter of the pages whose last use is the longest ago.
func (o *Object) evict() {
	used := make([]int64, 0, len(o.pages))
	for _, p := range o.pages {
		used = append(used, p.used)
	}
	slices.Sort(used)
	oldest := used[len(used)/4]
	for k, p := range o.pages {
		if p.used <= oldest {
			delete(o.pages, k)
		}
	}
}

// Load requests the last bytes of the object, which hold the index of a frame, so that they arrive at once.
func (o *Object) Load(ctx context.Context, off, n int64) error {
	off = max(off, 0)
	return o.ReadRanges(ctx, []frame.Range{{Off: off, Len: min(n, o.size-off)}}, func(int, int64, []byte) error { return nil })
}
