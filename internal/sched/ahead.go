package sched

import (
	"context"
	"iter"

	"github.com/goblosc/blosc2/internal/task"
)

// maxAhead is the largest number of values that are loaded ahead.
const maxAhead = 1024

// Ahead ranges over values, one for each job, in the order of the jobs. set prepares a value for its job and load fills
// it. With depth 0, load runs when the loop reaches the value. Otherwise it runs earlier, on a goroutine of its own,
// for up to depth values at a time, and at most 1024. Values are reused after they have been yielded.
//
// The first error ends the range. A panic of load continues in the loop when it reaches the value. When the loop ends,
// even by break, Ahead cancels the ctx of the loads and waits for them.
func Ahead[J, T any](ctx context.Context, depth int, jobs iter.Seq[J], set func(t *T, j J), load func(ctx context.Context, t *T) error) iter.Seq2[*T, error] {
	type slot struct {
		value T
		task  *task.Task // nil: load the value when the loop reaches it
	}
	depth = min(depth, maxAhead)
	return func(yield func(*T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var queue, idle []*slot
		defer func() {
			cancel()
			for _, s := range queue {
				if s.task != nil {
					s.task.Wait()
				}
			}
		}()
		next := func() bool {
			s := queue[0]
			queue = append(queue[:0], queue[1:]...)
			var err error
			if s.task != nil {
				err = s.task.Result()
			} else {
				err = load(ctx, &s.value)
			}
			idle = append(idle, s)
			return yield(&s.value, err) && err == nil
		}
		for j := range jobs {
			var s *slot
			if n := len(idle); n > 0 {
				s, idle = idle[n-1], idle[:n-1]
			} else {
				s = new(slot)
			}
			queue = append(queue, s)
			if set(&s.value, j); depth > 0 {
				s.task = task.Go(func() error { return load(ctx, &s.value) })
			}
			if len(queue) > depth && !next() {
				return
			}
		}
		for len(queue) > 0 && next() {
		}
	}
}
