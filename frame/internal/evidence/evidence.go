// Package evidence remembers how many bytes of a frame are known to be stored: see coder.Evidence. Calls that look for
// evidence at the same time share one search. Known also serves for another search that calls share: its number is then
// 1 when the search is done.
package evidence

import (
	"cmp"
	"context"
	"sync"
)

// Known is the number of bytes of a state that are known to be stored. Its method is safe for concurrent use.
type Known struct {
	mu      sync.Mutex
	found   int64
	sought  int64   // the search stopped there
	running *search // or nil
}

// search is a search for evidence that several calls wait for.
type search struct {
	done     chan struct{}
	err      error // this and canceled are set before done is closed
	canceled bool  // by the context of the call that searches, or by a panic
}

// Get returns the number of bytes that are known to be stored, after a search if they are not enough. Calls at the same
// time share one search and its error. If the context of the call that searches ends, another one begins.
func (e *Known) Get(ctx context.Context, enough int64, do func() (int64, error)) (int64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for max(e.found, e.sought) < enough {
		x, err := e.running, error(nil)
		if x == nil {
			var found int64
			if found, err = e.search(ctx, do); err == nil {
				e.sought = max(e.sought, enough)
			}
			e.found = max(e.found, found)
		} else {
			err = e.wait(ctx, x)
		}
		if err != nil && e.found < enough {
			return e.found, err
		}
	}
	return e.found, nil
}

// search calls do without the lock.
func (e *Known) search(ctx context.Context, do func() (int64, error)) (found int64, err error) {
	x := &search{done: make(chan struct{}), canceled: true} // also after a panic
	e.running = x
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		e.running = nil
		close(x.done)
	}()
	found, err = do()
	x.err, x.canceled = err, ctx.Err() != nil
	return found, err
}

// wait waits for a search of another call, without the lock. It returns the error of ctx, or that of the search unless
// this was canceled.
func (e *Known) wait(ctx context.Context, x *search) error {
	e.mu.Unlock()
	defer e.mu.Lock()
	select {
	case <-x.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if x.canceled {
		return ctx.Err()
	}
	return cmp.Or(ctx.Err(), x.err)
}
