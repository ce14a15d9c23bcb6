package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/internal/paths"
)

// output is where a new frame goes: a file or a directory, standard output, or a leaf of a store. For the last two the
// frame is made in memory first.
type output struct {
	name       string // for the library; "" means memory
	stdout     bool
	store, key string // of a leaf
}

// fileExtensions are the extensions of names of files in the directory of a store. Other names are keys.
var fileExtensions = []string{".b2nd", ".b2f", ".b2b", ".b2frame", ".b2e", ".b2z"}

// newOutput checks where a new frame can go.
func newOutput(e *env, path string, sparse, overwrite bool) (*output, error) {
	o := &output{name: path}
	switch {
	case path == "-" && sparse:
		return nil, usagef("-sparse makes a directory, which cannot go to standard output")
	case path == "-":
		o.name, o.stdout = "", true
		return o, e.refuseTerminal("")
	case isURL(path):
		return nil, fmt.Errorf("%s: what is on a server can only be read: %w", path, errors.ErrUnsupported)
	}
	if !sparse && os.IsPathSeparator(path[len(path)-1]) {
		return nil, fmt.Errorf("%s is the name of a directory; use -sparse to create one", path)
	}
	if err := checkTable(e, path); err != nil {
		return nil, err
	}
	name, key, ok, err := findStore(path)
	if err != nil {
		return nil, err
	}
	leaf := ok && key != "/" && !slices.Contains(fileExtensions, filepath.Ext(path))
	// The folder of a group is no obstacle to a leaf with its name.
	if fi, err := os.Lstat(path); err != nil && !isMissing(err) {
		return nil, err
	} else if err == nil && !(leaf && fi.IsDir() && isPlainDir(path)) {
		if err := refuseDevice(path, true); err != nil {
			return nil, err
		}
		if !overwrite {
			return nil, fmt.Errorf("%s already exists; use -overwrite to replace it", path)
		}
		return o, nil
	}
	if !leaf {
		return o, nil
	}
	if sparse {
		return nil, usagef("-sparse makes a directory, which cannot be a leaf of a store")
	}
	o.name, o.store, o.key = "", name, key
	st, err := store.Open(e.ctx, name, nil)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	if !st.Has(key) {
		return o, nil
	}
	entry, err := st.Stat(e.ctx, key)
	switch {
	case entry.Kind == store.KindGroup:
		return o, err
	case entry.Kind == store.KindTable:
		return nil, fmt.Errorf("%s is a table, which a leaf cannot replace: %w", path, errors.ErrUnsupported)
	case !overwrite:
		return nil, fmt.Errorf("%s already exists; use -overwrite to replace it", path)
	}
	return o, nil
}

// refuseDevice returns an error if path is a device or a pipe, which a new file must not replace. stdout is set for
// verbs that take "-" for standard output.
func refuseDevice(path string, stdout bool) error {
	fi, err := os.Stat(path)
	switch {
	case err != nil || fi.Mode().IsRegular() || fi.IsDir():
		return nil
	case stdout:
		return fmt.Errorf("%s is not a regular file; use - for standard output", path)
	}
	return fmt.Errorf("%s is not a regular file", path)
}

// refuseInside returns an error if a new file is in the directory of the sparse frame that it is made from: it would
// replace a part of the frame, or remain there as a foreign file.
func refuseInside(out, from string) error {
	dir, err := os.Stat(from)
	if out == "-" || isURL(out) || from == "-" || isURL(from) || err != nil || !dir.IsDir() {
		return nil
	}
	parent, err := realDir(paths.Dir(out))
	if err != nil {
		return err
	}
	for {
		if fi, err := os.Stat(parent); err == nil && os.SameFile(fi, dir) {
			return fmt.Errorf("%s is in the directory %s, which is read; write to another one", out, from)
		}
		if filepath.Dir(parent) == parent {
			return nil
		}
		parent = filepath.Dir(parent)
	}
}

// finish closes a new frame, after it has gone where it belongs.
func (o *output) finish(e *env, f *frame.Frame) error {
	err := o.write(e, f)
	return errors.Join(err, f.Close())
}

// write writes a frame in memory to standard output or a store.
func (o *output) write(e *env, f *frame.Frame) error {
	switch {
	case o.stdout:
		_, err := f.Save(e.ctx, e.out)
		return err
	case o.store == "":
		return nil
	}
	st, err := store.Edit(e.ctx, o.store, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", o.store, err)
	}
	return errors.Join(st.Put(e.ctx, o.key, f), st.Close())
}

// temporary returns the path beside which temporary files belong.
func (o *output) temporary(path string) string {
	if o.name == "" {
		return filepath.Join(os.TempDir(), "blosc2")
	}
	return path
}
