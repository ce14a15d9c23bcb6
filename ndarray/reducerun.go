package ndarray

import (
	"context"
	"math"
	"runtime"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/sched"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/reduce"
)

// portion is a box of the array and the cells that it is reduced to, in C order of the axes of the result.
type portion[S, T scalar, A any] struct {
	box   Box
	chunk int64 // number of the chunk, or -1 if the box is not a chunk
	raw   []S   // the items as stored
	items []T   // the items as they are reduced
	cells []A
}

// runKernel reduces chunks in parallel and merges their cells in the order of the chunks.
func runKernel[S, T scalar, A any](j *reduction, widen func(S) T, k reduce.Kernel[T, A]) ([]A, error) {
	cells := make([]A, j.cells)
	for i := range cells {
		cells[i] = k.Empty
	}
	if grid.HasZero(j.shape) {
		return cells, j.ctx.Err()
	}
	boxes := ByChunk(j.r)
	boxes.shape = j.shape // of the snapshot
	if boxes.err != nil {
		return nil, boxes.err
	}
	_, view := j.r.source()
	o := j.h.a.f.Engine().Options()
	// Chunks are reduced on up to Concurrency goroutines, and each of them decodes blocks on others. With more
	// goroutines than CPUs, limit the product of both numbers.
	workers := task.Workers(o.Concurrency, math.MaxInt64)
	if most := runtime.GOMAXPROCS(0); workers > most {
		workers = max(most, workers/task.Workers(o.Concurrency, j.h.st.geo.Blocks))
	}
	workers = j.portionsFor(workers, boxes)
	number := int64(-1)
	set := func(s *portion[S, T, A], b Box) {
		s.box.copy(b)
		number++
		if s.chunk = number; view != nil || o.Postfilter != nil {
			s.chunk = -1
		}
	}
	load := func(ctx context.Context, s *portion[S, T, A]) error {
		return loadPortion(ctx, j, s, widen, &k)
	}
	defer j.h.readAhead(j.ctx, j.h.within(boxes))()
	for s, err := range sched.Ahead(j.ctx, workers-1, boxes.All(), set, load) {
		if err != nil {
			return nil, err
		}
		mergePortion(j, cells, s, &k)
	}
	return cells, nil
}

// portionsFor returns how many of n portions may be in memory. If they are large, they stay within the limit of
// CheckAlloc, or there is one.
func (j *reduction) portionsFor(n int, boxes Boxes) int {
	const held, large = 3, 64 << 20 // a portion has items and converts them; reading it takes about three blocks
	size := 2 * float64(j.r.DType().Size)
	for i, x := range boxes.axes {
		size *= float64(min(x.size, j.shape[i]))
	}
	size += held * float64(j.h.st.geo.BlockBytes)
	for size > large && n > 1 && j.h.a.f.CheckAlloc(int64(min(float64(n)*size, 1<<62))) != nil {
		n--
	}
	return n
}

// loadPortion reads a box and reduces it.
func loadPortion[S, T scalar, A any](ctx context.Context, j *reduction, s *portion[S, T, A], widen func(S) T, k *reduce.Kernel[T, A]) error {
	n := int64(1)
	for i, length := range s.box.Shape {
		if !j.reduced[i] {
			n *= length
		}
	}
	if int64(cap(s.cells)) < n {
		s.cells = make([]A, n)
	}
	s.cells = s.cells[:n]
	one := false
	if s.chunk >= 0 {
		item, err := j.special(ctx, s.chunk)
		if err != nil {
			return err
		}
		if one = item != nil; one {
			s.raw = append(s.raw[:0], *new(S))
			copy(convert.Bytes(s.raw), item)
		}
	}
	if !one {
		if _, err := checkBox(j.r, s.box.Size(), j.r.DType().Size); err != nil {
			return err
		}
		if n := int(s.box.Size()); cap(s.raw) < n {
			s.raw = make([]S, n)
		} else {
			s.raw = s.raw[:n]
		}
		if err := j.h.readBox(ctx, convert.Bytes(s.raw), s.box); err != nil {
			return err
		}
	}
	convert.ToNative(j.r.DType(), convert.Bytes(s.raw))
	if widen == nil {
		s.items = any(s.raw).([]T)
	} else {
		s.items = s.items[:0]
		for _, x := range s.raw {
			s.items = append(s.items, widen(x))
		}
	}
	if one {
		x := k.Copies(s.items[0], s.box.Size()/n, j.position(s.box))
		for i := range s.cells {
			s.cells[i] = x
		}
		return nil
	}
	for i := range s.cells {
		s.cells[i] = k.Empty
	}
	reduceBox(j, s.cells, s.items, s.box, k)
	return nil
}

