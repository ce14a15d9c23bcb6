package sched

import (
	"iter"

	"github.com/goblosc/blosc2/internal/task"
)

// Pull is iter.Pull for goroutines that may be locked to a thread of the operating system, or not: seq runs on a
// goroutine of its own. It may run some values ahead. One goroutine at a time may call next. stop waits until the
// goroutine of seq has ended. If seq has panicked, stop panics with the same value. It must be called once.
func Pull[T any](seq iter.Seq[T]) (next func() (T, bool), stop func()) {
	values, stopped := make(chan T, 16), make(chan struct{})
	t := task.Go(func() error {
		defer close(values)
		for v := range seq {
			select {
			case values <- v:
			case <-stopped:
				return nil
			}
		}
		return nil
	})
	next = func() (T, bool) {
		v, ok := <-values
		return v, ok
	}
	return next, func() {
		close(stopped)
		t.Result()
	}
}
