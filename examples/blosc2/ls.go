package main

import (
	"fmt"

	"github.com/goblosc/blosc2/frame/store"
)

// lsCmd lists a store.
type lsCmd struct {
	JSON bool   `name:"json" help:"print one JSON object per line with the keys key kind shape dtype. Shape and dtype are null if they do not apply. The object of a reference also has the key ref: what it refers to. The object of a leaf that cannot be opened has the key error, and the exit status is then 1"`
	Path string `arg:"" name:"STORE[/KEY]"`
}

// Help describes the verb.
func (lsCmd) Help() string {
	return `
Lists the leaves and groups of a store, or of the group KEY in it: a file (.b2e, .b2z) or a directory (.b2d). A table is
one entry. For a file with a single frame, it prints one entry with PATH, and with -json without a key.

Examples:
  blosc2 ls tree.b2z
  blosc2 ls -json tree.b2d/img
`
}

// lsEntry is the object that ls -json prints.
type lsEntry struct {
	Key   string  `json:"key"`
	Kind  *string `json:"kind"`
	Shape []int64 `json:"shape"`
	DType *string `json:"dtype"`
	Ref   string  `json:"ref,omitempty"`
	Error string  `json:"error,omitempty"`
}

// Run runs the verb.
func (v *lsCmd) Run(e *env) error {
	var rows [][]string
	failed := 0
	print := func(entry store.Entry, err error) error {
		if e.ctx.Err() != nil {
			return e.ctx.Err()
		}
		if err != nil {
			failed++
		}
		if v.JSON {
			return printEntry(e, entry, err)
		}
		kind, cells := entry.Kind.String(), []string(nil)
		switch {
		case err != nil:
			kind, cells = "unknown", []string{oneLine(err)}
		case entry.Ref != nil:
			cells = []string{visible(entry.Ref.String())}
		case entry.Shape != nil:
			cells = []string{pyTuple(entry.Shape), visible(entry.DType.String())}
		}
		name := entry.Key
		if name == "" {
			name = v.Path
		}
		rows = append(rows, append([]string{visible(name), kind}, cells...))
		return nil
	}
	if err := eachEntry(e, v.Path, print); err != nil {
		return err
	}
	e.printColumns(rows, "tttt", 0)
	return leavesError(v.Path, failed)
}

// leavesError returns the error of a store with n leaves that cannot be opened, or nil if n is 0.
func leavesError(path string, n int) error {
	switch n {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s: 1 leaf cannot be opened", shownPath(path))
	}
	return fmt.Errorf("%s: %d leaves cannot be opened", shownPath(path), n)
}

// eachEntry calls see with the entries of a store, a group, a leaf or a single frame.
func eachEntry(e *env, path string, see func(store.Entry, error) error) error {
	if path == "-" {
		if st, err := newStore(e, path); err == nil {
			defer st.close()
			return walk(e, st, "/", see)
		}
	}
	name, key, ok := splitStore(path)
	if !ok {
		s, err := openFrame(e, path)
		if err != nil {
			return err
		}
		defer s.close()
		return see(store.Describe(e.ctx, s.frame))
	}
	st, err := newStore(e, name)
	if err != nil {
		return err
	}
	defer st.close()
	key = st.find(key)
	if entry, err := st.Stat(e.ctx, key); err != nil || entry.Kind != store.KindGroup {
		if err != nil && !st.Has(key) {
			return storeError(e, st, path, key, fmt.Errorf("%s: %w", name, err))
		}
		return see(entry, err)
	}
	return walk(e, st, key, see)
}

// walk calls see with the entries below a key.
func walk(e *env, st *openStore, key string, see func(store.Entry, error) error) error {
	for entry, err := range st.Walk(e.ctx, key) {
		if err := see(entry, err); err != nil {
			return err
		}
	}
	return nil
}

// printEntry prints an entry as JSON.
func printEntry(e *env, entry store.Entry, err error) error {
	v := lsEntry{Key: entry.Key, Shape: entry.Shape}
	if err != nil {
		v.Error = oneLine(err)
	} else {
		kind := entry.Kind.String()
		v.Kind = &kind
	}
	if dtype := entry.DType.String(); dtype != "" {
		v.DType = &dtype
	}
	if entry.Ref != nil {
		v.Ref = entry.Ref.String()
	}
	return e.printJSON(v)
}
