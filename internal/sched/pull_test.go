package sched

import (
	"runtime"
	"slices"
	"testing"
)

// TestPull pulls some of the values of a sequence, on goroutines that are locked to a thread and others.
func TestPull(t *testing.T) {
	all := make([]int, 100)
	for i := range all {
		all[i] = i * i
	}
	for _, n := range []int{0, 1, 50, 100, 101} {
		ended := false
		next, stop := Pull(func(yield func(int) bool) {
			defer func() { ended = true }()
			for _, v := range all {
				if !yield(v) {
					return
				}
			}
		})
		var got []int
		for i := range n {
			done := make(chan bool)
			go func() {
				defer close(done)
				if i%2 == 0 {
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
				}
				if v, ok := next(); ok {
					got = append(got, v)
				} else if i < len(all) {
					t.Errorf("no value %d", i)
				}
			}()
			<-done
		}
		stop()
		if !ended || !slices.Equal(got, all[:min(n, len(all))]) {
			t.Errorf("%d values: %v, ended %v", n, got, ended)
		}
	}
}

// TestPullPanic checks that a panic of the sequence reaches stop.
func TestPullPanic(t *testing.T) {
	next, stop := Pull(func(yield func(int) bool) {
		yield(1)
		panic("a panic")
	})
	if v, ok := next(); v != 1 || !ok {
		t.Error(v, ok)
	}
	if _, ok := next(); ok {
		t.Error("a second value")
	}
	defer func() {
		if v := recover(); v != "a panic" {
			t.Errorf("panic %v", v)
		}
	}()
	stop()
}
