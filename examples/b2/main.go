// Command b2 inspects, reads, creates and edits Blosc2 frames and N-dimensional arrays.
//
//	go run ./examples/b2 help          list the verbs
//	go run ./examples/b2 help create   describe a verb
//
// The exit status is 0 for success, 1 for an invalid file or request, with one line on standard error, or 2 for invalid
// usage.
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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes the command and returns the exit status.
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
		fmt.Fprintf(errOut, "%s: %s (see b2 help)\n", prefix, oneLine(err))
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
		return usagef("unknown verb %q", name)
	}
	err := v.run(e, rest)
	if errors.Is(err, flag.ErrHelp) {
		return help(e, args[:1])
	}
	return err
}

// help prints the overview, or the help of a verb.
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
		return usagef("unknown verb %q", args[0])
	}
	return usagef("help takes at most one verb")
}
