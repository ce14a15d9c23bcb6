package ndarray

import (
	"context"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// ReadBytes reads a selection into dst, in C order, as the items are stored. The length of dst must be the number of
// selected items times DType().Size. Without indexes ReadBytes reads everything. It decodes only the blocks that hold
// selected items, on up to Concurrency goroutines.
//
// Decoding of a block may stop after its last selected item. It then does not run the codec's own check of the rest,
// such as the Adler-32 of zlib, which may also concern the selected items. A block whose items are all selected by
// numbers and spans is decoded to its end. OpenOptions.Verify, in arrays with checksums, and the method Verify find all
// damage.
//
// The error wraps ErrBounds, ErrShape, ErrCorrupt, errors.ErrUnsupported, ErrTooLarge or fs.ErrClosed, or is the error
// of ctx. After an error the contents of dst are undefined.
func (a *Array) ReadBytes(ctx context.Context, dst []byte, sel ...Index) error {
	return a.readBytes(task.Context(ctx), nil, nil, dst, sel)
}

// readBytes reads a selection of the array, or of a view of it if m is not nil. Unless c is nil, dst is the memory of
// values, to which c converts the items.
func (a *Array) readBytes(ctx context.Context, m *selection.Mapping, c *valueReader, dst []byte, sel []Index) error {
	v, st, err := a.view(ctx)
	if err != nil {
		return err
	}
	defer v.Release()
	s, size, err := a.resolve(st, m, sel)
	if err != nil {
		return err
	}
	if c != nil {
		size = c.ValueSize
	}
	if err := checkBuffer(len(dst), &s, size, c != nil); err != nil {
		return err
	}
	if c == nil || c.Cast.None() {
		return a.readSelection(ctx, v, st, m, &s, sel, dst)
	}
	if c.Direct && len(dst) <= smallCast {
		err := a.readSelection(ctx, v, st, m, &s, sel, dst)
		if err == nil {
			c.Cast.Run(dst, dst)
		}
		return err
	}
	var with selection.Mapping
	return a.readSelection(ctx, v, st, c.mapping(&with, a, st, m), &s, sel, dst)
}

// resolve applies indexes to the array, or to a view of it if m is not nil. It also returns the size of the items.
func (a *Array) resolve(st *state, m *selection.Mapping, sel []Index) (s selection.Selection, itemSize int, err error) {
	if m == nil {
		s, err = selection.Resolve(st.rec.Shape, sel)
		return s, a.itemSize, err
	}
	if err := m.Check(st.geo); err != nil {
		return s, 0, err
	}
	var buf grid.Dims
	s, err = selection.Resolve(m.Shape(&buf), sel)
	return s, m.Dtype.Size, err
}

// SelectionShape returns the shape of a selection, in the order of its axes, without reading items. Use it to find the
// length of a buffer, or to reject a selection that is too large. The product of the lengths is the number of items,
// which fits an int64. The error wraps ErrBounds, or ErrTooLarge for a selection of more than 2^63-1 items.
func (a *Array) SelectionShape(sel ...Index) ([]int64, error) {
	s, err := selection.Resolve(a.now().rec.Shape, sel)
	if err != nil {
		return nil, err
	}
	return slices.Clone(s.Shape()), nil
}

// SelectionMemory returns how many bytes of memory a read of a selection takes for its index arrays at most, besides
// the items: 16 for each item that they list after broadcasting, and 8 for each true value of a mask that is broadcast
// to several dimensions, or math.MaxInt64 if that is less. It is 0 without index arrays, and for a selection of no
// items. Use it to reject selections of others: MaxBytes does not limit this memory. Errors are those of
// SelectionShape.
func (a *Array) SelectionMemory(sel ...Index) (int64, error) {
	s, err := selection.Resolve(a.now().rec.Shape, sel)
	if err != nil || s.Items == 0 {
		return 0, err
	}
	return s.ListAxes.Memory(sel), nil
}

// checkBuffer returns ErrShape unless a buffer of n bytes has the size of the selection. If values is set, the buffer
// has values, and the error counts items.
func checkBuffer(n int, s *selection.Selection, itemSize int, values bool) error {
	if want, err := grid.ByteSize(s.Items, int64(itemSize)); err != nil {
		return err
	} else if n != want {
		// The shape is cloned so that selections do not escape to the heap.
		of := fmt.Sprint("a selection of shape ", slices.Clone(s.Shape()))
		return &lengthError{what: "buffer", have: int64(n), want: int64(want), itemSize: itemSize, of: of, items: values}
	}
	return nil
}

// checkAlloc returns the size of items in bytes. It returns ErrTooLarge unless the size of the frame justifies this
// memory. what names the items in the error. size is the size of an item, as it is stored or as a value.
func (a *Array) checkAlloc(ctx context.Context, what string, items int64, size int) (int, error) {
	n, err := grid.ByteSize(items, int64(size))
	if err != nil {
		return 0, err
	}
	if err := a.engine.CheckAlloc(ctx, int64(n)); err != nil {
		return 0, a.fault("cannot allocate %s: %w", what, err)
	}
	return n, nil
}

// readSelection reads a selection that was resolved from sel into dst.
func (a *Array) readSelection(ctx context.Context, v engine.View, st *state, m *selection.Mapping, s *selection.Selection, sel []Index, dst []byte) error {
	if s.Items == 0 {
		return ctx.Err()
	}
	if s.ListAxes.Lists > 0 {
		return a.readLists(ctx, v, st, m, s, sel, dst)
	}
	r := a.reading()
	setPlan(&r.plan, st, m, s)
	err := r.run(ctx, v, dst)
	a.reads.Put(r)
	return err
}

// readItem reads the item at a position into dst, converted by c unless that is nil. It decodes into memory of the
// reading, so that dst does not escape to the heap.
func (a *Array) readItem(ctx context.Context, m *selection.Mapping, c *valueReader, dst []byte, at []int64) error {
	v, st, err := a.view(ctx)
	if err != nil {
		return err
	}
	defer v.Release()
	shape := st.rec.Shape
	if m != nil {
		var buf grid.Dims
		shape = m.Shape(&buf)
		if err := m.Check(st.geo); err != nil {
			return err
		}
	}
	s, err := selection.ResolvePoint(shape, at)
	if err != nil {
		return err
	}
	r := a.reading()
	r.item = slices.Grow(r.item[:0], len(dst))[:len(dst)]
	var with selection.Mapping
	swap := c != nil && c.Direct && !c.Cast.None()
	if !swap {
		m = c.mapping(&with, a, st, m)
	}
	setPlan(&r.plan, st, m, &s)
	err = r.run(ctx, v, r.item)
	if swap {
		c.Cast.Run(r.item, r.item)
	}
	copy(dst, r.item)
	a.reads.Put(r)
	return err
}

// reading returns an unused reading.
func (a *Array) reading() *reading {
	if r, ok := a.reads.Get().(*reading); ok {
		return r
	}
	return &reading{f: a.f}
}

// setPlan plans the read or write of a selection of the array, or of a view of it if m is not nil.
func setPlan(p *selection.Plan, st *state, m *selection.Mapping, s *selection.Selection) {
	if m == nil {
		*p = selection.NewPlan(st.geo, s)
		return
	}
	var stride grid.Dims
	s.Strides(&stride)
	*p = m.Plan(st.geo, &s.Axes, &stride)
}

// run reads the planned selection into dst.
func (r *reading) run(ctx context.Context, v engine.View, dst []byte) error {
	r.dst, r.next, r.special = dst, 0, false
	err := v.Decode(ctx, r, r.plan.BlockCount(), int(r.plan.Geo.BlockBytes))
	r.dst, r.plan.Geo = nil, nil
	return err
}

// reading is the engine.ReadPlan of a selection.
type reading struct {
	plan selection.Plan
	next int64 // next chunk of the plan
	dst  []byte
	f    *frame.Frame // for errors
	item []byte       // memory for reading a single item

	special bool // the plan has one chunk, which is special
}

// readVisit is the state of a reading for a chunk that is being decoded.
type readVisit struct {
	part selection.ChunkPart
	item []byte // memory for the repeated item of a special chunk
}

// Next implements engine.ReadPlan.
func (r *reading) Next(v *engine.Visit) bool {
	if r.next == r.plan.Chunks {
		return false
	}
	part := &engine.StateOf[readVisit](v).part
	r.plan.Seek(part, r.next)
	r.next++
	v.Chunk = int(part.Number)
	// A very long list of blocks would take too much memory. Without a list, all blocks are decoded.
	if g := r.plan.Geo; min(part.Items, g.Blocks) <= 1<<16 {
		v.Blocks = r.plan.AppendBlocks(v.Blocks, part)
	}
	return true
}

// Block implements engine.ReadPlan.
func (r *reading) Block(b *engine.Block, v *engine.Visit, k, _, n int) {
	r.plan.Read(b, &v.State.(*readVisit).part, k, n, r.dst)
}

// Special implements engine.ReadPlan.
func (r *reading) Special(v *engine.Visit, s chunk.Special, value []byte, typeSize, _ int) error {
	visit := v.State.(*readVisit)
	item, err := r.specialItem(v, s, value, typeSize)
	if err != nil {
		return err
	}
	if r.plan.Chunks == 1 {
		r.special = true
	}
	r.plan.Fill(&visit.part, r.dst, item)
	return nil
}

// specialItem is readVisit.specialItem with the location in the error.
func (r *reading) specialItem(v *engine.Visit, s chunk.Special, value []byte, typeSize int) ([]byte, error) {
	item, err := v.State.(*readVisit).specialItem(s, value, typeSize, int(r.plan.Geo.ItemSize))
	if err != nil {
		return nil, chunkError(r.f, v.Chunk, err)
	}
	return item, nil
}

// chunkError adds the location of a chunk to an error.
func chunkError(f *frame.Frame, i int, err error) error {
	return &frame.Error{Path: f.Engine().Name(), Part: "chunk", Chunk: i, Off: -1, Err: err}
}

// specialItem returns the item that a special chunk repeats: value, or memory of v. typeSize is the item size in the
// chunk, which may be a part of an item of the array.
func (v *readVisit) specialItem(s chunk.Special, value []byte, typeSize, itemSize int) ([]byte, error) {
	if s == chunk.Value && len(value) == itemSize {
		return value, nil
	}
	if err := coder.CheckItems(s, len(value), typeSize, itemSize); err != nil {
		return nil, err
	}
	v.item = slices.Grow(v.item[:0], itemSize)[:itemSize]
	coder.FillSpecial(v.item, s, value, typeSize, 0)
	return v.item, nil
}
