// Package sched runs the work of one call on several goroutines.
package sched

import (
	"context"
	"errors"
	"sync"
)

// ErrPanic stops the other goroutines of a call after a panic. The caller gets the panic, not this error.
var ErrPanic = errors.New("a function panicked")

// Next is what a worker does after a step.
type Next uint8

const (
	Again Next = iota // another step
	Wait              // wait until Wake, and then another step
	Done              // stop: no work is left for this worker
)

// Loop is the state that the workers of one call share: a lock, the context of the call, and its first error, which
// stops all workers. A Loop may be reused for another call. It must not be copied.
type Loop struct {
	sync.Mutex // of the state; code that Unlocked calls may lock it
	wake       sync.Cond
	ctx        context.Context
	err        error

	cancel context.CancelFunc // ends the context of Cancelable; may be nil
}

// Start begins a call.
func (l *Loop) Start(ctx context.Context) { l.wake.L, l.ctx, l.err = &l.Mutex, ctx, nil }

// Cancelable returns a context for functions of the workers that wait. It ends with the call: at its first error, a
// panic, or Finish. It is called at most once, after Start and before Work.
func (l *Loop) Cancelable() context.Context {
	ctx, cancel := context.WithCancel(l.ctx)
	l.cancel = cancel
	return ctx
}

// Finish ends a call and returns its error. All workers must have returned.
func (l *Loop) Finish() error {
	err := l.err
	if l.cancel != nil {
		l.cancel()
	}
	l.ctx, l.err, l.cancel = nil, nil, nil
	return err
}

// Work is the loop of a worker. It calls step, with the lock held, until step returns Done or the call has an error.
func (l *Loop) Work(step func() Next) {
	l.Lock()
	returned := false
	defer func() {
		if !returned {
			l.fail(ErrPanic)
		}
		l.wake.Broadcast()
		l.Unlock()
	}()
	for next := Again; next != Done && l.err == nil; {
		if l.fail(l.ctx.Err()); l.err != nil {
			break
		}
		if next = step(); next == Wait {
			l.wake.Wait()
		}
	}
	returned = true
}

// Unlocked calls do without the lock, from inside a step, and wakes the other workers afterwards. An error or panic of
// do becomes the error of the call. Unlocked reports whether do succeeded.
func (l *Loop) Unlocked(do func() error) (ok bool) {
	l.Unlock()
	err := ErrPanic
	defer func() {
		l.Lock()
		l.fail(err)
		l.wake.Broadcast()
		ok = err == nil
	}()
	err = do()
	return
}

// Wait waits, with the lock held, until another worker has changed the state of the call.
func (l *Loop) Wait() { l.wake.Wait() }

// Wake wakes the waiting workers, after a change of the state.
func (l *Loop) Wake() { l.wake.Broadcast() }

// Err returns the error of the call: the error of its context, or the first error of a worker. The lock must be held,
// unless all workers have returned.
func (l *Loop) Err() error { return l.err }

// Canceled returns the error of the context. It does not need the lock.
func (l *Loop) Canceled() error { return l.ctx.Err() }

// fail records the first error.
func (l *Loop) fail(err error) {
	if l.err == nil && err != nil {
		if l.err = err; l.cancel != nil {
			l.cancel()
		}
	}
}
