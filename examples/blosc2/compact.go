package main

import "fmt"

// compactCmd releases dead bytes.
type compactCmd struct {
	progressOption
	Count bool   `name:"n" help:"only print the number of dead bytes"`
	Path  string `arg:"" name:"PATH"`
}

// Help describes the verb.
func (compactCmd) Help() string {
	return `
Releases the dead bytes that edits leave, and prints their number. For a file, it writes a copy of PATH without dead
bytes, then renames it to PATH. A crash leaves either the old file or the new one. In a sparse directory, it removes the
chunk files that the index does not reference. It does not compress chunks again. If PATH has a lock file, compact waits
until no other process reads or edits PATH.

Examples:
  blosc2 compact a.b2nd
`
}

// Run runs the verb.
func (v *compactCmd) Run(e *env) error {
	p := e.startProgress(v.progressOption, "bytes", 0)
	defer p.end()
	open, find := editFile, changePath
	if v.Count {
		open, find = openFile, editPath
	}
	path, err := find(e, v.Path)
	if err != nil {
		return err
	}
	f, err := open(e, path)
	if err != nil {
		return editError(e, v.Path, err)
	}
	defer f.Close()
	dead, err := f.DeadBytes(e.ctx)
	if err != nil {
		return err
	}
	if v.Count {
		_, err = fmt.Fprintf(e.out, "dead bytes: %d\n", dead)
		return err
	}
	p.follow(path, max(storedSize(path)-dead, 0))
	if err := f.Compact(e.ctx); err != nil {
		return err
	}
	p.finish()
	left, err := f.DeadBytes(e.ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.out, "dead bytes released: %d\n", dead-left)
	return err
}
