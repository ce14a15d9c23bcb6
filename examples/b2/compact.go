package main

import (
	"fmt"

	"github.com/goblosc/blosc2/frame"
)

// runCompact releases dead bytes.
func runCompact(e *env, args []string) error {
	fs := newFlags("compact")
	onlyCount := fs.Bool("n", false, "")
	args, err := parseArgs(fs, args, 1, 1)
	if err != nil {
		return err
	}
	open := frame.Edit
	if *onlyCount {
		open = frame.Open
	}
	path, err := editPath(e.ctx, args[0])
	if err != nil {
		return err
	}
	f, err := open(e.ctx, path, nil)
	if err != nil {
		return err
	}
	defer f.Close()
	dead, err := f.DeadBytes(e.ctx)
	if err != nil {
		return err
	}
	if *onlyCount {
		_, err = fmt.Fprintf(e.out, "dead bytes: %d\n", dead)
		return err
	}
	if err := f.Compact(e.ctx); err != nil {
		return err
	}
	left, err := f.DeadBytes(e.ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.out, "dead bytes released: %d\n", dead-left)
	return err
}
