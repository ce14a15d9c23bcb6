package sched

import (
	"context"
	"iter"
	"time"

	"github.com/goblosc/blosc2/internal/task"
)

// maxAhead is the largest number of values, or batches of values, that are loaded ahead.
const maxAhead = 1024

// A batch that loads in less than shortBatch is followed by larger ones, because starting a goroutine and waiting for
// it takes several microseconds. One that takes longer than longBatch is followed by batches of one value.
const (
	shortBatch = 50 * time.Microsecond
	longBatch  = 4 * shortBatch
)

// Ahead ranges over values, one for each job, in the order of the jobs. set prepares a value for its job and load fills
// it. With depth 0, load runs when the loop reaches the value. Otherwise it runs earlier, for up to depth values at a
// time, and at most 1024, each on a goroutine of its own. While loads are short, a goroutine loads several values, and
// at most the number most, one after the other. Values are reused after they have been yielded.
//
// The first error ends the range. A panic of load continues in the loop when it reaches the value. When the loop ends,
// even by break, Ahead cancels the ctx of the loads and waits for them.
func Ahead[J, T any](ctx context.Context, depth, most int, jobs iter.Seq[J], set func(t *T, j J), load func(ctx context.Context, t *T) error) iter.Seq2[*T, error] {
	depth = min(depth, maxAhead)
	return func(yield func(*T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var queue, idle []*batch[T]
		defer func() {
			cancel()
			for _, b := range queue {
				if b.task != nil {
					b.task.Wait()
				}
			}
		}()
		size := 1 // of the next batch
		next := func() bool {
			b := queue[0]
			queue = append(queue[:0], queue[1:]...)
			if b.task != nil {
				b.task.Wait()
				switch {
				case b.took < shortBatch && b.n >= size:
					size = max(1, min(2*size, most))
				case b.took > longBatch:
					size = 1
				}
			}
			for i, s := range b.slots[:b.n] {
				err := s.err
				switch {
				case b.task == nil:
					err = load(ctx, &s.value)
				case !s.loaded:
					err = b.task.Result() // continues the panic of load
				case i > 0 && err == nil:
					err = ctx.Err()
				}
				if !yield(&s.value, err) || err != nil {
					return false
				}
			}
			idle = append(idle, b)
			return true
		}
		var b *batch[T] // gets more jobs, or nil
		start := func() bool {
			if depth > 0 {
				b.start(ctx, load)
			}
			queue, b = append(queue, b), nil
			return len(queue) <= depth || next()
		}
		for j := range jobs {
			if b == nil {
				if n := len(idle); n > 0 {
					b, idle = idle[n-1], idle[:n-1]
				} else {
					b = new(batch[T])
				}
				b.n = 0
			}
			if set(b.add(), j); b.n >= size && !start() {
				return
			}
		}
		if b != nil && !start() {
			return
		}
		for len(queue) > 0 && next() {
		}
	}
}

// batch holds values that one goroutine loads.
type batch[T any] struct {
	slots []*slot[T]
	n     int           // slots that are used
	task  *task.Task    // nil: load the values when the loop reaches them
	took  time.Duration // to load the values
}

// slot is a value of a batch.
type slot[T any] struct {
	value  T
	err    error
	loaded bool
}

// add returns one more value of the batch.
func (b *batch[T]) add() *T {
	if b.n == len(b.slots) {
		b.slots = append(b.slots, new(slot[T]))
	}
	s := b.slots[b.n]
	b.n++
	s.err, s.loaded = nil, false
	return &s.value
}

// start loads the values, up to the first error, on a goroutine of its own.
func (b *batch[T]) start(ctx context.Context, load func(ctx context.Context, t *T) error) {
	b.task = task.Go(func() error {
		begin := time.Now()
		for _, s := range b.slots[:b.n] {
			s.err = load(ctx, &s.value)
			if s.loaded = true; s.err != nil {
				break
			}
		}
		b.took = time.Since(begin)
		return nil
	})
}
