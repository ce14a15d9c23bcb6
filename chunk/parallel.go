package chunk

import (
	"slices"
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

// dismiss gives the workers of a team back.
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
		wg           sync.WaitGroup
		mu           sync.Mutex
		first        error
	)
	failed.Store(int64(n))
	run := func(w *Worker) {
		for k := next.Add(1) - 1; k < failed.Load(); k = next.Add(1) - 1 {
			if err := f(w, int(k)); err != nil {
				mu.Lock()
				if k < failed.Load() {
					failed.Store(k)
					first = err
				}
				mu.Unlock()
			}
		}
	}
	for _, w := range team[1:] {
		wg.Go(func() { run(w) })
	}
	// Idle threads hesitate, for tens of microseconds, to take the newest goroutine of a running one. So that is one which
	// has nothing to do.
	wg.Go(func() {})
	run(team[0])
	wg.Wait()
	return first
}

// grow returns dst with n more bytes, whose content is undefined.
func grow(dst []byte, n int) []byte { return slices.Grow(dst, n)[:len(dst)+n] }
