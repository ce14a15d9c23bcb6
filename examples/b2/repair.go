package main

import (
	"fmt"

	"github.com/goblosc/blosc2/frame"
)

// runRepair creates a frame from the intact parts of a damaged one.
func runRepair(e *env, args []string) error {
	fs := newFlags("repair")
	o := &frame.CreateOptions{}
	fs.BoolVar(&o.Sparse, "sparse", false, "")
	fs.BoolVar(&o.Overwrite, "overwrite", false, "")
	fs.BoolVar(&o.Checksums, "checksums", false, "")
	args, err := parseArgs(fs, args, 2, 2)
	if err != nil {
		return err
	}
	f, found, err := frame.Salvage(e.ctx, args[1], args[0], func(err error) { fmt.Fprintln(e.out, oneLine(err)) }, o)
	if err != nil {
		return err
	}
	order := "in order of the index"
	if !found.Index {
		order = "in order of their offsets"
	}
	fmt.Fprintf(e.out, "chunks: %d intact, %s; lost: %d\n", found.Chunks, order, found.Lost)
	return f.Close()
}
