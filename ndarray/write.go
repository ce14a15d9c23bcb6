package ndarray

import (
	"context"
	"fmt"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/task"
)

// WriteBytes writes src to a selection, in one commit: its items in C order, as ReadBytes gives them. Chunks that
// are selected only in part keep their other items. Chunks are compressed with the frame's parameters, their blocks
// on up to Options.Concurrency goroutines. When it fails, the array is as it was. Errors are ErrReadOnly, ErrBounds,
// ErrShape, ErrCorrupt, ErrClosed, those of writing, or that of ctx.
func (a *Array) WriteBytes(ctx context.Context, src []byte, sel ...Index) error {
	return a.edit(ctx, func(b *Batch) error { return b.WriteBytes(ctx, src, sel...) })
}

// WriteBytes writes src to a selection. See Array.WriteBytes.
func (b *Batch) WriteBytes(ctx context.Context, src []byte, sel ...Index) error {
	ctx = task.Context(ctx)
	if err := b.refresh(); err != nil {
		return err
	}
	s, err := resolve(b.st.rec.Shape, sel)
	if err != nil {
		return err
	}
	if err := checkBuffer(len(src), &s, b.a.itemSize); err != nil {
		return err
	}
	if s.place.lists > 0 {
		return b.fail(b.a.writeLists(ctx, b.b, b.st, nil, &s, sel, &listWriting{src: src}))
	}
	return b.fail(b.a.write(ctx, b.b, b.st, &s, &writing{src: src}))
}

// FillBytes writes the same item to all items of a selection, in one commit. See WriteBytes.
func (a *Array) FillBytes(ctx context.Context, item []byte, sel ...Index) error {
	return a.edit(ctx, func(b *Batch) error { return b.FillBytes(ctx, item, sel...) })
}

// FillBytes writes the same item to all items of a selection. See Array.FillBytes.
func (b *Batch) FillBytes(ctx context.Context, item []byte, sel ...Index) error {
	ctx = task.Context(ctx)
	if len(item) != b.a.itemSize {
		return fmt.Errorf("ndarray: %w: an item of %d bytes for an array with items of %d", ErrShape, len(item), b.a.itemSize)
	}
	if err := b.refresh(); err != nil {
		return err
	}
	s, err := resolve(b.st.rec.Shape, sel)
	if err != nil {
		return err
	}
	if s.place.lists > 0 {
		return b.fail(b.a.writeLists(ctx, b.b, b.st, nil, &s, sel, &listWriting{src: item, one: true}))
	}
	return b.fail(b.a.write(ctx, b.b, b.st, &s, &writing{item: item}))
}

// write encodes the chunks that a selection touches.
func (a *Array) write(ctx context.Context, b *frame.Batch, st *state, s *selection, w *writing) error {
	if s.items == 0 {
		return ctx.Err()
	}
	w.itemSize, w.plan = a.itemSize, newPlan(st.geo, s)
	return a.encode(ctx, b, st, w)
}

// encode encodes the chunks that a source gives.
func (a *Array) encode(ctx context.Context, b *frame.Batch, st *state, src frame.Source) error {
	if have := b.View().Info().BlockSize; int64(have) != st.geo.blockBytes {
		return a.corrupt("blocks of %d bytes, but new chunks would get blocks of %d: make a copy", st.geo.blockBytes, have)
	}
	return b.Encode(ctx, int(st.geo.chunkBytes), src)
}

// writing is the frame.Source that writes a selection: from src, or one item everywhere.
type writing struct {
	plan     plan
	src      []byte
	item     []byte
	itemSize int
	cursor   cursor[chunkPart]
}

// Next implements frame.Source.
func (w *writing) Next(v *frame.Visit) (keep, ok bool) {
	if !w.cursor.step(&w.plan) {
		return false, false
	}
	part := stateOf[chunkPart](v)
	*part = w.cursor.at
	v.Chunk = int(part.number)
	return !part.whole, true
}

// Size implements frame.Sizer.
func (w *writing) Size() int64 { return w.plan.items * int64(w.itemSize) }

// Keeps implements frame.Keeper.
func (w *writing) Keeps(v *frame.Visit, k int) frame.Part {
	var b box
	switch some := w.plan.box(&b, v.State.(*chunkPart), int32(k)); {
	case !some:
		return frame.KeepAll
	case b.whole:
		return frame.KeepNone
	}
	return frame.KeepSome
}

// Block implements frame.Source.
func (w *writing) Block(v *frame.Visit, k, _ int, dst []byte) ([]byte, error) {
	part := v.State.(*chunkPart)
	var b box
	some := w.plan.box(&b, part, int32(k))
	if some && b.direct && w.item == nil {
		at := int(b.user.offset) * w.itemSize
		return w.src[at : at+len(dst)], nil
	}
	if (part.whole || some && b.whole) && !(some && b.items == w.plan.geo.blockItems) {
		clear(dst) // the padding
	}
	switch {
	case !some:
	case w.item != nil:
		b.fillBlock(dst, w.item)
	default:
		b.toBlock(dst, w.src, w.itemSize)
	}
	return dst, nil
}

// Shuffle implements frame.RowSource. A block that is one run of src is as fast without.
func (w *writing) Shuffle(v *frame.Visit, k, _ int, dst coder.Shuffled) bool {
	var b box
	if w.item != nil || dst.Width() != w.itemSize || !w.plan.box(&b, v.State.(*chunkPart), int32(k)) || b.direct {
		return false
	}
	var l loops
	l.nest(&b.block, &b.user, &b.count, b.ndim, w.itemSize)
	return l.shuffle(dst, w.src, int(b.items))
}