// position returns the position of the first item of a box among the items that are reduced to the same cell.
func (j *reduction) position(b Box) int64 {
	at := int64(0)
	for i, x := range b.Start {
		at += x * j.itemAt[i] // zero for axes of the result
	}
	return at
}

// loop iterates over one axis of a box, or over several adjacent axes at once.
type loop struct {
	n       int64
	reduced bool
	cell    int64 // stride in cells of the box
	at      int64 // stride in positions
}

// loops returns the fewest loops over the axes of a box, the innermost first.
func (j *reduction) loops(b Box, placed bool) []loop {
	var out []loop
	cell := int64(1)
	for i := len(b.Shape) - 1; i >= 0; i-- {
		x := loop{n: b.Shape[i], reduced: j.reduced[i]}
		if x.reduced {
			x.at = j.itemAt[i]
		} else {
			x.cell = cell
			cell *= x.n
		}
		if k := len(out) - 1; k >= 0 && out[k].reduced == x.reduced && (!x.reduced || !placed || x.at == out[k].at*out[k].n) {
			out[k].n *= x.n
			continue
		}
		out = append(out, x)
	}
	if len(out) == 0 {
		out = append(out, loop{n: 1, reduced: true, at: 1})
	}
	return out
}

// reduceBox reduces the items of a box.
func reduceBox[T, A any](j *reduction, cells []A, items []T, b Box, k *reduce.Kernel[T, A]) {
	loops := j.loops(b, k.Placed)
	inner := loops[0]
	outer := loops[1:]
	count := make([]int64, len(outer))
	cell, at := int64(0), j.position(b)
	for ; len(items) > 0; items = items[inner.n:] {
		if inner.reduced {
			k.Row(&cells[cell], items[:inner.n], at)
		} else {
			k.Lane(cells[cell:cell+inner.n], items[:inner.n], at)
		}
		for i := range outer {
			x := &outer[i]
			count[i]++
			cell += x.cell
			at += x.at
			if count[i] < x.n {
				break
			}
			cell -= x.cell * x.n
			at -= x.at * x.n
			count[i] = 0
		}
	}
}

// mergePortion adds the cells of a box to those of the result.
func mergePortion[S, T scalar, A any](j *reduction, cells []A, s *portion[S, T, A], k *reduce.Kernel[T, A]) {
	var axes []int // of the result
	to := int64(0)
	for i, at := range s.box.Start {
		if !j.reduced[i] {
			axes = append(axes, i)
			to += at * j.cellAt[i]
		}
	}
	run := int64(1) // cells that are contiguous in the result
	if n := len(axes); n > 0 {
		run = s.box.Shape[axes[n-1]]
		axes = axes[:n-1]
	}
	count := make([]int64, len(axes))
	for from := s.cells; len(from) > 0; from = from[run:] {
		row := cells[to : to+run]
		for i := range row {
			k.Merge(&row[i], &from[i])
		}
		for i := len(axes) - 1; i >= 0; i-- {
			step := j.cellAt[axes[i]]
			count[i]++
			if to += step; count[i] < s.box.Shape[axes[i]] {
				break
			}
			to -= step * count[i]
			count[i] = 0
		}
	}
}

// special returns the item that a special chunk repeats, as it is stored. It returns nil for any other chunk.
func (j *reduction) special(ctx context.Context, number int64) ([]byte, error) {
	info, err := j.h.v.ChunkInfo(ctx, int(number))
	if err != nil || info.Special == chunk.Regular {
		return nil, err
	}
	s := &specialPlan{number: int(number), itemSize: j.h.a.itemSize, path: j.h.a.f.Engine().Name()}
	err = j.h.v.Decode(ctx, s, 1, 0)
	return s.item, err
}

// specialPlan is the engine.ReadPlan that returns the item of a special chunk. It decodes nothing.
type specialPlan struct {
	number   int
	itemSize int
	path     string
	item     []byte
	started  bool
}

// Next implements engine.ReadPlan.
func (s *specialPlan) Next(v *engine.Visit) bool {
	v.Chunk = s.number
	first := !s.started
	s.started = true
	return first
}

// Block implements engine.ReadPlan. No block is needed.
func (s *specialPlan) Block(b *engine.Block, _ *engine.Visit, _, _, _ int) { *b = engine.Block{} }

// Special implements engine.ReadPlan.
func (s *specialPlan) Special(v *engine.Visit, special chunk.Special, value []byte, typeSize, _ int) error {
	var visit readVisit
	item, err := visit.specialItem(special, value, typeSize, s.itemSize)
	if err != nil {
		return &frame.Error{Path: s.path, Part: "chunk", Chunk: v.Chunk, Off: -1, Err: err}
	}
	s.item = append(s.item, item...)
	return nil
}
