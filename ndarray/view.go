package ndarray

import (
	"context"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
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
		w := &viewWriting{one: one}
		w.src, w.itemSize = data, a.itemSize
		var stride dims
		s.strides(&stride)
		w.plan, w.pieces = m.plan(st.geo, &s.axes, &stride)
		return a.encode(ctx, b.b, st, w)
	})
}

// viewWriting is the frame.Source that writes through a view: from src, or src as one item everywhere.
type viewWriting struct {
	writing
	pieces pieces
	one    bool
}

// Next implements frame.Source.
func (w *viewWriting) Next(v *frame.Visit) (keep, ok bool) {
	keep, ok = w.writing.Next(v)
	return keep || w.pieces.size != w.itemSize, ok
}

// Keeps implements frame.Keeper.
func (w *viewWriting) Keeps(v *frame.Visit, k int) frame.Part {
	part := w.writing.Keeps(v, k)
	if part == frame.KeepNone && w.pieces.size != w.itemSize {
		return frame.KeepSome
	}
	return part
}

// Shuffle implements frame.RowSource.
func (w *viewWriting) Shuffle(v *frame.Visit, k, _ int, dst coder.Shuffled) bool {
	var b box
	if w.one || dst.Width() != w.itemSize || !w.pieces.plain(w.itemSize) || !w.plan.box(&b, v.State.(*chunkPart), int32(k)) {
		return false
	}
	var l loops
	w.pieces.loops(&l, &b, w.itemSize)
	l.flip()
	l.order()
	return l.shuffle(dst, w.src, int(b.items))
}

// Block implements frame.Source.
func (w *viewWriting) Block(v *frame.Visit, k, _ int, dst []byte) ([]byte, error) {
	part := v.State.(*chunkPart)
	var b box
	some := w.plan.box(&b, part, int32(k))
	if (part.whole || some && b.whole) && w.pieces.size == w.itemSize {
		clear(dst) // the padding
	}
	if some {
		w.pieces.toBlock(&b, dst, w.src, w.itemSize, w.one)
	}
	return dst, nil
}

// view returns a view that change makes of what r shows.
func view(r Reader, change func(m *mapping) (mapping, error)) (*View, error) {
	a, m := r.source()
	if m == nil {
		whole := a.identity(a.now().geo)
		m = &whole
	}
	next, err := change(m)
	if err != nil {
		return nil, err
	}
	return &View{a: a, m: next}, nil
}

// Slice returns a view of a selection: NumPy's r[2:5, ..., ::-1]. Lists (Pick, Mask, Coords, Flat) cannot make a view,
// but can be read from one. Errors are ErrBounds and ErrShape.
func Slice(r Reader, sel ...Index) (*View, error) {
	return view(r, func(m *mapping) (mapping, error) { return m.slice(sel) })
}

// Transpose returns a view with the axes in another order: axis k of the view is axis axes[k] of r; negative ones
// count from the last. No axes reverse the order. The error is ErrShape.
func Transpose(r Reader, axes ...int) (*View, error) {
	return view(r, func(m *mapping) (mapping, error) {
		next := *m
		if len(axes) == 0 {
			slices.Reverse(next.axes[:next.ndim])
			return next, nil
		}
		order, err := axisNumbers(axes, m.ndim)
		if err == nil && len(axes) != m.ndim {
			err = fmt.Errorf("ndarray: %w: an order of %d axes for %d dimensions", ErrShape, len(axes), m.ndim)
		}
		for i, axis := range order {
			next.axes[i] = m.axes[axis]
		}
		return next, err
	})
}

