package sched

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestEach checks that every number is done once, and that Each and Spread return the error of the lowest number that
// fails, in any order of failures.
func TestEach(t *testing.T) {
	t.Run("Each", func(t *testing.T) { testEach(t, Each[int]) })
	t.Run("Spread", func(t *testing.T) { testEach(t, Spread[int]) })
}

func testEach(t *testing.T, each func(ctx context.Context, p *Pool, workers []int, n int, f func(w, k int) error) error) {
	var p Pool
	for i := range 24 {
		n := i
		if i >= 20 {
			n = i * i * i / 10 // enough for runs of all lengths
		}
		done := make([]atomic.Int32, n)
		if err := each(t.Context(), &p, make([]int, max(1, min(n, 3))), n, func(_, k int) error { done[k].Add(1); return nil }); err != nil {
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
		err := each(t.Context(), &p, make([]int, 3), 3, func(_, k int) error {
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
	err := each(t.Context(), &p, make([]int, 1), 9, func(_, k int) error { calls++; return errs[min(k, 1)] })
	if err != errs[0] || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// TestOrder checks that the calls of Each begin in ascending order, and that a worker of Spread begins with its own
// part and takes over the part of one that is late.
func TestOrder(t *testing.T) {
	var p Pool
	const n = 100
	var mu sync.Mutex
	for range 20 {
		lists := make([][]int, 2)
		_ = Each(t.Context(), &p, []int{0, 1}, n, func(w, k int) error {
			mu.Lock()
			defer mu.Unlock()
			lists[w] = append(lists[w], k)
			return nil
		})
		for _, list := range lists {
			if !slices.IsSorted(list) {
				t.Errorf("order of Each: %d", list)
			}
		}
	}
	var done atomic.Int32
	first := make([]atomic.Int32, 2)
	_ = Spread(t.Context(), &p, []int{0, 1}, n, func(w, k int) error {
		if w == 1 {
			for done.Load() < n-20 { // the other worker does nearly all of them
				time.Sleep(time.Millisecond)
			}
		}
		first[w].CompareAndSwap(0, int32(k+1))
		done.Add(1)
		return nil
	})
	if done.Load() != n || first[0].Load() != 1 || first[1].Load() != n/2+1 && first[1].Load() != 0 {
		t.Errorf("%d of %d numbers done, the first ones are %d and %d", done.Load(), n, first[0].Load()-1, first[1].Load()-1)
	}
}
