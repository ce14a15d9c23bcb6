package ndarray

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"unsafe"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/sched"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/reduce"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// portion is a box of the array and the cells that it is reduced to, in C order of the axes of the result.
type portion[S, T scalar, A any] struct {
	box   Box
	raw   []S // the items as stored, in the order of reduction.setOrder
	items []T // the items as they are reduced
	lane  []T // some of them
	cells []A
}

// runKernel reduces boxes in parallel and merges their cells in the order of the boxes. It passes the cells of the
// result to put, in parts that begin at cell at.
func runKernel[S, T scalar, A any](j *reduction, widen func(S) T, k reduce.Kernel[T, A], put func(at int64, cells []A)) error {
	if slices.Contains(j.shape, 0) {
		cells := make([]A, j.cells)
		for i := range cells {
			cells[i] = k.Empty
		}
		put(0, cells)
		return j.ctx.Err()
	}
	j.setOrder(k.Placed)
	boxes := j.boxes()
	if boxes.err != nil {
		return boxes.err
	}
	o := j.h.a.engine.Options()
	// Chunks are reduced on up to Concurrency goroutines, and each of them decodes blocks on others. With more
	// goroutines than CPUs, limit the product of both numbers.
	workers := task.Workers(o.Concurrency, math.MaxInt64)
	if most := runtime.GOMAXPROCS(0); workers > most {
		workers = max(most, workers/task.Workers(o.Concurrency, j.h.st.geo.Blocks))
	}
	workers = j.portionsFor(workers, boxes, int64(unsafe.Sizeof(k.Empty)))
	set := func(s *portion[S, T, A], b Box) { s.box.copy(b) }
	load := func(ctx context.Context, s *portion[S, T, A]) error {
		return loadPortion(ctx, j, s, widen, &k)
	}
	var cells []A
	alone := j.alone(boxes)
	if !alone {
		cells = make([]A, j.cells)
	}
	defer j.h.readAhead(j.ctx, j.h.within(boxes))()
	perLoad := boxes.perLoad(j.h.v.Local(), 2*j.r.DType().Size+int(unsafe.Sizeof(k.Empty)))
	for s, err := range sched.Ahead(j.ctx, workers-1, perLoad, boxes.All(), set, load) {
		if err != nil {
			return err
		}
		switch {
		case alone:
			j.eachRun(s.box, func(at, from, n int64) { put(at, s.cells[from:from+n]) })
		case j.begins(s.box):
			j.eachRun(s.box, func(at, from, n int64) { copy(cells[at:], s.cells[from:from+n]) })
		default:
			j.eachRun(s.box, func(at, from, n int64) { k.Merge(cells[at:at+n], s.cells[from:from+n]) })
		}
	}
	if !alone {
		put(0, cells)
	}
	return nil
}

// alone reports whether each cell of the result has its items in one of the boxes.
func (j *reduction) alone(boxes Boxes) bool {
	for i, x := range boxes.axes {
		if size, _ := x.from(0); j.reduced[i] && size < j.shape[i] {
			return false
		}
	}
	return true
}

// begins reports whether a box is the first one with items of its cells: then the cells of the result are empty.
func (j *reduction) begins(b Box) bool {
	for i, at := range b.Start {
		if j.reduced[i] && at > 0 {
			return false
		}
	}
	return true
}

// boxes returns boxes that cover r. The items of a chunk are in one box, so that it is decoded once, unless r repeats
// them, or converts them to much larger ones.
func (j *reduction) boxes() Boxes {
	m, g := &j.h.m, j.h.st.geo
	b := Boxes{shape: j.shape} // of the snapshot
	bytes, most := int64(m.Dtype.Size), max(boxBytes, g.ChunkBytes)
	for i, n := range b.shape {
		x, w := &m.Axes[i], spacing{size: n, step: n}
		if x.Axis >= 0 {
			// With a step of k, the items of k chunks along the axis are as many as those of one chunk of the array.
			size := g.ChunkShape[x.Axis]
			w = spacing{size: size, step: size, first: x.Start%size/max(-x.Step, 1) + 1}
			if x.Step > 0 {
				w.first = grid.CeilDiv(size-x.Start%size, x.Step)
			}
		}
		b.axes = append(b.axes, w)
		if bytes *= min(w.size, n); bytes > most {
			break
		}
	}
	if bytes > most || m.Repeats() {
		b = ByChunk(j.r)
		b.shape = j.shape
	}
	return b
}

