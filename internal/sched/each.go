package sched

import (
	"sync"
	"sync/atomic"
)

// Each calls f for k = 0 to n-1 and waits for all calls. Each worker has a goroutine of its own. Each returns the error
// of the lowest k that fails. After a failure it may skip higher numbers.
//
// A worker takes several consecutive numbers at a time, and fewer towards the end. One CPU loads neighboring data
// faster, because its prefetcher has already begun to load it.
func Each[W any](p *Pool, workers []W, n int, f func(w W, k int) error) error {
	if len(workers) == 1 {
		for k := range n {
			if err := f(workers[0], k); err != nil {
				return err
			}
		}
		return nil
	}
	var (
		next, failed atomic.Int64
		mu           sync.Mutex
		first        error
	)
	failed.Store(int64(n))
	p.Run(len(workers), func(i int) {
		w, returned := workers[i], false
		defer func() {
			if !returned { // a panic: the others stop
				failed.Store(-1)
			}
		}()
		for k, end := int64(0), int64(0); ; k++ {
			if k == end {
				k, end = takeRun(&next, int64(n), len(workers))
			}
			if k >= failed.Load() {
				returned = true
				return
			}
			if err := f(w, int(k)); err != nil {
				mu.Lock()
				if k < failed.Load() {
					failed.Store(k)
					first = err
				}
				mu.Unlock()
			}
		}
	})
	return first
}

// takeRun takes the next of n numbers for one of several workers: from start to end, or none if start is n.
func takeRun(next *atomic.Int64, n int64, workers int) (start, end int64) {
	const longest = 32
	for {
		start = next.Load()
		end = min(n, start+max(1, min(longest, (n-start)/int64(4*workers))))
		if next.CompareAndSwap(start, end) {
			return start, end
		}
	}
}
