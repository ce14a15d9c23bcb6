package coder

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// TestWork wants every piece of work done once, and the error of the first piece that fails, in whatever order they
// come to their end.
func TestWork(t *testing.T) {
	pool := NewPool(&Options{Concurrency: 3})
	for i := range 24 {
		n := i
		if i >= 20 {
			n = i * i * i / 10 // enough for runs of all lengths
		}
		team := pool.team(n)
		if len(team) != max(1, min(n, 3)) {
			t.Errorf("a team of %d for %d pieces of work", len(team), n)
		}
		done := make([]atomic.Int32, n)
		if err := work(team, n, func(w *Worker, k int) error { done[k].Add(1); return nil }); err != nil {
			t.Error(err)
		}
		for k := range done {
			if done[k].Load() != 1 {
				t.Errorf("piece %d of %d done %d times", k, n, done[k].Load())
			}
		}
		pool.dismiss(team)
	}
	errs := []error{errors.New("zero"), errors.New("one"), errors.New("two")}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}} {
		team := pool.team(3)
		turn := make([]chan bool, 4)
		for i := range turn {
			turn[i] = make(chan bool, 1)
		}
		turn[0] <- true
		var started sync.WaitGroup
		started.Add(3)
		err := work(team, 3, func(w *Worker, k int) error {
			started.Done()
			started.Wait() // none fails before all are under way
			for i, other := range order {
				if other == k {
					<-turn[i]
					turn[i+1] <- true
				}
			}
			return errs[k]
		})
		if err != errs[0] {
			t.Errorf("failing in order %v: %v", order, err)
		}
		pool.dismiss(team)
	}
	// One worker stops at the first failure.
	calls := 0
	err := work(NewPool(&Options{Concurrency: 1}).team(9), 9, func(w *Worker, k int) error { calls++; return errs[min(k, 1)] })
	if err != errs[0] || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}
