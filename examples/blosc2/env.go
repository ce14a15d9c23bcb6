package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// env holds what a verb needs besides its arguments.
type env struct {
	ctx    context.Context
	in     io.Reader
	input  []byte // of standard input, once a verb has asked for all of it
	out    *bufio.Writer
	err    io.Writer
	note   func(text string) // prints a line on standard error; the exit status stays 0
	track  *progress         // counts the bytes that are read from files, unless it is nil
	opened string            // path of the source that was opened last, for errors
	slab   int64             // bytes of data to keep in memory at a time, unless a chunk or an item is larger
	tty    bool              // standard output is a terminal
	color  bool              // and colors are allowed
	width  int               // columns of the terminal
}

// plainWidth is the number of columns of output that is not a terminal, NumPy's default.
const plainWidth = 75

// inspect sets what depends on standard output.
func (e *env) inspect(out io.Writer) {
	e.width = plainWidth
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return
	}
	e.tty = true
	e.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		e.width = max(w, 10)
	}
}

// usageError is an error in the command line, for which the exit status is 2.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// usagef returns a usageError.
func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// refuseTerminal returns an error if bytes would be written to a terminal. other may name something else to do.
func (e *env) refuseTerminal(other string) error {
	if !e.tty {
		return nil
	}
	return usagef("standard output is a terminal; write to a file or a pipe%s", other)
}

// stdin returns what standard input has, which it reads once.
func (e *env) stdin() ([]byte, error) {
	if e.input == nil {
		b, err := io.ReadAll(countingReader{e.in, e.track})
		if err != nil {
			return nil, err
		}
		e.input = b
	}
	return e.input, nil
}