// portionsFor returns how many of n portions may be in memory. If they are large, they stay within the limit of
// CheckAlloc, or there is one. If cells take more memory than items, those of all portions take at most as much as the
// cells of the result, or 64 MiB, or there is one portion. Small portions count together as one: see Boxes.perLoad.
func (j *reduction) portionsFor(n int, boxes Boxes, cellSize int64) int {
	const large = 64 << 20 // a portion has items and converts them; reading it takes blocks, too
	items, cells := 2*float64(j.r.DType().Size), float64(cellSize)
	for i, x := range boxes.axes {
		length := float64(min(x.size, j.shape[i]))
		if items *= length; !j.reduced[i] {
			cells *= length
		}
	}
	items += coder.HeldBlocks * float64(j.h.st.geo.BlockBytes)
	if cells > items {
		n = max(1, int(min(float64(n), max(large, float64(cellSize*j.cells))/cells)))
	}
	size := items + cells
	for size > large && n > 1 {
		switch err := j.h.a.engine.CheckAlloc(j.ctx, int64(min(float64(n)*size, 1<<62))); {
		case err == nil:
			return n
		case !errors.Is(err, ErrTooLarge):
			return 1 // reading the portion returns the error
		}
		n--
	}
	return n
}

// fewBytes is the size of items that are read without looking at the header of their chunk first.
const fewBytes = 16 << 10

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
	h := j.h
	b, err := h.checkBox(s.box)
	if err != nil {
		return err
	}
	// If the items are few, reading those of a special chunk takes less time than asking for its header first.
	size, itemSize := s.box.Size(), j.r.DType().Size
	few, one := size <= fewBytes/int64(itemSize), false
	if !few {
		if one, err = j.special(ctx, &b); err != nil {
			return err
		}
	}
	if one {
		size = 1
		for i := range s.box.Shape {
			b.count[i] = 1
		}
	}
	if _, err := checkItems(ctx, j.r, "a chunk", size, itemSize); err != nil {
		return err
	}
	if int64(cap(s.raw)) < size {
		s.raw = make([]S, size)
	}
	s.raw = s.raw[:size]
	var stride grid.Dims
	j.strides(&stride, &b.count)
	special, err := h.readStrided(ctx, convert.Bytes(s.raw), &b.start, &b.count, &stride)
	if err != nil {
		return err
	}
	if few && special && j.wholeItems(&b) {
		one, s.raw = true, s.raw[:1]
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
	reduceBox(j, s, k)
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

// setOrder sets the order of the items of a box: that of the array, because reading items in another order takes
// longer. It is that of r if a kernel uses positions, or if the innermost axis of the array is neither reduced nor the
// last one of the result. Otherwise reduced axes that are flipped also run as those of the array.
func (j *reduction) setOrder(placed bool) {
	j.order = make([]int, len(j.shape))
	for i := range j.order {
		j.order[i] = i
	}
	if placed {
		return
	}
	j.turn()
	stored := slices.Clone(j.order)
	slices.SortStableFunc(stored, func(a, b int) int { return cmp.Compare(j.storedAxis(a), j.storedAxis(b)) })
	long := func(i int) bool { return j.shape[i] > 1 }
	last := slices.DeleteFunc(slices.Clone(j.order), func(i int) bool { return j.reduced[i] || !long(i) })
	inner := slices.DeleteFunc(slices.Clone(stored), func(i int) bool { return !long(i) })
	if n := len(inner) - 1; n >= 0 && (j.reduced[inner[n]] || inner[n] == last[len(last)-1]) {
		j.order = stored
	}
}

// turn makes the reduced axes of a flipped view run as those of the array. It leaves a view that repeats or converts
// items as it is, because its boxes are those of r.
func (j *reduction) turn() {
	m := &j.h.m
	if m.Repeats() || !m.Convert.None() {
		return
	}
	for i := range m.Ndim {
		if x := &m.Axes[i]; x.Step < 0 && j.reduced[i] {
			x.Start += (x.Count - 1) * x.Step
			x.Step = -x.Step
		}
	}
}

// storedAxis returns the axis of the array along which an axis of r runs. An axis inside items is the last one.
func (j *reduction) storedAxis(i int) int {
	x := &j.h.m.Axes[i]
	if x.Bytes != 0 {
		return grid.MaxDims
	}
	return int(x.Axis)
}

// strides sets stride to the distances of the items of a box in memory.
func (j *reduction) strides(stride, count *grid.Dims) {
	n := int64(1)
	for _, i := range slices.Backward(j.order) {
		stride[i] = n
		n *= count[i]
	}
}

// loops appends the fewest loops over the items of a box to out, which is empty, the innermost first.
func (j *reduction) loops(out []loop, b Box, placed bool) []loop {
	var cellAt grid.Dims
	cell := int64(1)
	for i, n := range slices.Backward(b.Shape) {
		if !j.reduced[i] {
			cellAt[i] = cell
			cell *= n
		}
	}
	for _, i := range slices.Backward(j.order) {
		x := loop{n: b.Shape[i], reduced: j.reduced[i], cell: cellAt[i]}
		if x.reduced {
			x.at = j.itemAt[i]
		}
		if x.n == 1 && !(x.reduced && placed) {
			continue
		}
		if k := len(out) - 1; k >= 0 && out[k].reduced == x.reduced {
			if y := &out[k]; x.reduced && (!placed || x.at == y.at*y.n) || !x.reduced && x.cell == y.cell*y.n {
				y.n *= x.n
				continue
			}
		}
		out = append(out, x)
	}
	if len(out) == 0 || !out[0].reduced && out[0].cell != 1 { // Lane needs adjacent cells
		out = slices.Insert(out, 0, loop{n: 1, reduced: true, at: 1})
	}
	return out
}

// cursor is the position of several loops, the innermost first.
type cursor struct {
	loops    []loop
	count    grid.Dims
	cell, at int64
}

// next moves to the next position.
func (c *cursor) next() {
	for i := range c.loops {
		x := &c.loops[i]
		c.count[i]++
		c.cell += x.cell
		c.at += x.at
		if c.count[i] < x.n {
			break
		}
		c.cell -= x.cell * x.n
		c.at -= x.at * x.n
		c.count[i] = 0
	}
}

// reduceBox reduces the items of a portion.
func reduceBox[S, T scalar, A any](j *reduction, s *portion[S, T, A], k *reduce.Kernel[T, A]) {
	var buf [grid.MaxDims]loop
	var counts grid.Dims
	loops := j.loops(buf[:0], s.box, k.Placed)
	inner, outer := loops[0], loops[1:]
	cells, items := s.cells, s.items
	cell, at := int64(0), j.position(s.box)
	if j.short(loops, k.Serial, k.Short) {
		n := outer[0].n
		for c := (cursor{loops: outer[1:], at: at}); len(items) > 0; items = items[n*inner.n:] {
			s.reduceShort(cells[c.cell:c.cell+n], items[:n*inner.n], c.at, k)
			c.next()
		}
		return
	}
	count := counts[:len(outer)]
	for ; len(items) > 0; items = items[inner.n:] {
		if inner.reduced {
			k.Row(&cells[cell], items[:inner.n], at)
		} else {
			k.Lane(cells[cell:cell+inner.n], items[:inner.n], at)
		}
		// This is cursor.next with its numbers in registers. Calling it makes sums of short rows 25% slower.
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

// short reports whether the items of the innermost loop are so few that a call of Row for them takes longer than adding
// them with Lane, and whether the result is the same.
func (j *reduction) short(loops []loop, serial bool, short int64) bool {
	const most = 4
	if len(loops) < 2 || loops[0].n > most || loops[1].n < loops[0].n || !loops[0].reduced || loops[1].reduced || loops[1].cell != 1 {
		return false
	}
	if !serial && loops[0].n <= short {
		serial = !slices.ContainsFunc(loops[1:], func(x loop) bool { return x.reduced }) // cells are empty
	}
	return serial
}

// reduceShort adds short rows of items, one to each cell, with Lane.
func (s *portion[S, T, A]) reduceShort(cells []A, items []T, at int64, k *reduce.Kernel[T, A]) {
	const span = 512 // cells at a time
	n := len(items) / len(cells)
	for len(cells) > 0 {
		m := min(len(cells), span)
		for i := range n {
			s.lane = s.lane[:0]
			for x := i; x < m*n; x += n {
				s.lane = append(s.lane, items[x])
			}
			k.Lane(cells[:m], s.lane, at+int64(i))
		}
		cells, items = cells[m:], items[m*n:]
	}
}

// eachRun calls f for the cells of a box that are contiguous in the result: n cells from cell at of the result and cell
// from of the box.
func (j *reduction) eachRun(b Box, f func(at, from, n int64)) {
	var buf [grid.MaxDims]int
	axes := buf[:0] // of the result
	to, size := int64(0), int64(1)
	for i, at := range b.Start {
		if !j.reduced[i] {
			axes = append(axes, i)
			to += at * j.cellAt[i]
			size *= b.Shape[i]
		}
	}
	run := int64(1)
	if n := len(axes); n > 0 {
		run = b.Shape[axes[n-1]]
		axes = axes[:n-1]
	}
	var count grid.Dims
	for from := int64(0); from < size; from += run {
		f(to, from, run)
		for i := len(axes) - 1; i >= 0; i-- {
			step := j.cellAt[axes[i]]
			count[i]++
			if to += step; count[i] < b.Shape[axes[i]] {
				break
			}
			to -= step * count[i]
			count[i] = 0
		}
	}
}

// wholeItems reports whether a box has at most one part of each item of the array.
func (j *reduction) wholeItems(b *box) bool {
	for i := range j.h.m.Ndim {
		if j.h.m.Axes[i].Bytes != 0 && b.count[i] > 1 {
			return false
		}
	}
	return true
}

// special reports whether all items of a box are the item that a special chunk repeats.
func (j *reduction) special(ctx context.Context, b *box) (bool, error) {
	h := j.h
	if h.a.engine.Options().Postfilter != nil || !j.wholeItems(b) {
		return false, nil
	}
	plan := h.plan(&b.start, &b.count, new(grid.Dims))
	if plan.Chunks != 1 {
		return false, nil
	}
	var part selection.ChunkPart
	plan.Seek(&part, 0)
	info, err := h.v.ChunkInfo(ctx, int(part.Number))
	return err == nil && info.Special != chunk.Regular, err
}
