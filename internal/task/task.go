// Package task runs functions on other goroutines and carries their panics to the goroutine that waits for them.
package task

import (
	"context"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
)

// An Exit describes how a function ended that did not return: by a panic, or by runtime.Goexit.
type Exit struct {
	value  any
	goexit bool
	stack  []byte // of the panic
}

// Run calls f. When f has ended, Run calls ended, with nil if f returned. A panic of f does not continue. After
// runtime.Goexit the goroutine exits when ended has returned.
func Run(f func(), ended func(x *Exit)) {
	returned := false
	defer func() {
		if returned {
			ended(nil)
			return
		}
		x := &Exit{value: recover()}
		if x.goexit = x.value == nil; !x.goexit {
			x.stack = debug.Stack()
		}
		ended(x)
	}()
	f()
	returned = true
}

// Once calls a function once. If it panics or calls runtime.Goexit, so does each call of Do. The zero Once is ready for
// use.
type Once struct {
	once sync.Once
	exit *Exit
}

// Do calls f, unless a call of Do has done so before. It waits for that call.
func (o *Once) Do(f func()) {
	o.once.Do(func() {
		Run(f, func(x *Exit) { o.exit = x })
	})
	o.exit.Continue()
}

// Goexit reports whether the function ended by runtime.Goexit. It is false for nil.
func (x *Exit) Goexit() bool { return x != nil && x.goexit }

// Continue panics with the value of the panic, or calls runtime.Goexit. It returns only if x is nil.
//
// If no function recovers the panic, the program's last message also shows the stack of the original panic. Continue
// panics with that stack first, and replaces this panic by one with the original value. So recover returns the original
// value.
func (x *Exit) Continue() {
	switch {
	case x == nil:
		return
	case x.goexit:
		runtime.Goexit()
	}
	defer panic(x.value)
	panic(trace(x.stack))
}

// trace is the stack of a panic on another goroutine.
type trace string

// Error implements error, so that the runtime prints the lines of the stack without escapes.
func (t trace) Error() string { return "on another goroutine:\n" + string(t) }

// A Task is a call on a goroutine of its own.
type Task struct {
	done chan struct{}
	err  error
	exit *Exit
}

// Go calls f on a goroutine of its own.
func Go(f func() error) *Task {
	t := &Task{done: make(chan struct{})}
	go Run(func() { t.err = f() }, func(x *Exit) {
		t.exit = x
		close(t.done)
	})
	return t
}

// Wait waits until the call has ended, in any way.
func (t *Task) Wait() { <-t.done }

// Result waits for the call and returns its error. If the call has panicked, Result panics with the same value; after
// runtime.Goexit, it calls runtime.Goexit.
func (t *Task) Result() error {
	<-t.done
	t.exit.Continue()
	return t.err
}

// Context returns ctx, or context.Background() if ctx is nil.
func Context(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// Reader returns a reader of r that returns the error of ctx when ctx is done. It does not interrupt a Read of r.
func Reader(ctx context.Context, r io.Reader) io.Reader { return reader{ctx, r} }

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// maxWorkers is the largest number of goroutines for one call. It may exceed the number of CPUs, for storage with long
// latency. But each goroutine has memory of its own.
const maxWorkers = 1024

// Workers returns the number of goroutines for n pieces of work: concurrency, or GOMAXPROCS if that is not positive,
// but at least 1, and at most n and 1024.
func Workers(concurrency int, n int64) int {
	if concurrency <= 0 {
		concurrency = runtime.GOMAXPROCS(0)
	}
	return int(max(1, min(int64(concurrency), n, maxWorkers)))
}
