package serve

import (
	"context"
	"errors"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// errBusy is returned if there is no free place soon.
var errBusy = errors.New("the server is busy")

// gate admits a number of requests at a time.
type gate struct {
	places chan struct{}
	wait   time.Duration
}

// newGate returns a gate with n places, for each of which a request waits at most wait.
func newGate(n int, wait time.Duration) *gate { return &gate{make(chan struct{}, n), wait} }

// enter takes a place. The caller leaves it.
func (g *gate) enter(ctx context.Context) error {
	select {
	case g.places <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	select {
	case g.places <- struct{}{}:
		return nil
	case <-timer.C:
		return errBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave gives a place back.
func (g *gate) leave() { <-g.places }

// seat is a place of a gate that a request leaves and takes again. A nil seat is always free.
type seat struct {
	gate  *gate
	taken bool
}

// take takes a place, if the seat has none.
func (s *seat) take(ctx context.Context) error {
	if s == nil || s.taken {
		return nil
	}
	err := s.gate.enter(ctx)
	s.taken = err == nil
	return err
}

// leave gives the place back, if the seat has one.
func (s *seat) leave() {
	if s != nil && s.taken {
		s.taken = false
		s.gate.leave()
	}
}

// budget is a number of bytes that requests share. Large answers leave a part of it to small ones, so that slow clients
// of large answers do not stop those. The part is enough for a small answer to each request. A small frame takes twice
// its size, and an attribute that is a string up to three times. The index arrays of a small answer take up to four
// times the size of the largest small answer, while it is read.
type budget struct {
	max     int64
	most    int64 // of max, for all answers if one of them is not small
	small   int64 // the size of the largest small answer
	used    atomic.Int64
	refused atomic.Int64 // number of times that there were too few bytes
}

// newBudget returns a budget of Limits.Memory bytes. Its part for small answers is an eighth, or what there is besides
// the largest answer if that is less.
func newBudget(l Limits) *budget {
	part := max(0, min(l.Memory/8, l.Memory-l.Result))
	return &budget{max: l.Memory, most: l.Memory - part, small: part / int64(l.Requests)}
}

// take takes n bytes for an answer of a size, which may be less. It does not wait: bytes may belong to slow clients.
func (b *budget) take(n, size int64) error {
	limit := b.max
	if size > b.small {
		limit = b.most
	}
	for {
		used := b.used.Load()
		if n > limit-used {
			b.refused.Add(1)
			return errBusy
		}
		if b.used.CompareAndSwap(used, used+n) {
			return nil
		}
	}
}

// give gives n bytes back.
func (b *budget) give(n int64) { b.used.Add(-n) }

// used returns the number of places in use.
func (g *gate) used() int { return len(g.places) }

// maxKept is the size of the largest buffer that is kept for another request.
const maxKept = 4 << 20

// buffers are used again by later requests. A read fills all of its buffer before it is sent.
type buffers struct{ pool sync.Pool }

// get returns a buffer of n bytes with any content.
func (b *buffers) get(n int64) []byte {
	if n > maxKept || n == 0 {
		return make([]byte, n)
	}
	if p, ok := b.pool.Get().(*[]byte); ok && int64(cap(*p)) >= n {
		return (*p)[:n]
	}
	return make([]byte, n, 1<<bits.Len64(uint64(n-1)))
}

// put takes a buffer that is no longer used.
func (b *buffers) put(p []byte) {
	if cap(p) > 0 && cap(p) <= maxKept {
		b.pool.Put(&p)
	}
}
