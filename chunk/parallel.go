package chunk

import (
	"slices"
	"sync"
	"sync/atomic"
)

// parallel calls f for k = 0 to n-1, on w and as many further workers as the options allow, and waits for all. It
// returns the error of the first block, in order, that failed of those that ran.
func (p *Pool) parallel(w *Worker, n int, f func(w *Worker, k int) error) error {
	workers := p.o.workers(n)
	if workers == 1 {
		for k := range n {
			if err := f(w, k); err != nil {
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
	for range workers - 1 {
		wg.Go(func() {
			w := p.Get()
			defer p.Put(w)
			run(w)
		})
	}
	run(w)
	wg.Wait()
	return first
}

// grow returns dst with n more bytes, whose content is undefined.
func grow(dst []byte, n int) []byte { return slices.Grow(dst, n)[:len(dst)+n] }
