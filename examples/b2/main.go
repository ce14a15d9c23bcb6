// Command b2 looks into, reads, makes and edits Blosc2 frames and N-dimensional arrays.
//
//	go run ./examples/b2 help          the verbs
//	go run ./examples/b2 help create   one of them
//
// The exit status is 0, or 1 with one line on standard error for a bad file or request, or 2 for bad usage.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

// env is what a verb works with besides its arguments.
type env struct {
	ctx  context.Context
	in   io.Reader
	out  *bufio.Writer
	note func(text string) // prints a line on standard error; the exit status stays 0
	slab int64             // bytes of data that are in memory at a time, but for a chunk or an item that is larger
}

// usageError is a command line that makes no sense: exit status 2.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program: it returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(errOut, overview())
		return 2
	}
	w := bufio.NewWriterSize(out, 1<<16)
	prefix := "b2"
	if verbNamed(args[0]) != nil {
		prefix += " " + args[0]
	}
	note := func(text string) { fmt.Fprintf(errOut, "%s: note: %s\n", prefix, text) }
	err := dispatch(&env{ctx: ctx, in: in, out: w, note: note, slab: 32 << 20}, args)
	if flushErr := w.Flush(); err == nil {
		err = flushErr
	}
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(errOut, "%s: %s (b2 help says more)\n", prefix, oneLine(err))
		return 2
	}
	fmt.Fprintf(errOut, "%s: %s\n", prefix, oneLine(err))
	return 1
}

// oneLine returns the text of an error without line breaks.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// dispatch runs a verb, or prints its help.
func dispatch(e *env, args []string) error {
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		return help(e, rest)
	}
	v := verbNamed(name)
	if v == nil {
		return usagef("no verb %q", name)
	}
	err := v.run(e, rest)
	if errors.Is(err, flag.ErrHelp) {
		return help(e, args[:1])
	}
	return err
}

func help(e *env, args []string) error {
	switch len(args) {
	case 0:
		e.out.WriteString(overview())
		return nil
	case 1:
		if v := verbNamed(args[0]); v != nil {
			fmt.Fprintf(e.out, "usage: b2 %s %s\n\n%s", v.name, v.args, strings.TrimPrefix(v.text, "\n"))
			return nil
		}
		return usagef("no verb %q", args[0])
	}
	return usagef("help takes one verb")
}