// axisNumbers returns the axes with negative numbers counted from ndim, each of which may be named once.
func axisNumbers(axes []int, ndim int) ([]int, error) {
	numbers := make([]int, 0, maxDims)
	for _, axis := range axes {
		n := axis
		if n < 0 {
			n += ndim
		}
		if n < 0 || n >= ndim {
			return nil, fmt.Errorf("ndarray: %w: axis %d of %d dimensions", ErrShape, axis, ndim)
		}
		if slices.Contains(numbers, n) {
			return nil, fmt.Errorf("ndarray: %w: axis %d named twice", ErrShape, axis)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// Flip returns a view that goes backwards along the given axes, or along all if none is given. The error is ErrShape.
func Flip(r Reader, axes ...int) (*View, error) {
	return view(r, func(m *mapping) (mapping, error) {
		next := *m
		numbers, err := axisNumbers(axes, m.ndim)
		for i := range m.ndim {
			if x := &m.axes[i]; len(axes) == 0 || slices.Contains(numbers, i) {
				y, inside := x.take(&axisSelection{start: x.count - 1, step: -1, count: x.count})
				next.axes[i] = y
				next.offset += inside
			}
		}
		return next, err
	})
}

// ExpandDims returns a view with new axes of length 1, which stand at the given places of the result; negative ones
// count from its last. The error is ErrShape.
func ExpandDims(r Reader, axes ...int) (*View, error) {
	return view(r, func(m *mapping) (mapping, error) {
		next := *m
		numbers, err := axisNumbers(axes, m.ndim+len(axes))
		if err == nil && m.ndim+len(axes) > maxDims {
			err = fmt.Errorf("ndarray: %w: a view of more than %d dimensions", ErrShape, maxDims)
		}
		if err != nil {
			return next, err
		}
		next.ndim += len(axes)
		from := 0
		for i := range next.ndim {
			if slices.Contains(numbers, i) {
				next.axes[i] = viewAxis{axis: -1, step: 1, count: 1}
			} else {
				next.axes[i] = m.axes[from]
				from++
			}
		}
		return next, nil
	})
}

// Squeeze returns a view without the given axes, which must have the length 1, or without all that have it when none
// is given. The error is ErrShape.
func Squeeze(r Reader, axes ...int) (*View, error) {
	return view(r, func(m *mapping) (mapping, error) {
		next := *m
		next.ndim, next.axes = 0, [maxDims]viewAxis{}
		numbers, err := axisNumbers(axes, m.ndim)
		for i := range m.ndim {
			x := &m.axes[i]
			named := slices.Contains(numbers, i)
			switch {
			case named && x.count != 1:
				return next, fmt.Errorf("ndarray: %w: axis %d of length %d cannot be squeezed", ErrShape, i, x.count)
			case named || len(axes) == 0 && x.count == 1:
				next.fix(x, 0)
			default:
				next.axes[next.ndim] = *x
				next.ndim++
			}
		}
		return next, err
	})
}

// BroadcastTo returns a view in which axes of length 1 have another length, and new ones stand before the first, by
// NumPy's rules: their items repeat. The view cannot be written. Errors are ErrShape and ErrTooLarge.
func BroadcastTo(r Reader, shape ...int64) (*View, error) {
	return view(r, func(m *mapping) (mapping, error) {
		next := *m
		next.ndim, next.axes = 0, [maxDims]viewAxis{}
		var buf dims
		more := len(shape) - m.ndim
		if more < 0 || len(shape) > maxDims {
			return next, fmt.Errorf("ndarray: %w: shape %v cannot be broadcast to %v", ErrShape, slices.Clone(m.shape(&buf)), shape)
		}
		for i, n := range shape {
			x := viewAxis{axis: -1, step: 1, count: 1}
			if i >= more {
				x = m.axes[i-more]
			}
			if n < 0 || n != x.count && x.count != 1 {
				return next, fmt.Errorf("ndarray: %w: shape %v cannot be broadcast to %v", ErrShape, slices.Clone(m.shape(&buf)), shape)
			}
			if n != x.count {
				next.fix(&x, 0)
				x = viewAxis{axis: -1, step: 1, count: n}
			}
			next.axes[i] = x
		}
		next.ndim = len(shape)
		if _, ok := product(shape); !ok {
			return next, fmt.Errorf("ndarray: %w: shape %v", ErrTooLarge, shape)
		}
		return next, nil
	})
}

// Field returns a view of one field of structured items, by name or title, or by the path of a field in a field, as
// "pos.x". The axes of a sub-array follow those of r, as in NumPy. The error is ErrType.
func Field(r Reader, path string) (*View, error) {
	return view(r, func(m *mapping) (mapping, error) { return m.field(path) })
}
