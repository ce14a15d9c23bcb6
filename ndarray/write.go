package ndarray

import (
	"context"
	"fmt"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// WriteBytes writes src to a selection, in one commit. src holds the items in C order, as they are stored; its length
// must be the number of selected items times DType().Size. Chunks that are selected in part keep their other items.
// Chunks are compressed with the parameters of the frame, and their blocks on up to Concurrency goroutines. After an
// error the array is unchanged. The error wraps ErrReadOnly, ErrBounds, ErrShape, ErrCorrupt or fs.ErrClosed, or is an
// error of the storage or of ctx.
func (a *Array) WriteBytes(ctx context.Context, src []byte, sel ...Index) error {
	return a.edit(ctx, func(b *Batch) error { return b.write(task.Context(ctx), nil, src, false, sel) })
}

// WriteBytes writes src to a selection. See Array.WriteBytes.
func (b *Batch) WriteBytes(ctx context.Context, src []byte, sel ...Index) error {
	return b.write(task.Context(ctx), nil, src, false, sel)
}

// FillBytes writes one item of DType().Size bytes to all items of a selection, in one commit. See WriteBytes. It also
// returns ErrTooLarge if index arrays broadcast to many more items than the array has, or than OpenOptions.MaxBytes
// allows with 16 bytes each.
func (a *Array) FillBytes(ctx context.Context, item []byte, sel ...Index) error {
	return a.edit(ctx, func(b *Batch) error { return b.FillBytes(ctx, item, sel...) })
}

// FillBytes writes one item to all items of a selection. See Array.FillBytes.
func (b *Batch) FillBytes(ctx context.Context, item []byte, sel ...Index) error {
	if len(item) != b.a.itemSize {
		return fmt.Errorf("ndarray: %w: item has %d bytes, want %d", ErrShape, len(item), b.a.itemSize)
	}
	return b.write(task.Context(ctx), nil, item, true, sel)
}

// write writes src to a selection of the array, or of a view of it if m is not nil. If one is set, src is one item,
// which is written to every selected item.
func (b *Batch) write(ctx context.Context, m *selection.Mapping, src []byte, one bool, sel []Index) error {
	if err := b.refresh(ctx); err != nil {
		return err
	}
	s, size, err := b.a.resolve(b.st, m, sel)
	if err != nil {
		return err
	}
	if !one {
		if err := checkBuffer(len(src), &s, size, false); err != nil {
			return err
		}
	}
	if s.ListAxes.Lists > 0 {
		if one && s.Items > 0 {
			if err := b.a.checkLists(b.st, &s, sel); err != nil {
				return err
			}
		}
		return b.fail(b.a.writeLists(ctx, b.b, b.st, m, &s, sel, &listWriting{src: src, one: one}))
	}
	return b.fail(b.a.writeSelection(ctx, b.b, b.st, m, &s, &writing{src: src, one: one}))
}

// writeSelection encodes the chunks that hold items of a selection of the array, or of a view of it if m is not nil.
func (a *Array) writeSelection(ctx context.Context, b *frame.Batch, st *state, m *selection.Mapping, s *selection.Selection, w *writing) error {
	if s.Items == 0 {
		return ctx.Err()
	}
	setPlan(&w.plan, st, m, s)
	return a.encode(ctx, b, st, w, w.size())
}

// encode encodes the chunks of a plan. all is the approximate size of the selected items in bytes, or 0.
func (a *Array) encode(ctx context.Context, b *frame.Batch, st *state, p engine.WritePlan, all int64) error {
	if err := a.checkBlocks(b, st); err != nil {
		return err
	}
	return b.Engine().Encode(ctx, int(st.geo.ChunkBytes), p, all)
}

// checkBlocks returns an error if new chunks would have blocks of another size than those of the array. This includes
// special chunks, which this package could read, but C-Blosc2 could not.
func (a *Array) checkBlocks(b *frame.Batch, st *state) error {
	if have := b.Engine().BlockSize(); int64(have) != st.geo.BlockBytes {
		return a.corrupt("blocks have %d bytes, but new chunks would get blocks of %d; copy the array to edit it", st.geo.BlockBytes, have)
	}
	return nil
}

// writing is the engine.WritePlan of a selection. It writes src, or src as every item.
type writing struct {
	plan selection.Plan
	next int64 // next chunk of the plan
	src  []byte
	one  bool
}

// size returns the size of the selected items, in bytes.
func (w *writing) size() int64 { return w.plan.Items * w.plan.Geo.ItemSize }

// Next implements engine.WritePlan.
func (w *writing) Next(v *engine.Visit) bool {
	if w.next == w.plan.Chunks {
		return false
	}
	part := engine.StateOf[selection.ChunkPart](v)
	w.plan.Seek(part, w.next)
	w.next++
	v.Chunk = int(part.Number)
	v.Keep = w.plan.Keep(part.Whole) != engine.KeepNone
	return true
}

// Block implements engine.WritePlan.
func (w *writing) Block(b *engine.Block, v *engine.Visit, k, _, _ int) {
	w.plan.Write(b, v.State.(*selection.ChunkPart), k, w.src, w.one)
}
