package sched

import (
	"context"
	"sync"
	"sync/atomic"
)

// Each calls f for k = 0 to n-1 and waits for all calls. Each worker has a goroutine of its own. The calls begin in
// ascending order. Each returns the error of the lowest k that fails. After a failure it may skip higher numbers. When
// ctx is done, calls that have not begun fail with its error.
//
// A worker takes several consecutive numbers at a time, and fewer towards the end. One CPU loads neighboring data
// faster, because its prefetcher has already begun to load it.
func Each[W any](ctx context.Context, p *Pool, workers []W, n int, f func(w W, k int) error) error {
	return each(ctx, p, workers, n, 1, f)
}

// Spread is Each without the order. Each worker begins with a part of the numbers that is its own, and helps the others
// when it has finished. If calls follow each other, a CPU works on the same memory again, which may still be in its
// cache.
func Spread[W any](ctx context.Context, p *Pool, workers []W, n int, f func(w W, k int) error) error {
	return each(ctx, p, workers, n, len(workers), f)
}

// numbers are the numbers of one call, in ascending parts, and its state.
type numbers struct {
	parts  []part
	failed atomic.Int64 // lowest number that failed, the count of all if none did, or -1 after a panic
	mu     sync.Mutex
	first  error // of number failed
}

// part is a part of the numbers. The workers change next all the time, so it has a cache line of its own.
type part struct {
	next atomic.Int64
	end  int64
	_    [48]byte
}

func each[W any](ctx context.Context, p *Pool, workers []W, n, parts int, f func(w W, k int) error) error {
	if len(workers) == 1 {
		for k := range n {
			err := ctx.Err()
			if err == nil {
				err = f(workers[0], k)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	q := &numbers{parts: make([]part, parts)}
	q.failed.Store(int64(n))
	size, rest := n/parts, n%parts
	for i := range q.parts {
		q.parts[i].next.Store(int64(i*size + min(i, rest)))
		q.parts[i].end = int64((i+1)*size + min(i+1, rest))
	}
	p.Run(len(workers), func(i int) {
		returned := false
		defer func() {
			if !returned { // a panic: the others stop
				q.failed.Store(-1)
			}
		}()
		for k, end := int64(0), int64(0); ; k++ {
			if k == end {
				k, end = q.take(i, len(workers))
			}
			if k >= q.failed.Load() {
				returned = true
				return
			}
			err := ctx.Err()
			if err == nil {
				err = f(workers[i], int(k))
			}
			if err != nil {
				q.fail(k, err)
			}
		}
	})
	return q.first
}

// take takes the next numbers for worker i: from start to end, or none if start is the count of all. It takes them from
// the worker's own part as long as there are any.
func (q *numbers) take(i, workers int) (start, end int64) {
	const longest = 32
	share := int64(4 * workers / len(q.parts))
	for d := range q.parts {
		p := &q.parts[(i+d)%len(q.parts)]
		for start = p.next.Load(); start < p.end; start = p.next.Load() {
			end = start + max(1, min(longest, (p.end-start)/share))
			if p.next.CompareAndSwap(start, end) {
				return start, end
			}
		}
	}
	last := q.parts[len(q.parts)-1].end
	return last, last
}

// fail records the error of number k.
func (q *numbers) fail(k int64, err error) {
	q.mu.Lock()
	if k < q.failed.Load() {
		q.failed.Store(k)
		q.first = err
	}
	q.mu.Unlock()
}
