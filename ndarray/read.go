package ndarray

import (
	"context"
	"fmt"
	"math"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
)

// ReadBytes reads a selection into dst, which must have its number of items times ItemSize bytes: the items in C
// order, as they are stored. No index reads everything. Only the blocks that the selection touches are decoded, on
// up to Options.Concurrency goroutines. Errors are ErrBounds, ErrShape, ErrCorrupt, ErrUnsupported, ErrTooLarge,
// ErrClosed, or that of ctx; the content of dst is then undefined.
func (a *Array) ReadBytes(ctx context.Context, dst []byte, sel ...Index) error {
	v, st, err := a.view()
	if err != nil {
		return err
	}
	defer v.Release()
	s, err := resolve(st.rec.Shape, sel)
	if err != nil {
		return err
	}
	if err := a.checkBuffer(len(dst), &s); err != nil {
		return err
	}
	return a.read(ctx, v, st, &s, dst)
}

// SelectionShape returns the shape of what a selection reads or writes. Errors are ErrBounds and ErrTooLarge.
func (a *Array) SelectionShape(sel ...Index) ([]int64, error) {
	s, err := resolve(a.now().rec.Shape, sel)
	if err != nil {
		return nil, err
	}
	return append([]int64{}, s.shape()...), nil
}

// checkBuffer compares the length of a buffer with a selection.
func (a *Array) checkBuffer(n int, s *selection) error {
	if want, err := byteSize(s.items, int64(a.itemSize)); err != nil {
		return err
	} else if n != want {
		return fmt.Errorf("%w: a buffer of %d bytes for a selection of shape %v with items of %d bytes", ErrShape, n, s.shape(), a.itemSize)
	}
	return nil
}

// allocLimit tells whether n bytes may be set aside because the array has so many items.
func (a *Array) allocLimit(s *selection) (int, error) {
	n, err := byteSize(s.items, int64(a.itemSize))
	if err != nil {
		return 0, err
	}
	if limit := a.f.AllocLimit(); int64(n) > limit {
		return 0, fmt.Errorf("%w: a selection of %d bytes out of a small file, more than %d: raise Options.MaxBytes or read into memory of your own", ErrTooLarge, n, limit)
	}
	return n, nil
}

func (a *Array) read(ctx context.Context, v frame.View, st *state, s *selection, dst []byte) error {
	if s.items == 0 {
		return ctx.Err()
	}
	r, ok := a.reads.Get().(*reading)
	if !ok {
		r = &reading{itemSize: a.itemSize}
	}
	r.plan, r.dst, r.started = newPlan(st.geo, s), dst, false
	err := v.Decode(ctx, r)
	r.dst, r.plan.geo = nil, nil
	a.reads.Put(r)
	return err
}

// reading is the frame.Plan that reads a selection.
type reading struct {
	plan     plan
	dst      []byte
	itemSize int
	cursor   chunkPart // the last chunk handed out
	started  bool
}

// Blocks implements frame.Plan.
func (r *reading) Blocks() int64 { return r.plan.blockCount() }

// BlockSize implements frame.Plan.
func (r *reading) BlockSize() int { return int(r.plan.geo.blockBytes) }

// Next implements frame.Plan.
func (r *reading) Next(v *frame.Visit) bool {
	if r.started {
		if !r.plan.next(&r.cursor) {
			return false
		}
	} else if !r.plan.first(&r.cursor) {
		return false
	}
	r.started = true
	part, ok := v.State.(*chunkPart)
	if !ok {
		part = new(chunkPart)
		v.State = part
	}
	*part = r.cursor
	v.Chunk = int(part.number)
	// A list of very many blocks is not worth its memory: then all are decoded.
	if g := r.plan.geo; min(part.items, g.blocks) <= 1<<16 {
		v.Blocks = r.plan.appendBlocks(v.Blocks, part)
	}
	return true
}

// Place implements frame.Plan: a block that is one run of the result is decoded into it.
func (r *reading) Place(v *frame.Visit, k, _, n int) []byte {
	var b box
	if r.plan.box(&b, v.State.(*chunkPart), int32(k)) && b.direct {
		at := int(b.user.offset) * r.itemSize
		return r.dst[at : at+n : at+n]
	}
	return nil
}

// Block implements frame.Plan.
func (r *reading) Block(v *frame.Visit, k, _ int, data []byte) error {
	var b box
	if r.plan.box(&b, v.State.(*chunkPart), int32(k)) {
		b.toUser(r.dst, data, r.itemSize)
	}
	return nil
}

// Special implements frame.Plan.
func (r *reading) Special(v *frame.Visit, s chunk.Special, value []byte, _, _ int) error {
	item, err := specialItem(s, value, r.itemSize)
	if err != nil {
		return err
	}
	var b box
	r.plan.chunkBox(&b, v.State.(*chunkPart))
	b.fillUser(r.dst, item)
	return nil
}

// specialItem returns the item that a special chunk repeats.
func specialItem(s chunk.Special, value []byte, itemSize int) ([]byte, error) {
	if s == chunk.Value && len(value) == itemSize {
		return value, nil
	}
	if s == chunk.Value && itemSize%len(value) != 0 || s == chunk.NaNs && itemSize != 4 && itemSize != 8 {
		return nil, fmt.Errorf("%v chunk with %d bytes for items of %d: %w", s, len(value), itemSize, ErrCorrupt)
	}
	item := make([]byte, itemSize)
	chunk.FillSpecial(item, s, value, itemSize, 0)
	return item, nil
}

// blockCount returns how many blocks the plan touches, roughly.
func (p *plan) blockCount() int64 {
	n := int64(1)
	for i := range p.geo.ndim {
		a := &p.axes[i]
		along := min(a.count, (a.count-1)*a.step/p.geo.blockShape[i]+a.chunks+1)
		if first, last := a.first, a.first+(a.count-1)*a.step; a.chunks == 1 {
			origin := first / p.geo.chunkShape[i] * p.geo.chunkShape[i]
			along = min(along, (last-origin)/p.geo.blockShape[i]-(first-origin)/p.geo.blockShape[i]+1)
		}
		if n = n * along; n > math.MaxInt32 {
			return math.MaxInt32
		}
	}
	return n
}
