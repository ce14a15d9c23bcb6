package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
)

// env holds what a verb needs besides its arguments.
type env struct {
	ctx  context.Context
	in   io.Reader
	out  *bufio.Writer
	note func(text string) // prints a line on standard error; the exit status stays 0
	slab int64             // bytes of data to keep in memory at a time, unless a chunk or an item is larger
}

// usageError is an error in the command line, for which the exit status is 2.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// usagef returns a usageError.
func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }
