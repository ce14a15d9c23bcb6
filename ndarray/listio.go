package ndarray

import (
	"context"
	"fmt"
	"math"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/filters"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// readLists reads a selection with index arrays into dst. It decodes each chunk once, whatever the order of the items.
func (a *Array) readLists(ctx context.Context, v engine.View, st *state, m *selection.Mapping, s *selection.Selection, sel []Index, dst []byte) error {
	mask, err := selection.NewMaskPlan(ctx, st.geo, m, s, sel)
	if err != nil {
		return err
	}
	if mask != nil {
		return v.Decode(ctx, &maskReading{plan: mask, dst: dst, f: a.f}, min(mask.BlockCount(), s.Items), int(st.geo.BlockBytes))
	}
	plan, err := a.listPlan(ctx, st, m, s, sel)
	if err != nil {
		return err
	}
	r := &listReading{plan: plan, dst: dst, f: a.f}
	n := r.plan.BlockCount() // along the sliced axes
	for i := range r.plan.Lists {
		n = min(n*int64(len(r.plan.Lists[i].Points)), math.MaxInt32)
	}
	return v.Decode(ctx, r, n, int(st.geo.BlockBytes))
}

// listPlan returns the plan of a selection of the array, or of a view of it if m is not nil.
func (a *Array) listPlan(ctx context.Context, st *state, m *selection.Mapping, s *selection.Selection, sel []Index) (*selection.ListPlan, error) {
	if m == nil {
		whole := selection.Identity(st.geo, a.dtype)
		m = &whole
	}
	return selection.NewListPlan(ctx, st.geo, m, s, sel)
}

// listReading is the engine.ReadPlan of a selection with index arrays.
type listReading struct {
	plan *selection.ListPlan
	walk listWalk
	dst  []byte
	f    *frame.Frame
}

// listVisit is the state of a listReading for a chunk that is being decoded.
type listVisit struct {
	part    selection.ListPart
	special readVisit
	block   []byte // filled with the item of a special chunk
}

// listWalk iterates over the chunks of a ListPlan.
type listWalk struct {
	at      selection.ListPart // the current chunk
	started bool
}

// next sets part to the next chunk. It returns false after the last one.
func (w *listWalk) next(p *selection.ListPlan, part *selection.ListPart) bool {
	if !w.started {
		w.started = true
		p.First(&w.at)
	} else if !p.Next(&w.at) {
		return false
	}
	*part = w.at
	return true
}

// Next implements engine.ReadPlan.
func (r *listReading) Next(v *engine.Visit) bool {
	part := &engine.StateOf[listVisit](v).part
	if !r.walk.next(r.plan, part) {
		return false
	}
	v.Chunk = int(part.Number)
	// A very long list of blocks would take too much memory. Without a list, all blocks are decoded.
	const most = 1 << 16
	if min(r.plan.Touched(part, most), r.plan.Geo.Blocks) <= most {
		v.Blocks = r.plan.AppendBlocks(v.Blocks, part)
	}
	return true
}

// Block implements engine.ReadPlan.
func (r *listReading) Block(b *engine.Block, v *engine.Visit, k, _, n int) {
	m := engine.MoverOf[selection.ListMover](b)
	m.Plan, m.User, m.ToBlock, m.One = r.plan, r.dst, false, false
	m.Some = r.plan.Box(&m.Part, &v.State.(*listVisit).part, int32(k))
	b.ItemSize, b.Need = r.plan.ItemSize, 0
	if r.plan.Inside {
		b.ItemSize = 0
	}
	if m.Some {
		b.Need = min(r.plan.End(&m.Part), n)
	}
}

// Special implements engine.ReadPlan.
func (r *listReading) Special(v *engine.Visit, s chunk.Special, value []byte, typeSize, _ int) error {
	visit, g := v.State.(*listVisit), r.plan.Geo
	item, err := visit.special.specialItem(s, value, typeSize, int(g.ItemSize))
	if err != nil {
		return chunkError(r.f, v.Chunk, err)
	}
	m := &selection.ListMover{Plan: r.plan, User: r.dst}
	if r.plan.Inside {
		// The mover takes parts of items out of a block, so fill a block with the item.
		if int64(len(visit.block)) != g.BlockBytes {
			if err := r.f.CheckAlloc(g.BlockBytes); err != nil {
				return chunkError(r.f, v.Chunk, err)
			}
			visit.block = make([]byte, g.BlockBytes)
		}
		block := visit.block
		filters.Fill(block, item)
		for _, k := range r.plan.AppendBlocks(nil, &visit.part) {
			m.Some = r.plan.Box(&m.Part, &visit.part, k)
			if err := m.Move(block, false); err != nil {
				return err
			}
		}
		return nil
	}
	r.plan.ChunkBox(&m.Part, &visit.part)
	m.Some, m.One = true, true
	return m.Move(item, false)
}

// checkLists returns ErrTooLarge if writing one item to a selection with index arrays would take too much memory. The
// memory of a created array has no other limit than most items, and a multiple of its bytes and of the listed numbers.
func (a *Array) checkLists(st *state, s *selection.Selection, sel []Index) error {
	const times, most = 4, 1 << 32
	n, listed := s.ListAxes.Points[0], numbersListed(sel)
	if n <= listed {
		return nil
	}
	if n > math.MaxInt64/16 || a.f.CheckAlloc(16*n) != nil {
		return fmt.Errorf("ndarray: %w: index arrays broadcast to %d items, which take 16 bytes each; raise OpenOptions.MaxBytes", ErrTooLarge, n)
	}
	size := st.geo.Items * st.geo.ItemSize
	if a.opts.MaxBytes == 0 && 16*n > coder.FreeBytes && (n > most || n/times-listed > size) {
		return fmt.Errorf("ndarray: %w: index arrays broadcast to %d items, too many for an array of %d", ErrTooLarge, n, st.geo.Items)
	}
	return nil
}

// writeLists encodes the chunks that hold items of a selection with index arrays, each once.
func (a *Array) writeLists(ctx context.Context, b *frame.Batch, st *state, m *selection.Mapping, s *selection.Selection, sel []Index, w *listWriting) (err error) {
	if s.Items == 0 {
		return ctx.Err()
	}
	mask, err := selection.NewMaskPlan(ctx, st.geo, m, s, sel)
	if err != nil {
		return err
	}
	if mask != nil {
		return a.encode(ctx, b, st, &maskWriting{plan: mask, src: w.src, one: w.one}, 0)
	}
	if w.plan, err = a.listPlan(ctx, st, m, s, sel); err != nil {
		return err
	}
	if w.one {
		w.plan.Unique()
	}
	return a.encode(ctx, b, st, w, 0)
}

// numbersListed returns the number of items that the index arrays of a selection list, before broadcasting.
func numbersListed(sel []Index) int64 {
	n := int64(0)
	for _, x := range sel {
		if y, ok := x.(*selection.IndexArray); ok {
			n += y.Count()
		}
	}
	return n
}

// listWriting is the engine.WritePlan of a selection with index arrays. It writes src, or src as every item.
type listWriting struct {
	plan *selection.ListPlan
	walk listWalk
	src  []byte
	one  bool
}

// Next implements engine.WritePlan.
func (w *listWriting) Next(v *engine.Visit) bool {
	part := engine.StateOf[selection.ListPart](v)
	if !w.walk.next(w.plan, part) {
		return false
	}
	v.Chunk = int(part.Number)
	v.Keep = w.plan.Keep(w.plan.Covers(part)) != engine.KeepNone
	return true
}

// Block implements engine.WritePlan.
func (w *listWriting) Block(b *engine.Block, v *engine.Visit, k, _, _ int) {
	m := engine.MoverOf[selection.ListMover](b)
	m.Plan, m.User, m.ToBlock, m.One = w.plan, w.src, true, w.one
	m.Some = w.plan.Box(&m.Part, v.State.(*selection.ListPart), int32(k))
	if b.ItemSize, b.Keep = 0, engine.KeepAll; m.Some {
		b.Keep = engine.KeepSome
	}
}

// maskReading is the engine.ReadPlan of a selection by one mask over all axes.
type maskReading struct {
	plan *selection.MaskPlan
	next int64 // next chunk of the plan
	dst  []byte
	f    *frame.Frame
}

// Next implements engine.ReadPlan.
func (r *maskReading) Next(v *engine.Visit) bool {
	part := &engine.StateOf[readVisit](v).part
	if !r.plan.Next(part, &r.next) {
		return false
	}
	v.Chunk = int(part.Number)
	v.Blocks = r.plan.AppendBlocks(v.Blocks, part)
	return true
}

// Block implements engine.ReadPlan.
func (r *maskReading) Block(b *engine.Block, v *engine.Visit, k, _, n int) {
	m := engine.MoverOf[selection.MaskMover](b)
	b.ItemSize = r.plan.ItemSize
	b.Need = min(m.Set(r.plan, &v.State.(*readVisit).part, int32(k), r.dst, false, false), n)
}

// Special implements engine.ReadPlan.
func (r *maskReading) Special(v *engine.Visit, s chunk.Special, value []byte, typeSize, _ int) error {
	visit := v.State.(*readVisit)
	item, err := visit.specialItem(s, value, typeSize, int(r.plan.Geo.ItemSize))
	if err != nil {
		return chunkError(r.f, v.Chunk, err)
	}
	r.plan.Fill(&visit.part, r.dst, item)
	return nil
}

// maskWriting is the engine.WritePlan of a selection by one mask over all axes. It writes src, or src as every item.
type maskWriting struct {
	plan *selection.MaskPlan
	next int64 // next chunk of the plan
	src  []byte
	one  bool
}

// Next implements engine.WritePlan.
func (w *maskWriting) Next(v *engine.Visit) bool {
	part := engine.StateOf[selection.ChunkPart](v)
	if !w.plan.Next(part, &w.next) {
		return false
	}
	v.Chunk = int(part.Number)
	v.Keep = w.plan.Keep(w.plan.Covers(part)) != engine.KeepNone
	return true
}

// Block implements engine.WritePlan.
func (w *maskWriting) Block(b *engine.Block, v *engine.Visit, k, _, _ int) {
	m := engine.MoverOf[selection.MaskMover](b)
	b.ItemSize, b.Keep = 0, engine.KeepAll
	if m.Set(w.plan, v.State.(*selection.ChunkPart), int32(k), w.src, true, w.one) > 0 {
		b.Keep = engine.KeepSome
	}
}
