package ndarray

import (
	"context"
	"fmt"
	"math"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/ndcopy"
)

// readLists reads a selection with lists into dst. Each chunk is decoded once, whatever the order of the lists.
func (a *Array) readLists(ctx context.Context, v frame.View, st *state, m *mapping, s *selection, sel []Index, dst []byte) error {
	r := &listReading{plan: a.listPlan(st, m, s, sel), dst: dst, path: a.f.Path()}
	n := r.plan.blockCount() // of the axes that are sliced
	for i := range r.plan.lists {
		n = min(n*int64(len(r.plan.lists[i].points)), math.MaxInt32)
	}
	return v.Decode(ctx, r, n, int(st.geo.blockBytes))
}

// listPlan makes the plan of a selection of the array, or of what a mapping shows of it.
func (a *Array) listPlan(st *state, m *mapping, s *selection, sel []Index) *listPlan {
	if m == nil {
		whole := identity(st.geo, a.dtype)
		m = &whole
	}
	return newListPlan(st.geo, m, s, sel)
}

// listReading is the engine.ReadPlan that reads a selection with lists.
type listReading struct {
	plan *listPlan
	walk listWalk
	dst  []byte
	path string // for errors
}

// listVisit is the state of a chunk that is being decoded.
type listVisit struct {
	part    listPart
	special readVisit
}

// listWalk goes through the chunks of a listPlan.
type listWalk struct {
	at      listPart // the last chunk
	started bool
}

// next sets part to the next chunk, or returns false after the last one.
func (w *listWalk) next(p *listPlan, part *listPart) bool {
	if !w.started {
		w.started = true
		p.first(&w.at)
	} else if !p.next(&w.at) {
		return false
	}
	*part = w.at
	return true
}

// Next implements engine.ReadPlan.
func (r *listReading) Next(v *engine.Visit) bool {
	part := &stateOf[listVisit](v).part
	if !r.walk.next(r.plan, part) {
		return false
	}
	v.Chunk = int(part.number)
	// A list of very many blocks is not worth its memory: then all are decoded.
	const most = 1 << 16
	if min(r.plan.touched(part, most), r.plan.geo.blocks) <= most {
		v.Blocks = r.plan.appendBlocks(v.Blocks, part)
	}
	return true
}

// Block implements engine.ReadPlan.
func (r *listReading) Block(b *engine.Block, v *engine.Visit, k, _, n int) {
	m := listMoverOf(b)
	m.plan, m.user, m.toBlock, m.one = r.plan, r.dst, false, false
	m.some = r.plan.box(&m.part, &v.State.(*listVisit).part, int32(k))
	b.ItemSize, b.Need = r.plan.itemSize(), 0
	if r.plan.inside {
		b.ItemSize = 0
	}
	if m.some {
		b.Need = min(r.plan.end(&m.part), n)
	}
}

// Special implements engine.ReadPlan.
func (r *listReading) Special(v *engine.Visit, s chunk.Special, value []byte, _, _ int) error {
	visit, g := v.State.(*listVisit), r.plan.geo
	item, err := visit.special.specialItem(s, value, int(g.itemSize))
	if err != nil {
		return &frame.Error{Path: r.path, Part: "chunk", Chunk: v.Chunk, Off: -1, Err: err}
	}
	m := &listMover{plan: r.plan, user: r.dst}
	if r.plan.inside {
		// The place in the item matters: make a block of it.
		block := make([]byte, g.blockBytes)
		ndcopy.Fill(block, item)
		for _, k := range r.plan.appendBlocks(nil, &visit.part) {
			m.some = r.plan.box(&m.part, &visit.part, k)
			if err := m.Move(block, false); err != nil {
				return err
			}
		}
		return nil
	}
	r.plan.chunkBox(&m.part, &visit.part)
	m.some, m.one = true, true
	return m.Move(item, false)
}

// writeLists encodes the chunks that a selection with lists touches, each once.
func (a *Array) writeLists(ctx context.Context, b *frame.Batch, st *state, m *mapping, s *selection, sel []Index, w *listWriting) error {
	if s.items == 0 {
		return ctx.Err()
	}
	if n := s.place.points[0]; w.one && n > numbersListed(sel) && (n > math.MaxInt64/16 || a.f.CheckAlloc(16*n) != nil) {
		return fmt.Errorf("ndarray: %w: index arrays broadcast to %d items, with 16 bytes each: raise Options.MaxBytes", ErrTooLarge, n)
	}
	w.plan = a.listPlan(st, m, s, sel)
	return a.encode(ctx, b, st, w, 0)
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

// listWriting is the engine.WritePlan that writes a selection with lists: from src, or src as every item.
type listWriting struct {
	plan *listPlan
	walk listWalk
	src  []byte
	one  bool
}

// Next implements engine.WritePlan.
func (w *listWriting) Next(v *engine.Visit) bool {
	part := stateOf[listPart](v)
	if !w.walk.next(w.plan, part) {
		return false
	}
	v.Chunk = int(part.number)
	v.Keep = w.plan.keep(w.plan.covers(part)) != engine.KeepNone
	return true
}

// Block implements engine.WritePlan.
func (w *listWriting) Block(b *engine.Block, v *engine.Visit, k, _, _ int) {
	m := listMoverOf(b)
	m.plan, m.user, m.toBlock, m.one = w.plan, w.src, true, w.one
	m.some = w.plan.box(&m.part, v.State.(*listPart), int32(k))
	if b.ItemSize, b.Keep = 0, engine.KeepAll; m.some {
		b.Keep = engine.KeepSome
	}
}
