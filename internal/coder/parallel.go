package coder

import (
	"sync"
	"sync/atomic"
)

// team returns as many workers as n pieces of work need and the options allow, at least one. The slice belongs to the
// first of them.
func (p *Pool) team(n int) []*Worker {
	w := p.Get()
	w.team = append(w.team[:0], w)
	for range p.o.workers(n) - 1 {
		w.team = append(w.team, p.Get())
	}
	return w.team
}

// dismiss gives the workers of a team back. After a panic they are not given back: their codecs may be in any state.
func (p *Pool) dismiss(team []*Worker) {
	for len(team) > 0 {
		last := len(team) - 1
		w := team[last]
		team[last], team = nil, team[:last]
		p.Put(w)
	}
}

// work calls f for k = 0 to n-1, each worker of the team on a goroutine of its own, and waits for all. It returns the
// error of the lowest k that fails; after a failure, greater ones need not be tried.
//
// A worker takes a run of numbers at a time, shorter towards the end: pieces that lie next to each other in memory come in
// faster when one processor goes through them, as it has begun to load the next by then.
func work(team []*Worker, n int, f func(w *Worker, k int) error) error {
	if len(team) == 1 {
		for k := range n {
			if err := f(team[0], k); err != nil {
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
	team[0].pool.Run(len(team), func(i int) {
		w, returned := team[i], false
		defer func() {
			if !returned { // a panic: the others need not go on
				failed.Store(-1)
			}
		}()
		for k, end := int64(0), int64(0); ; k++ {
			if k == end {
				k, end = takeRun(&next, int64(n), len(team))
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

// takeRun takes the next of n numbers for one of so many workers: from start to end, or none if start is n.
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
