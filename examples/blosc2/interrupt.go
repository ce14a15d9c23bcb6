package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// signalsApart is the time after the first signal in which others are ignored. timeout sends two at once: one to the
// process, and one to its group.
const signalsApart = 500 * time.Millisecond

// untilSignal returns a context that ends with the first interrupt, request to terminate, or end of the terminal.
// Another one kills the process, unless it comes within signalsApart, also while the process ends.
func untilSignal() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), append(hangups(), os.Interrupt, syscall.SIGTERM)...)
	context.AfterFunc(ctx, func() { time.AfterFunc(signalsApart, stop) })
	return ctx
}

// interruptible is a reader whose Read ends with a context, although that of r may wait for long.
type interruptible struct {
	ctx   context.Context
	r     io.Reader
	reads chan []byte
	errs  chan error
	left  []byte
}

// newInterruptible returns a reader of r.
func newInterruptible(ctx context.Context, r io.Reader) *interruptible {
	return &interruptible{ctx: ctx, r: r}
}

// terminal reports whether r is a terminal.
func (i *interruptible) terminal() bool {
	f, ok := i.r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// start reads r on another goroutine, with two buffers in turn, so that it never writes to one that is in use.
func (i *interruptible) start() {
	i.reads, i.errs = make(chan []byte), make(chan error, 1)
	go func() {
		buffers := [2][]byte{make([]byte, 1<<18), make([]byte, 1<<18)}
		for k := 0; ; k = 1 - k {
			n, err := i.r.Read(buffers[k])
			if n > 0 {
				select {
				case i.reads <- buffers[k][:n]:
				case <-i.ctx.Done():
					return
				}
			}
			if err != nil {
				i.errs <- err
				close(i.reads)
				return
			}
		}
	}()
}

// Read implements io.Reader.
func (i *interruptible) Read(p []byte) (int, error) {
	if i.reads == nil {
		i.start()
	}
	if len(i.left) == 0 {
		select {
		case b, ok := <-i.reads:
			if !ok {
				err := <-i.errs
				i.errs <- err
				return 0, err
			}
			i.left = b
		case <-i.ctx.Done():
			return 0, i.ctx.Err()
		}
	}
	n := copy(p, i.left)
	i.left = i.left[n:]
	return n, nil
}

// contextReader reads r in parts until a context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p[:min(len(p), 1<<22)])
}

// untilDone calls f on another goroutine, for a library that knows no context. It returns the error of f, or the error
// of the context if that ends first. f then still runs.
func untilDone(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
