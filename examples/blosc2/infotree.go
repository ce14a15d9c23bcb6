package main

import (
	"fmt"
	"strings"

	"github.com/goblosc/blosc2/frame/store"
)

// printTree prints the tree of a store, or of a group in it.
func printTree(e *env, path string) error {
	type line struct {
		key   []string
		entry store.Entry
		fault error
	}
	var lines []line
	base := ""
	if _, key, ok := splitStore(path); ok {
		base = strings.TrimSuffix(key, "/")
	}
	collect := func(entry store.Entry, err error) error {
		key := strings.Trim(strings.TrimPrefix(entry.Key, base), "/")
		if key == "" {
			key = entry.Key
		}
		lines = append(lines, line{strings.Split(key, "/"), entry, err})
		return e.ctx.Err()
	}
	if err := eachEntry(e, path, collect); err != nil {
		return err
	}
	fmt.Fprintln(e.out, e.paint(bold, path))
	// A line is the last of its group if no later line has the same parent before one that leaves it.
	last := make([]bool, len(lines))
	for i, l := range lines {
		last[i] = true
		for _, later := range lines[i+1:] {
			if n := len(l.key); len(later.key) < n || strings.Join(later.key[:n-1], "/") != strings.Join(l.key[:n-1], "/") {
				break
			} else if len(later.key) == n {
				last[i] = false
				break
			}
		}
	}
	var bars []string // of the parents
	for i, l := range lines {
		depth := len(l.key) - 1
		for len(bars) < depth {
			bars = append(bars, "    ")
		}
		mark, bar := "├── ", "│   "
		if last[i] {
			mark, bar = "└── ", "    "
		}
		name := visible(l.key[depth])
		if l.entry.Kind == store.KindGroup {
			name = e.paint(blue, name+"/")
		}
		fmt.Fprintf(e.out, "%s%s%s%s\n", strings.Join(bars[:depth], ""), mark, name, e.entryText(l.entry, l.fault))
		bars = append(bars[:depth], bar)
	}
	return nil
}

// entryText describes an entry of a store.
func (e *env) entryText(entry store.Entry, err error) string {
	switch {
	case err != nil:
		return "  " + e.paint(red, oneLine(err))
	case entry.Kind == store.KindGroup:
		return ""
	case entry.Ref != nil:
		return "  " + visible(entry.Ref.String())
	}
	text := "  " + entry.Kind.String()
	if entry.Shape != nil {
		text += " " + pyTuple(entry.Shape)
	}
	if d := entry.DType.String(); d != "" {
		text += " " + visible(d)
	}
	if entry.Size > 0 {
		text += "  " + shortSize(entry.Size)
	}
	return text
}
