package main

import (
	"fmt"
	"net/url"
	pathpkg "path"
	"path/filepath"
	"strings"

	"github.com/goblosc/blosc2/frame/store"
)

// printTree prints the tree of a store, or of a group in it.
func printTree(e *env, path string) error {
	type line struct {
		depth int
		name  string
		entry store.Entry
		fault error
	}
	var lines []line
	failed := 0
	base := ""
	if _, key, ok := splitStore(path); ok {
		base = strings.TrimSuffix(key, "/")
	}
	collect := func(entry store.Entry, err error) error {
		if err != nil {
			failed++
		}
		key, ok := strings.CutPrefix(entry.Key, base)
		if plain, err := url.PathUnescape(base); !ok && err == nil { // of a URL
			key = strings.TrimPrefix(key, plain)
		}
		key = strings.Trim(key, "/")
		if key == "" { // the only entry, which is no group
			key = strings.Trim(entry.Key, "/")
			if key == "" {
				key = filepath.ToSlash(path)
			}
			key = pathpkg.Base(key)
		}
		lines = append(lines, line{strings.Count(key, "/"), key[strings.LastIndexByte(key, '/')+1:], entry, err})
		return e.ctx.Err()
	}
	if err := eachEntry(e, path, collect); err != nil {
		return err
	}
	fmt.Fprintln(e.out, e.paint(bold, visible(path)))
	// A line is the last of its group if no later line is as deep before one that is less deep.
	last := make([]bool, len(lines))
	var later []bool // whether a line of a depth follows in the same group
	for i := len(lines) - 1; i >= 0; i-- {
		depth := lines[i].depth
		for len(later) <= depth {
			later = append(later, false)
		}
		later = later[:depth+1]
		last[i], later[depth] = !later[depth], true
	}
	var bars []string // of the parents
	for i, l := range lines {
		for len(bars) < l.depth {
			bars = append(bars, "    ")
		}
		mark, bar := "├── ", "│   "
		if last[i] {
			mark, bar = "└── ", "    "
		}
		name := visible(l.name)
		if l.entry.Kind == store.KindGroup {
			name = e.paint(blue, name+"/")
		}
		fmt.Fprintf(e.out, "%s%s%s%s\n", strings.Join(bars[:l.depth], ""), mark, name, e.entryText(l.entry, l.fault))
		bars = append(bars[:l.depth], bar)
	}
	return leavesError(path, failed)
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
