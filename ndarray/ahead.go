package ndarray

import (
	"context"
	"iter"

	"github.com/goblosc/blosc2/internal/task"
)

// mostAhead is the largest number of goroutines that read ahead.
const mostAhead = 1024

// ahead ranges over values, one for each job and in the order of the jobs. set makes a value ready for its job and load
// fills it: with depth 0 when it is asked for, else on a goroutine of its own, while up to depth values before it have
// not been asked for yet. Values are used again after they have been yielded. After the first error there is none
// more. A panic of load continues where the value is asked for. However the range ends, nothing is running then, and ctx
// is cancelled for what was.
func ahead[J, T any](ctx context.Context, depth int, jobs iter.Seq[J], set func(t *T, j J), load func(ctx context.Context, t *T) error) iter.Seq2[*T, error] {
	type slot struct {
		value T
		task  *task.Task // nil: the value is to be loaded when it is asked for
	}
	depth = min(depth, mostAhead)
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
