// Package sched runs the work of one call on several goroutines.
package sched

import (
	"context"
	"errors"
	"sync"
)

// ErrPanic ends the work of the other goroutines of a call after a panic. The caller gets the panic instead.
var ErrPanic = errors.New("a function panicked")

// Next is what a worker does after a step.
type Next uint8

const (
	Again Next = iota // another step
	Wait              // wait until Wake, and then another step
	Done              // stop: no work is left for this worker
)

// Loop is what the workers of one call have in common: a lock for the state of the call, its context, and its first error,
// which stops all of them. A Loop may be used for one call after the other. It must not be copied.
type Loop struct {
	mu   sync.Mutex
	wake sync.Cond
	ctx  context.Context
	err  error
}

// Start begins a call.
func (l *Loop) Start(ctx context.Context) { l.wake.L, l.ctx, l.err = &l.mu, ctx, nil }

// Finish ends a call, when no worker is left, and returns its error.
func (l *Loop) Finish() error {
	err := l.err
	l.ctx, l.err = nil, nil
	return err
}

// Work is the loop of a worker. It calls step, with the lock held, until that is Done or the call has an error.
func (l *Loop) Work(step func() Next) {
	l.mu.Lock()
	returned := false
	defer func() {
		if !returned {
			l.fail(ErrPanic)
		}
		l.wake.Broadcast()
		l.mu.Unlock()
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

// Unlocked calls do without the lock, from inside a step, and wakes the other workers afterwards. An error of do, or a
// panic, is the error of the call. It reports whether there was none.
func (l *Loop) Unlocked(do func() error) (ok bool) {
	l.mu.Unlock()
	err := ErrPanic
	defer func() {
		l.mu.Lock()
		l.fail(err)
		l.wake.Broadcast()
		ok = err == nil
	}()
	err = do()
	return
}

// Lock takes the lock, for code that is called by Unlocked. Unlock it again.
func (l *Loop) Lock() { l.mu.Lock() }

// Unlock gives the lock back.
func (l *Loop) Unlock() { l.mu.Unlock() }

// Wait waits, with the lock held, until another worker has changed the state of the call.
func (l *Loop) Wait() { l.wake.Wait() }

// Wake wakes the workers that wait, after a change of the state.
func (l *Loop) Wake() { l.wake.Broadcast() }

// Err returns the error of the call: that of its context, or the first one of a worker. The lock must be held, or no
// worker be left.
func (l *Loop) Err() error { return l.err }

// Canceled returns the error of the context. It needs no lock.
func (l *Loop) Canceled() error { return l.ctx.Err() }

// fail records the first error.
func (l *Loop) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}
