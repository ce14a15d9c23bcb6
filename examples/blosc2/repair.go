package main

import (
	"fmt"

	"github.com/goblosc/blosc2/frame"
)

// repairCmd creates a frame from the intact parts of a damaged one.
type repairCmd struct {
	Sparse    bool   `help:"create a directory with a file for each chunk"`
	Checksums bool   `help:"store CRC-32C checksums of chunks, index and metalayers"`
	Overwrite bool   `help:"replace an existing file or directory NEW"`
	Damaged   string `arg:"" name:"DAMAGED"`
	New       string `arg:"" name:"NEW"`
}

// Help describes the verb.
func (repairCmd) Help() string {
	return `
Creates the frame NEW from the intact chunks and metalayers of DAMAGED, whose header, index or trailer may be lost.
Prints a line for each part that is lost, and the number of intact chunks. If the index is intact, lost chunks become
zeros. Otherwise repair searches the whole file for chunks, and may also find deleted ones. An array remains an array
if the chunks match its shape.
`
}

// Run runs the verb.
func (v *repairCmd) Run(e *env) error {
	o := &frame.CreateOptions{Sparse: v.Sparse, Overwrite: v.Overwrite, Checksums: v.Checksums}
	f, found, err := frame.Salvage(e.ctx, v.New, v.Damaged, func(err error) { fmt.Fprintln(e.out, oneLine(err)) }, o)
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
