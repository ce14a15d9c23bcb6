package sched

import (
	"context"
	"sync"
)

// Sequence holds what is read ahead of each chunk for a loop that asks for one chunk after the other. Goroutines may
// share the loop: one that asks for a chunk that is being read ahead waits for it.
type Sequence[T any] struct {
	mu    sync.Mutex
	next  int // the chunk after the last one of the loop
	n     int // chunks that were read at once
	ahead map[int]T
	old   map[int]T // the rest of the previous ahead, for goroutines that are late

	from, to int           // chunks that are being read ahead
	changed  chan struct{} // closed by the next Put or End; nil if no chunks are being read ahead
}

// Take returns what was read ahead of chunk i, or else the number n of chunks to read at once, from 1 to most. If n
// is greater than 1, the caller must Put the chunks after i, if they can be read, and then call End.
func (q *Sequence[T]) Take(ctx context.Context, i, most int) (x T, n int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	first := i != q.next || i == 0 // of a loop
	if !first {
		q.next++
	}
	for {
		x, ok := q.ahead[i]
		if !ok {
			x, ok = q.old[i]
		}
		switch {
		case ok:
			delete(q.ahead, i)
			delete(q.old, i)
			q.next = max(q.next, i+1)
			return x, 0, nil
		case q.changed == nil:
			if first {
				q.n, q.next = 0, i+1
			}
			if q.n = max(1, min(2*q.n, most)); q.n > 1 {
				q.old, q.ahead = q.ahead, nil
				q.from, q.to, q.changed = i+1, i+q.n, make(chan struct{})
			}
			return x, q.n, nil
		case i < q.from || i >= q.to:
			return x, 1, nil
		}
		if err := q.wait(ctx); err != nil {
			return x, 0, err
		}
	}
}

// wait waits until a chunk was read ahead, or no more will be.
func (q *Sequence[T]) wait(ctx context.Context) error {
	changed := q.changed
	q.mu.Unlock()
	defer q.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Put keeps what was read ahead of chunk i.
func (q *Sequence[T]) Put(i int, x T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ahead == nil {
		q.ahead = map[int]T{}
	}
	q.ahead[i] = x
	close(q.changed)
	q.changed = make(chan struct{})
}

// End ends what Take has begun.
func (q *Sequence[T]) End() {
	q.mu.Lock()
	defer q.mu.Unlock()
	close(q.changed)
	q.changed = nil
}
