//go:build !js && !wasip1

package main

import (
	"context"
	"os"
	"runtime/debug"
	"strings"

	"github.com/goblosc/blosc2/examples/blosc2/internal/view"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
)

// hasTerminal reports whether view works.
const hasTerminal = true

// Run runs the verb.
func (v *viewCmd) Run(e *env) error {
	tools := &view.Tools{
		Open:    func(ctx context.Context, path string) (*view.Document, error) { return openDocument(e.with(ctx), path) },
		Aligned: alignedTexts, Item: itemText, Number: realNumber, IsReal: isReal, Color: e.color,
		Palettes: []view.Palette{{Name: "viridis", Color: viridis}, {Name: "gray", Color: gray}},
	}
	// The first screen of an array of many chunks would wait for several garbage collections while its index is read.
	normal := debug.SetGCPercent(400)
	doc, err := openDocument(e, v.Path)
	debug.SetGCPercent(normal)
	if err != nil {
		return err
	}
	if e.tty && os.Getenv("TERM") != "dumb" {
		return view.Run(e.ctx, os.Stdout, tools, doc)
	}
	text, err := view.Screen(e.ctx, tools, doc, 80, 24)
	if err == nil {
		_, err = e.out.WriteString(text)
	}
	return err
}

// with returns a copy that has another context.
func (e *env) with(ctx context.Context) *env {
	c := *e
	c.ctx = ctx
	return &c
}

// openDocument opens what view shows: a store or a group in it, an array, or a frame.
func openDocument(e *env, path string) (*view.Document, error) {
	if entries, err := storeEntries(e, path); err != nil || entries != nil {
		return &view.Document{Path: path, Entries: entries, Close: func() {}}, err
	}
	s, err := openReadable(e, path)
	if err != nil {
		return nil, err
	}
	if s.array == nil && s.frame != nil {
		if a, done, err := openArray(e, path); err == nil { // a tensor
			s.close()
			s = &source{path: path, frame: a.Frame(), array: a}
			return document(s, done)
		}
	}
	return document(s, s.close)
}

// document returns what view shows of an open source.
func document(s *source, done func()) (*view.Document, error) {
	doc := &view.Document{Path: s.path, Close: done}
	p := &propertyPrinter{}
	if s.chunk != nil {
		infoChunk(p, s)
	} else if err := infoFrame(p, s); err != nil {
		done()
		return nil, err
	}
	for i, name := range p.names {
		doc.Info = append(doc.Info, [2]string{name, p.values[i]})
	}
	if s.frame != nil && s.frame.NumChunks() > 0 {
		doc.Grid, doc.Chunks = []int64{int64(s.frame.NumChunks())}, []int64{1}
		doc.Chunk = func(ctx context.Context, n int) (frame.ChunkInfo, error) { return s.frame.ChunkInfo(ctx, n) }
	}
	if a := s.array; a != nil {
		if err := checkFields(a.DType()); err != nil {
			done()
			return nil, err
		}
		doc.Array = a
		if doc.Grid != nil && a.Frame() == s.frame {
			doc.Grid, doc.Chunks = nil, a.Chunks()
			for axis, n := range a.Shape() {
				doc.Grid = append(doc.Grid, (n+max(doc.Chunks[axis], 1)-1)/max(doc.Chunks[axis], 1))
			}
		}
	}
	return doc, nil
}

// storeEntries returns the entries of a store or a group. It returns nil for anything else.
func storeEntries(e *env, path string) ([]view.Entry, error) {
	name, key, ok := splitStore(path)
	if path == "-" {
		st, err := newStore(e, path)
		if err != nil {
			return nil, nil // a frame
		}
		st.close()
	} else if !ok {
		return nil, nil
	} else if key != "/" {
		st, err := newStore(e, name)
		if err != nil {
			return nil, err
		}
		defer st.close()
		if entry, err := st.Stat(e.ctx, st.find(key)); err == nil && entry.Kind != store.KindGroup {
			return nil, nil
		}
	}
	entries := []view.Entry{}
	plain := &env{}
	err := eachEntry(e, path, func(entry store.Entry, err error) error {
		line := view.Entry{Key: entry.Key, Text: plain.entryText(entry, err)}
		if entry.Kind != store.KindGroup && path != "-" {
			line.Path = name + entry.Key
			if isURL(name) && strings.ContainsAny(entry.Key, "?#") { // find knows other keys as they are
				line.Path = name + escapedKey(entry.Key)
			}
		}
		if entry.Kind == store.KindGroup && err == nil {
			return e.ctx.Err()
		}
		entries = append(entries, line)
		return e.ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}
