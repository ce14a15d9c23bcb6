//go:build js && wasm

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"syscall/js"
	"time"

	"github.com/goblosc/blosc2/examples/viewer/internal/document"
	"github.com/goblosc/blosc2/examples/viewer/internal/httprange"
	"github.com/goblosc/blosc2/examples/viewer/internal/object"
	"github.com/goblosc/blosc2/examples/viewer/internal/paint"
	"github.com/goblosc/blosc2/examples/viewer/internal/plane"
	"github.com/goblosc/blosc2/examples/viewer/internal/session"
)

const (
	cacheBytes = 64 << 20 // received bytes to keep
	tailBytes  = 64 << 10 // bytes at the end of an object that are requested at once
)

// open opens args.file or args.url.
func (w *worker) open(ctx context.Context, args arguments, _ func(any)) (map[string]any, error) {
	var src *object.Object
	if file := args.get("file"); file.Truthy() {
		if !file.InstanceOf(js.Global().Get("Blob")) {
			return nil, errors.New("not a file")
		}
		src = object.New(blob{file}, int64(file.Get("size").Float()), cacheBytes, nil)
	} else {
		url := args.text("url")
		urls := js.Global().Get("URL") // which throws what ends the program
		if urls.Get("canParse").Truthy() && !urls.Call("canParse", url, js.Global().Get("location").Get("href")).Bool() {
			return nil, fmt.Errorf("no valid URL: %q", url)
		}
		r, head, err := httprange.Open(ctx, fetcher{}, url)
		if err != nil {
			return nil, err
		}
		src = object.New(r, r.Size(), cacheBytes, head)
	}
	if err := src.Load(ctx, src.Size()-tailBytes, tailBytes); err != nil {
		return nil, err
	}
	doc, err := w.session.Open(ctx, src)
	if err != nil {
		return nil, err
	}
	w.source = src
	return map[string]any{"store": doc.IsStore(), "size": float64(src.Size())}, nil
}

// stats returns the number of requests and bytes.
func (w *worker) stats(context.Context, arguments, func(any)) (map[string]any, error) {
	if w.source == nil {
		return map[string]any{"requests": 0, "bytes": 0}, nil
	}
	s := w.source.Stats()
	return map[string]any{"requests": float64(s.Requests), "bytes": float64(s.Bytes)}, nil
}

// walk sends the entries of a store as they are found.
func (w *worker) walk(ctx context.Context, _ arguments, notify func(any)) (map[string]any, error) {
	doc := w.session.Document()
	if doc == nil {
		return map[string]any{}, nil
	}
	var batch []any
	sent := time.Now()
	err := doc.Walk(ctx, func(e document.Entry) {
		batch = append(batch, map[string]any{"key": e.Key, "kind": e.Kind, "text": e.Text, "shown": e.Shown, "fault": e.Fault})
		if time.Since(sent) > 50*time.Millisecond {
			notify(batch)
			batch, sent = nil, time.Now()
			time.Sleep(time.Millisecond) // other events
		}
	})
	if len(batch) > 0 {
		notify(batch)
	}
	return map[string]any{}, err
}

// selectKey opens the array, the table or the array of objects args.key.
func (w *worker) selectKey(ctx context.Context, args arguments, _ func(any)) (map[string]any, error) {
	v, err := w.session.Select(ctx, args.text("key"))
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"info": properties(v.Info()), "attributes": properties(v.Attributes())}
	switch v := v.(type) {
	case *document.Array:
		answer["shape"], answer["chunks"], answer["dtype"], answer["real"] = numbers(v.Shape()), numbers(v.Chunks()), v.DType().String(), v.Real()
	case *document.Sheet:
		columns := make([]document.Property, len(v.Columns))
		for i, c := range v.Columns {
			columns[i] = document.Property{Name: c.Name, Value: c.Kind}
		}
		answer["rows"], answer["columns"] = float64(v.Rows), properties(columns)
	}
	return answer, nil
}

// rows returns the rows args.start to args.stop-1 of the columns args.first to args.last-1. A null is null.
func (w *worker) rows(ctx context.Context, args arguments, _ func(any)) (map[string]any, error) {
	s, err := w.session.Sheet()
	if err != nil {
		return nil, err
	}
	n := func(name string) int { return int(args.integer(name)) }
	pages, err := s.Read(ctx, args.integer("start"), args.integer("stop"), n("first"), n("last"))
	if err != nil {
		return nil, err
	}
	columns := make([]any, len(pages))
	for i, p := range pages {
		cells := make([]any, len(p.Cells))
		for k, c := range p.Cells {
			if !c.Null {
				cells[k] = c.Text
			}
		}
		columns[i] = map[string]any{"cells": cells, "fault": p.Fault}
	}
	return map[string]any{"columns": columns}, nil
}

