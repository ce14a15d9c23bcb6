package sched

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// TestEach checks that every number is done once, and that Each returns the error of the lowest number that fails, in
// any order of failures.
func TestEach(t *testing.T) {
	var p Pool
	for i := range 24 {
		n := i
		if i >= 20 {
			n = i * i * i / 10 // enough for runs of all lengths
		}
		done := make([]atomic.Int32, n)
		if err := Each(&p, make([]int, max(1, min(n, 3))), n, func(_, k int) error { done[k].Add(1); return nil }); err != nil {
			t.Error(err)
		}
		for k := range done {
			if done[k].Load() != 1 {
				t.Errorf("number %d of %d done %d times", k, n, done[k].Load())
			}
		}
	}
	errs := []error{errors.New("zero"), errors.New("one"), errors.New("two")}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}} {
		turn := make([]chan bool, 4)
		for i := range turn {
			turn[i] = make(chan bool, 1)
		}
		turn[0] <- true
		var started sync.WaitGroup
		started.Add(3)
		err := Each(&p, make([]int, 3), 3, func(_, k int) error {
			started.Done()
			started.Wait() // none fails before all have begun
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
	}
	// One worker stops at the first failure.
	calls := 0
	err := Each(&p, make([]int, 1), 9, func(_, k int) error { calls++; return errs[min(k, 1)] })
	if err != errs[0] || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}
