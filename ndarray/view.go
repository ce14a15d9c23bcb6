package ndarray

import (
	"context"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// View shows an array in another way: a part of it, its axes in another order, or one field of its items. It holds no
// items: a read decodes the blocks of the array that it needs, each once, and puts the items where they belong. Views
// of views refer to the array as well, not to each other.
//
// A view shows what the array holds when it is read, later commits included, but which places it shows does not
// change: when the array grows, the view does not, and when the array became too small for the view, reading gives
// ErrBounds. It needs no Close; closing the array ends it. It may be used by any number of goroutines.
type View struct {
	a *Array
	m mapping
}

// Array returns the array that the view shows.
func (v *View) Array() *Array { return v.a }

// Shape returns the shape in items, the first axis first. It is the caller's.
func (v *View) Shape() []int64 {
	var buf dims
	return slices.Clone(v.m.shape(&buf))
}

// NDim returns the number of dimensions.
func (v *View) NDim() int { return v.m.ndim }

// Size returns the number of items.
func (v *View) Size() int64 {
	var buf dims
	n, _ := product(v.m.shape(&buf))
	return n
}

// DType returns the NumPy dtype of the items.
func (v *View) DType() meta.DType { return v.m.dtype }

// ItemSize returns the size of an item in bytes.
func (v *View) ItemSize() int { return v.m.dtype.Size }

// SelectionShape returns the shape of what a selection reads. Errors are ErrBounds and ErrTooLarge.
func (v *View) SelectionShape(sel ...Index) ([]int64, error) {
	var buf dims
	s, err := resolve(v.m.shape(&buf), sel)
	if err != nil {
		return nil, err
	}
	return slices.Clone(s.shape()), nil
}

// ReadBytes reads a selection into dst, which must have its number of items times ItemSize bytes, in C order, as the
// items are stored. See Array.ReadBytes.
func (v *View) ReadBytes(ctx context.Context, dst []byte, sel ...Index) error {
	return v.a.readBytes(task.Context(ctx), &v.m, dst, sel)
}

// WriteBytes writes src to a selection of the array, through the view, in one commit. Of items that are shown in part,
// as a field, the rest stays. A view that repeats items, as BroadcastTo makes them, is an ErrReadOnly. See
// Array.WriteBytes.
func (v *View) WriteBytes(ctx context.Context, src []byte, sel ...Index) error {
	return v.a.writeView(task.Context(ctx), &v.m, src, false, sel)
}

// FillBytes writes the same item to all items of a selection, in one commit. See WriteBytes.
func (v *View) FillBytes(ctx context.Context, item []byte, sel ...Index) error {
	ctx = task.Context(ctx)
	if len(item) != v.ItemSize() {
		return fmt.Errorf("ndarray: %w: an item of %d bytes for a view with items of %d", ErrShape, len(item), v.ItemSize())
	}
	return v.a.writeView(ctx, &v.m, item, true, sel)
}

// Options returns the options that make an array like the view: with the codecs and limits of the array that it
// shows, its compression parameters as far as they go with the items, and no metalayers. The partition is the one of
// the array, in the order of the axes, if that is possible, else none, so that a new one is chosen.
func (v *View) Options() *Options {
	o := v.a.Options()
	o.Meta = nil
	if v.m.dtype.Size != v.a.itemSize {
		o.retype()
	}
	if o.CParams.Shaped() && v.m.ndim != v.a.NDim() {
		o.CParams.Filters, o.CParams.Codec, o.CParams.CodecMeta = nil, 0, 0
	}
	chunks, blocks := o.Chunks, o.Blocks
	o.Chunks, o.Blocks = nil, nil
	if v.m.dtype.Size != v.a.itemSize {
		return o
	}
	c, b := make([]int32, v.m.ndim), make([]int32, v.m.ndim)
	for i := range c {
		x := &v.m.axes[i]
		switch {
		case x.axis >= 0 && x.count > 0 && (x.step == 1 || x.step == -1):
			c[i] = int32(min(int64(chunks[x.axis]), x.count))
			b[i] = min(blocks[x.axis], c[i])
		case x.count == 1:
			c[i], b[i] = 1, 1
		default:
			return o
		}
	}
	o.Chunks, o.Blocks = c, b
	return o
}

// retype drops what was chosen for items of another kind.
func (o *Options) retype() {
	o.Chunks, o.Blocks, o.CParams.Filters = nil, nil, nil
	if o.CParams.Shaped() {
		o.CParams.Codec, o.CParams.CodecMeta = 0, 0
	}
}

func (v *View) source() (*Array, *mapping) { return v.a, &v.m }

// writeView writes to a selection of a view: data, or data as one item everywhere.
func (a *Array) writeView(ctx context.Context, m *mapping, data []byte, one bool, sel []Index) error {
	if m.repeats() {
		return fmt.Errorf("ndarray: %w: a view that repeats items", ErrReadOnly)
	}
	return a.edit(ctx, func(b *Batch) error {
		st := b.st
		s, size, err := a.resolve(st, m, sel)
		if err != nil {
			return err
		}
		if !one {
			if err := checkBuffer(len(data), &s, size); err != nil {
				return err
			}
		}
		if s.items == 0 {
			return ctx.Err()
		}
		if s.place.lists > 0 {
			return a.writeLists(ctx, b.b, st, m, &s, sel, &listWriting{src: data, one: one})
		}
		var stride dims
		s.strides(&stride)
		w := &writing{plan: m.plan(st.geo, &s.axes, &stride), src: data, one: one}
		return a.encode(ctx, b.b, st, w, w.size())
	})
}
