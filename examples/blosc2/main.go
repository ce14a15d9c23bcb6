// Command blosc2 inspects, reads, creates and edits Blosc2 frames and N-dimensional arrays.
//
//	go -C examples/blosc2 run . help          list the verbs
//	go -C examples/blosc2 run . help create   describe a verb
//
// The exit status is 0 for success, 1 for an invalid file or request, with one line on standard error, or 2 for invalid
// usage. It is 1 if diff finds differences, and then 2 for all errors.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

func main() {
	ctx := untilSignal()
	os.Exit(run(ctx, os.Args[1:], newInterruptible(ctx, os.Stdin), os.Stdout, os.Stderr))
}

// run executes the command and returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(errOut, overview(newCLI().node(), helpWidth))
		return 2
	}
	w := bufio.NewWriterSize(out, 1<<16)
	c := newCLI()
	name, hint := "blosc2", "blosc2 help"
	if v := c.verb(args[0]); v != nil {
		name += " " + v.Name
		hint += " " + v.Name
	}
	e := &env{ctx: ctx, in: in, out: w, err: errOut, slab: 32 << 20}
	e.note = func(text string) {
		e.track.end() // which writes to standard error, too
		fmt.Fprintf(errOut, "%s: note: %s\n", name, visible(text))
	}
	e.inspect(out)
	err := named(c.dispatch(e, args), e.opened)
	if flushErr := w.Flush(); err == nil || err == errDiffer && flushErr != nil {
		err = flushErr
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case err == errDiffer:
		return 1
	case errors.As(err, &usage):
		fmt.Fprintf(errOut, "%s: %s (see %s)\n", name, oneLine(err), hint)
		return 2
	}
	fmt.Fprintf(errOut, "%s: %s\n", name, oneLine(err))
	if args[0] == "diff" {
		return 2
	}
	return 1
}

// oneLine returns the text of an error without line breaks, and without the name of the system call for a file.
func oneLine(err error) string {
	text := err.Error()
	var file *fs.PathError
	if errors.As(err, &file) {
		text = strings.Replace(text, file.Error(), file.Path+": "+file.Err.Error(), 1)
	}
	return visible(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}
