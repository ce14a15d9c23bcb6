package ndarray

import (
	"context"
	"fmt"
	"math"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
)

// readLists reads a selection with lists into dst. Each chunk is decoded once, whatever the order of the lists.
func (a *Array) readLists(ctx context.Context, v frame.View, st *state, m *mapping, s *selection, sel []Index, dst []byte) error {
	return v.Decode(ctx, &listReading{plan: a.listPlan(st, m, s, sel), dst: dst, itemSize: a.itemSize, path: a.f.Path()})
}

// listPlan makes the plan of a selection of the array, or of what a mapping shows of it.
func (a *Array) listPlan(st *state, m *mapping, s *selection, sel []Index) *listPlan {
	if m == nil {
		whole := a.identity(st.geo)
		m = &whole
	}
	return newListPlan(st.geo, m, s, sel)
}

// listReading is the frame.Plan that reads a selection with lists.
type listReading struct {
	plan     *listPlan
	dst      []byte
	itemSize int
	path     string // for errors
	cursor   cursor[listPart]
}

// listVisit is what a listReading keeps with each chunk that is being decoded.
type listVisit struct {
	part    listPart
	special readVisit
}

// Blocks implements frame.Plan.
func (r *listReading) Blocks() int64 {
	n := r.plan.blockCount() // of the axes that are sliced
	for i := range r.plan.lists {
		n = min(n*int64(len(r.plan.lists[i].points)), math.MaxInt32)
	}
	return n
}

// BlockSize implements frame.Plan.
func (r *listReading) BlockSize() int { return int(r.plan.geo.blockBytes) }

// Next implements frame.Plan.
func (r *listReading) Next(v *frame.Visit) bool {
	if !r.cursor.step(r.plan) {
		return false
	}
	part := &stateOf[listVisit](v).part
	*part = r.cursor.at
	v.Chunk = int(part.number)
	// A list of very many blocks is not worth its memory: then all are decoded.
	const most = 1 << 16
	if min(r.plan.touched(part, most), r.plan.geo.blocks) <= most {
		v.Blocks = r.plan.appendBlocks(v.Blocks, part)
	}
	return true
}

// Place implements frame.Plan: items never come in whole blocks.
func (r *listReading) Place(v *frame.Visit, k, _, n int) ([]byte, int) {
	var b listBox
	if !r.plan.box(&b, &v.State.(*listVisit).part, int32(k)) {
		return nil, 0
	}
	end := b.end() * int64(r.itemSize)
	for i := range r.plan.lists {
		end += r.plan.lists[i].points[b.to[i]-1].key - b.base[i] // of the last item of the list, as they are sorted
	}
	return nil, int(min(end, int64(n)))
}

// Block implements frame.Plan.
func (r *listReading) Block(v *frame.Visit, k, _ int, data []byte) error {
	var b listBox
	if r.plan.box(&b, &v.State.(*listVisit).part, int32(k)) {
		t := transfer{plan: r.plan, part: &b, dst: r.dst, src: data, itemSize: r.itemSize}
		t.run()
	}
	return nil
}

// Shuffled implements frame.RowPlan: where a block has few of the items, no others are put together.
func (r *listReading) Shuffled(v *frame.Visit, k, _ int, data coder.Shuffled) bool {
	if data.Width() != r.itemSize || r.plan.inside || !r.plan.pieces.plain(r.itemSize) {
		return false
	}
	var b listBox
	if !r.plan.box(&b, &v.State.(*listVisit).part, int32(k)) {
		return true
	}
	n := b.items
	for i := range r.plan.lists {
		if n *= int64(b.to[i] - b.from[i]); n > r.plan.geo.blockItems || !data.RowsPay(int(n), 1) {
			return false
		}
	}
	t := transfer{plan: r.plan, part: &b, dst: r.dst, block: data, apart: true, itemSize: r.itemSize}
	t.run()
	return true
}

// Special implements frame.Plan.
func (r *listReading) Special(v *frame.Visit, s chunk.Special, value []byte, _, _ int) error {
	visit := v.State.(*listVisit)
	item, err := visit.special.specialItem(s, value, r.itemSize)
	if err != nil {
		return &frame.Error{Path: r.path, Part: "chunk", Chunk: v.Chunk, Off: -1, Err: err}
	}
	var b listBox
	if r.plan.inside {
		// The place in the item matters: make a block of it.
		block := make([]byte, r.plan.geo.blockBytes)
		repeat(block, item)
		for _, k := range r.plan.appendBlocks(nil, &visit.part) {
			if err := r.Block(&frame.Visit{State: visit}, int(k), 0, block); err != nil {
				return err
			}
		}
		return nil
	}
	r.plan.chunkBox(&b, &visit.part)
	t := transfer{plan: r.plan, part: &b, dst: r.dst, src: item, itemSize: r.itemSize, one: true}
	t.run()
	return nil
}

// writeLists encodes the chunks that a selection with lists touches, each once.
func (a *Array) writeLists(ctx context.Context, b *frame.Batch, st *state, m *mapping, s *selection, sel []Index, w *listWriting) error {
	if s.items == 0 {
		return ctx.Err()
	}
	if n := s.place.points[0]; w.one && n > numbersListed(sel) && (n > math.MaxInt64/16 || a.f.CheckAlloc(16*n) != nil) {
		return fmt.Errorf("ndarray: %w: index arrays broadcast to %d items, with 16 bytes each: raise Options.MaxBytes", ErrTooLarge, n)
	}
	w.plan, w.itemSize = a.listPlan(st, m, s, sel), a.itemSize
	return a.encode(ctx, b, st, w)
}

// numbersListed returns how many numbers the index arrays of a selection have.
func numbersListed(sel []Index) int64 {
	n := int64(0)
	for _, x := range sel {
		if y, ok := x.(*indexArray); ok {
			n += y.count()
		}
	}
	return n
}

// listWriting is the frame.Source that writes a selection with lists: from src, or src as one item everywhere.
type listWriting struct {
	plan     *listPlan
	src      []byte
	one      bool
	itemSize int
	cursor   cursor[listPart]
}

// writeVisit is what a listWriting keeps with each chunk that is being encoded.
type writeVisit struct {
	part  listPart
	fresh bool // all items of the chunk are written
}

// Next implements frame.Source.
func (w *listWriting) Next(v *frame.Visit) (keep, ok bool) {
	if !w.cursor.step(w.plan) {
		return false, false
	}
	visit := stateOf[writeVisit](v)
	visit.part, visit.fresh = w.cursor.at, w.plan.pieces.size == w.itemSize && w.plan.covers(&w.cursor.at)
	v.Chunk = int(visit.part.number)
	return !visit.fresh, true
}

// Keeps implements frame.Keeper.
func (w *listWriting) Keeps(v *frame.Visit, k int) frame.Part {
	var b listBox
	if !w.plan.box(&b, &v.State.(*writeVisit).part, int32(k)) {
		return frame.KeepAll
	}
	return frame.KeepSome
}

// Block implements frame.Source.
func (w *listWriting) Block(v *frame.Visit, k, _ int, dst []byte) ([]byte, error) {
	visit := v.State.(*writeVisit)
	if visit.fresh {
		clear(dst) // the padding
	}
	var b listBox
	if w.plan.box(&b, &visit.part, int32(k)) {
		t := transfer{plan: w.plan, part: &b, dst: dst, src: w.src, itemSize: w.itemSize, toBlock: true, one: w.one}
		t.run()
	}
	return dst, nil
}
