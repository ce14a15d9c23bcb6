package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/goblosc/blosc2/frame"
)

// repairCmd creates a frame from the intact parts of a damaged one.
type repairCmd struct {
	Clean bool `help:"remove the temporary files of DAMAGED that killed processes have left, and print their names. No process may be editing it"`
	progressOption
	Sparse    bool   `help:"create a directory with a file for each chunk"`
	Checksums bool   `help:"store CRC-32C checksums of chunks, index and metalayers"`
	Overwrite bool   `help:"replace an existing file, directory or link NEW"`
	Damaged   string `arg:"" name:"DAMAGED"`
	New       string `arg:"" optional:"" name:"NEW"`
}

// Help describes the verb.
func (repairCmd) Help() string {
	return `
Creates the frame NEW from the intact chunks and metalayers of DAMAGED, whose header, index or trailer may be lost.
Prints a line for each part that is lost, and the number of intact chunks. If the index is intact, lost chunks become
zeros. Otherwise repair searches the whole file for chunks, and may also find deleted ones. An array remains an array
if the chunks match its shape. A chunk in a bad sector of the disk counts as lost. After any other error of reading,
such as a missing permission, repair creates nothing. A new leaf of a store is made in memory.

Examples:
  blosc2 repair a.b2nd new.b2nd
  blosc2 repair -clean a.b2nd
`
}

// Run runs the verb.
func (v *repairCmd) Run(e *env) error {
	switch {
	case v.Clean && v.New != "":
		return usagef("-clean and NEW exclude each other")
	case v.Clean && (v.Sparse || v.Checksums || v.Overwrite):
		return usagef("-clean excludes -sparse, -checksums and -overwrite, which are for NEW")
	case v.Clean:
		return clean(e, v.Damaged)
	case v.New == "":
		return usagef("argument NEW is missing")
	}
	p := e.startProgress(v.progressOption, "bytes", 0)
	defer p.end()
	o := &frame.CreateOptions{Sparse: v.Sparse, Overwrite: v.Overwrite, Checksums: v.Checksums}
	if v.Damaged == "-" || isURL(v.Damaged) {
		return fmt.Errorf("%s: only a file or a directory can be repaired: %w", v.Damaged, errors.ErrUnsupported)
	}
	if v.New == "-" || isURL(v.New) {
		return fmt.Errorf("%s: repair creates a file or a directory: %w", v.New, errors.ErrUnsupported)
	}
	if err := refuseDevice(v.New, false); err != nil {
		return err
	}
	path, err := editPath(e, v.Damaged)
	if err != nil {
		return err
	}
	if file, err := editPath(e, v.New); err == nil && sameFile(file, path) {
		return fmt.Errorf("%s is the damaged frame itself; write to another one", v.New)
	}
	if err := refuseInside(v.New, path); err != nil {
		return err
	}
	to, err := newOutput(e, v.New, v.Sparse, v.Overwrite)
	if err != nil {
		return err
	}
	if f, err := frame.Open(e.ctx, path, nil); err == nil {
		f.Close()
	} else if store := editError(e, v.Damaged, err); store != err {
		return store // the chunks of all its leaves are no frame
	}
	if to.name != "" {
		p.follow(v.New, storedSize(path))
	}
	o.Overwrite = o.Overwrite && to.name != ""
	f, found, err := frame.Salvage(e.ctx, to.name, path, func(err error) { fmt.Fprintln(e.out, oneLine(err)) }, o)
	if err != nil {
		return err
	}
	p.finish()
	order := "in order of the index"
	if !found.Index {
		order = "in order of their offsets"
	}
	fmt.Fprintf(e.out, "chunks: %d intact, %s; lost: %d\n", found.Chunks, order, found.Lost)
	return to.finish(e, f)
}

// sameFile reports whether two paths lead to the same file or directory.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