// picture draws a part of a plane.
func (w *worker) picture(ctx context.Context, args arguments, _ func(any)) (map[string]any, error) {
	q := request(args)
	start := time.Now()
	p, err := w.session.Picture(ctx, q)
	if err != nil {
		return nil, err
	}
	h := p.Histogram
	counts := make([]any, len(h.Counts))
	for i, n := range h.Counts {
		counts[i] = n
	}
	return map[string]any{
		"pixels": bytesToJS(p.Pixels), "bar": bytesToJS(p.Bar), "low": p.Low, "high": p.High,
		"histogram": map[string]any{"low": h.Low, "high": h.High, "counts": counts, "nan": h.NaN, "infinite": h.Infinite},
		"rowStep":   float64(p.Grid.RowStep), "colStep": float64(p.Grid.ColStep), "limited": p.Limited,
		"milliseconds": float64(time.Since(start).Microseconds()) / 1000,
	}, nil
}

// prefetch reads a plane that may be the next one.
func (w *worker) prefetch(ctx context.Context, args arguments, _ func(any)) (map[string]any, error) {
	return nil, w.session.Prefetch(ctx, request(args))
}

// line returns the items along an axis.
func (w *worker) line(ctx context.Context, args arguments, _ func(any)) (map[string]any, error) {
	l, err := w.session.Line(ctx, args.integers("at"), int(args.integer("axis")), int(args.integer("most")), args.integer("budget"))
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, 8*len(l.Values))
	for _, x := range l.Values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return map[string]any{"step": float64(l.Step), "values": bytesToJS(b)}, nil
}

// value returns an item as text.
func (w *worker) value(ctx context.Context, args arguments, _ func(any)) (map[string]any, error) {
	a, err := w.session.Array()
	if err != nil {
		return nil, err
	}
	text, err := a.Value(ctx, args.integers("at"))
	return map[string]any{"text": text}, err
}

// table returns items of a plane as text.
func (w *worker) table(ctx context.Context, args arguments, _ func(any)) (map[string]any, error) {
	text, rows, cols, err := w.session.Table(ctx, axes(args), args.integer("top"), args.integer("left"),
		int(args.integer("rows")), int(args.integer("cols")))
	if err != nil {
		return nil, err
	}
	list := make([]any, len(text))
	for i, s := range text {
		list[i] = s
	}
	return map[string]any{"rows": rows, "cols": cols, "text": list}, nil
}

// chunks describes the chunks of a plane.
func (w *worker) chunks(ctx context.Context, args arguments, _ func(any)) (map[string]any, error) {
	a, err := w.session.Array()
	if err != nil {
		return nil, err
	}
	m, err := a.ChunkMap(ctx, axes(args))
	if err != nil {
		return nil, err
	}
	cells := make([]any, len(m.Cells))
	for i, c := range m.Cells {
		cells[i] = map[string]any{"number": c.Number, "special": c.Special, "nbytes": c.NBytes, "cbytes": c.CBytes, "offset": float64(c.Off), "coding": c.Coding}
	}
	return map[string]any{
		"top": float64(m.Top), "left": float64(m.Left), "rows": float64(m.Rows), "cols": float64(m.Cols),
		"allRows": float64(m.AllRows), "allCols": float64(m.AllCols),
		"chunkRows": float64(m.ChunkRows), "chunkCols": float64(m.ChunkCols), "cells": cells,
	}, nil
}

// request returns the request of a picture.
func request(args arguments) *session.Request {
	q := &session.Request{Axes: axes(args), Budget: args.integer("budget")}
	q.Window = plane.Window{
		Top: args.float("top"), Left: args.float("left"), Bottom: args.float("bottom"), Right: args.float("right"),
		Height: int(max(0, min(args.integer("height"), 4096))), Width: int(max(0, min(args.integer("width"), 4096))),
	}
	q.Style = paint.Style{
		Map: paint.MapOf(args.text("map")), Log: args.flag("log"), Percentile: args.pair("percentile"),
		Range: args.pair("range"), NaN: paint.ParseColor(args.text("nan")),
	}
	return q
}

// axes returns the axes of a plane.
func axes(args arguments) plane.Axes {
	return plane.Axes{Row: int(args.integer("row")), Col: int(args.integer("col")), At: args.integers("at")}
}

// numbers returns an Array.
func numbers(list []int64) []any {
	out := make([]any, len(list))
	for i, n := range list {
		out[i] = float64(n)
	}
	return out
}

// properties returns an Array of pairs.
func properties(list []document.Property) []any {
	out := make([]any, len(list))
	for i, p := range list {
		out[i] = []any{p.Name, p.Value}
	}
	return out
}
