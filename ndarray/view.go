package ndarray

import (
	"context"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// A View is a transformed array: a part of it, its axes in another order, or one field of its items. It holds no items:
// a read decodes the blocks of the array that it needs, each once. A view of a view refers to the array directly.
//
// A read of a view sees the newest commit of the array. The positions that the view refers to do not change: if the
// array grows, the view does not, and if the array has become too small for the view, reads return ErrBounds. A view
// needs no Close; closing the array closes it. Any number of goroutines may use it.
type View struct {
	a *Array
	m selection.Mapping
}

// Array returns the array of the view.
func (v *View) Array() *Array { return v.a }

// Shape returns the shape in items, the first axis first. The caller owns the slice.
func (v *View) Shape() []int64 {
	var buf grid.Dims
	return slices.Clone(v.m.Shape(&buf))
}

// Size returns the number of items.
func (v *View) Size() int64 {
	var buf grid.Dims
	n, _ := grid.Product(v.m.Shape(&buf))
	return n
}

// DType returns the NumPy dtype of the items.
func (v *View) DType() DType { return v.m.Dtype }

// SelectionShape returns the shape of a selection of the view. See Array.SelectionShape.
func (v *View) SelectionShape(sel ...Index) ([]int64, error) {
	var buf grid.Dims
	s, err := selection.Resolve(v.m.Shape(&buf), sel)
	if err != nil {
		return nil, err
	}
	return slices.Clone(s.Shape()), nil
}

// ReadBytes reads a selection into dst, in C order, as the items are stored. The length of dst must be the number of
// selected items times DType().Size. See Array.ReadBytes.
func (v *View) ReadBytes(ctx context.Context, dst []byte, sel ...Index) error {
	return v.a.readBytes(task.Context(ctx), &v.m, nil, dst, sel)
}

// WriteBytes writes src to a selection of the view, and so to the array, in one commit. If the items of the view are
// parts of items, such as a field, the other parts keep their values. It returns ErrReadOnly for a view that repeats
// items, such as one of BroadcastTo, or converts them. See Array.WriteBytes.
func (v *View) WriteBytes(ctx context.Context, src []byte, sel ...Index) error {
	return v.write(task.Context(ctx), src, false, sel)
}

// FillBytes writes one item of DType().Size bytes to all items of a selection, in one commit. See WriteBytes.
func (v *View) FillBytes(ctx context.Context, item []byte, sel ...Index) error {
	ctx = task.Context(ctx)
	if len(item) != v.m.Dtype.Size {
		return fmt.Errorf("ndarray: %w: item has %d bytes, want %d", ErrShape, len(item), v.m.Dtype.Size)
	}
	return v.write(ctx, item, true, sel)
}

// CreateOptions returns the options for creating an array like the view: the codecs of the array, the compression
// parameters that apply to the items, and no metalayers. The partition is that of the array, with axes in the order of
// the view. If that is not possible, it is nil, so that a new array gets a partition of its own. The caller owns the
// result.
func (v *View) CreateOptions() *CreateOptions {
	o := v.a.CreateOptions()
	o.Meta = nil
	if v.m.Dtype.Size != v.a.itemSize {
		o.retype()
	} else if !v.m.Convert.None() {
		o.recast(v.m.Dtype.Kind == v.m.Stored.Kind)
	}
	shaped := o.params().Shaped()
	if shaped && v.m.Ndim != v.a.state.Load().geo.Ndim {
		o.Filters, o.Codec, o.CodecMeta, shaped = nil, 0, 0, false
	}
	chunks, blocks := o.Chunks, o.Blocks
	o.Chunks, o.Blocks = nil, nil
	if v.m.Dtype.Size != v.a.itemSize {
		return o
	}
	c, b := make([]int64, v.m.Ndim), make([]int64, v.m.Ndim)
	for i := range c {
		x := &v.m.Axes[i]
		kept := x.Axis >= 0 && x.Count > 0 && (x.Step == 1 || x.Step == -1)
		if shaped && !kept {
			o.Filters, o.Codec, o.CodecMeta, shaped = nil, 0, 0, false
		}
		switch {
		case kept && shaped: // also for a short axis, as codec or filter need blocks that are long enough
			c[i], b[i] = chunks[x.Axis], blocks[x.Axis]
		case kept:
			c[i] = min(chunks[x.Axis], x.Count)
			b[i] = min(blocks[x.Axis], c[i])
		case x.Count == 1:
			c[i], b[i] = 1, 1
		default:
			return o
		}
	}
	o.Chunks, o.Blocks = c, b
	return o
}

// retype resets the options that depend on the item size.
func (o *CreateOptions) retype() {
	o.Chunks, o.Blocks, o.Filters = nil, nil, nil
	if o.params().Shaped() {
		o.Codec, o.CodecMeta = 0, 0
	}
}

// recast resets the options that are for numbers of one type. The items have another type now, but the same size.
func (o *CreateOptions) recast(sameKind bool) {
	numbers := func(f chunk.Filter) bool {
		code := f.Code()
		return code == chunk.TruncPrec.Code() || code == chunk.IntTrunc.Code() || code == chunk.NDMean.Code()
	}
	if !sameKind || slices.ContainsFunc(o.Filters, numbers) {
		o.Filters = nil
	}
	switch o.Codec {
	case codec.ZFPAcc, codec.ZFPPrec, codec.ZFPRate:
		o.Codec, o.CodecMeta = 0, 0
	}
}

func (v *View) source() (*Array, *selection.Mapping) { return v.a, &v.m }

// write is Batch.write in a batch of its own.
func (v *View) write(ctx context.Context, src []byte, one bool, sel []Index) error {
	if v.m.Repeats() {
		return fmt.Errorf("ndarray: %w: the view repeats items", ErrReadOnly)
	}
	if !v.m.Convert.None() {
		return fmt.Errorf("ndarray: %w: the view converts items", ErrReadOnly)
	}
	return v.a.edit(ctx, func(b *Batch) error { return b.write(ctx, &v.m, src, one, sel) })
}

// view returns a view of r whose mapping is the result of change.
func view(r Reader, change func(m *selection.Mapping) (selection.Mapping, error)) (*View, error) {
	a, m := r.source()
	if m == nil {
		whole := selection.Identity(a.now().geo, a.dtype)
		m = &whole
	}
	next, err := change(m)
	if err != nil {
		return nil, err
	}
	return &View{a: a, m: next}, nil
}

// Slice returns a view of a selection: NumPy's r[2:5, ..., ::-1]. Index arrays (Pick, Mask, Coords, Flat) cannot make a
// view, but can be used to read from one. The error wraps ErrBounds or ErrShape.
func Slice(r Reader, sel ...Index) (*View, error) {
	return view(r, func(m *selection.Mapping) (selection.Mapping, error) { return m.Slice(sel) })
}

// Transpose returns a view with the axes in another order: axis k of the view is axis axes[k] of r. A negative axis
// counts from the last. Without axes it reverses the order. The error wraps ErrShape.
func Transpose(r Reader, axes ...int) (*View, error) {
	return view(r, func(m *selection.Mapping) (selection.Mapping, error) {
		next := *m
		if len(axes) == 0 {
			slices.Reverse(next.Axes[:next.Ndim])
			return next, nil
		}
		order, err := axisNumbers(axes, m.Ndim)
		if err == nil && len(axes) != m.Ndim {
			err = fmt.Errorf("ndarray: %w: order has %d axes, want %d", ErrShape, len(axes), m.Ndim)
		}
		for i, axis := range order {
			next.Axes[i] = m.Axes[axis]
		}
		return next, err
	})
}

// axisNumbers returns the axes, with negative ones counted from ndim. It returns ErrShape if an axis occurs twice.
func axisNumbers(axes []int, ndim int) ([]int, error) {
	numbers := make([]int, 0, grid.MaxDims)
	for _, axis := range axes {
		n, err := axisNumber(axis, ndim, ErrShape)
		if err != nil {
			return nil, err
		}
		if slices.Contains(numbers, n) {
			return nil, fmt.Errorf("ndarray: %w: axis %d occurs twice", ErrShape, axis)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// Flip returns a view with the items in reverse order along the given axes, or without axes along all. The error wraps
// ErrShape.
func Flip(r Reader, axes ...int) (*View, error) {
	return view(r, func(m *selection.Mapping) (selection.Mapping, error) {
		next := *m
		numbers, err := axisNumbers(axes, m.Ndim)
		for i := range m.Ndim {
			if x := &m.Axes[i]; len(axes) == 0 || slices.Contains(numbers, i) {
				y, inside := x.Take(&selection.AxisSelection{Start: x.Count - 1, Step: -1, Count: x.Count})
				next.Axes[i] = y
				next.Offset += inside
			}
		}
		return next, err
	})
}

// ExpandDims returns a view with new axes of length 1 at the given positions in the result. A negative position counts
// from the last axis of the result. The error wraps ErrShape.
func ExpandDims(r Reader, axes ...int) (*View, error) {
	return view(r, func(m *selection.Mapping) (selection.Mapping, error) {
		next := *m
		numbers, err := axisNumbers(axes, m.Ndim+len(axes))
		if err == nil && m.Ndim+len(axes) > grid.MaxDims {
			err = fmt.Errorf("ndarray: %w: view would have more than %d dimensions", ErrShape, grid.MaxDims)
		}
		if err != nil {
			return next, err
		}
		next.Ndim += len(axes)
		from := 0
		for i := range next.Ndim {
			if slices.Contains(numbers, i) {
				next.Axes[i] = selection.ViewAxis{Axis: -1, Step: 1, Count: 1}
			} else {
				next.Axes[i] = m.Axes[from]
				from++
			}
		}
		return next, nil
	})
}

// Squeeze returns a view without the given axes, which must have length 1. Without axes it removes all axes of length
// 1. The error wraps ErrShape.
func Squeeze(r Reader, axes ...int) (*View, error) {
	return view(r, func(m *selection.Mapping) (selection.Mapping, error) {
		next := *m
		next.Ndim, next.Axes = 0, [grid.MaxDims]selection.ViewAxis{}
		numbers, err := axisNumbers(axes, m.Ndim)
		for i := range m.Ndim {
			x := &m.Axes[i]
			named := slices.Contains(numbers, i)
			switch {
			case named && x.Count != 1:
				return next, fmt.Errorf("ndarray: %w: axis %d of length %d cannot be squeezed", ErrShape, i, x.Count)
			case named || len(axes) == 0 && x.Count == 1:
				next.Fix(x, 0)
			default:
				next.Axes[next.Ndim] = *x
				next.Ndim++
			}
		}
		return next, err
	})
}

// BroadcastTo returns a view that repeats items along axes of length 1 and along new axes before the first, by NumPy's
// rules, so that it has the given shape. The view cannot be written if it repeats items. The error wraps ErrShape or
// ErrTooLarge.
func BroadcastTo(r Reader, shape ...int64) (*View, error) {
	return view(r, func(m *selection.Mapping) (selection.Mapping, error) {
		next := *m
		next.Ndim, next.Axes = 0, [grid.MaxDims]selection.ViewAxis{}
		var buf grid.Dims
		more := len(shape) - m.Ndim
		if more < 0 || len(shape) > grid.MaxDims {
			return next, fmt.Errorf("ndarray: %w: shape %v cannot be broadcast to %v", ErrShape, slices.Clone(m.Shape(&buf)), shape)
		}
		for i, n := range shape {
			x := selection.ViewAxis{Axis: -1, Step: 1, Count: 1}
			if i >= more {
				x = m.Axes[i-more]
			}
			if n < 0 || n != x.Count && x.Count != 1 {
				return next, fmt.Errorf("ndarray: %w: shape %v cannot be broadcast to %v", ErrShape, slices.Clone(m.Shape(&buf)), shape)
			}
			if n != x.Count {
				next.Fix(&x, 0)
				x = selection.ViewAxis{Axis: -1, Step: 1, Count: n}
			}
			next.Axes[i] = x
		}
		next.Ndim = len(shape)
		if _, ok := grid.Product(shape); !ok {
			return next, fmt.Errorf("ndarray: %w: shape %v has more than 2^63-1 items", ErrTooLarge, shape)
		}
		return next, nil
	})
}

// Field returns a view of one field of structured items, by name or title, or by the path of a nested field, such as
// "pos.x". The axes of a sub-array follow the axes of r, as in NumPy. The error wraps ErrType, ErrShape for more than
// 16 axes, or ErrTooLarge for more than 2^63-1 items.
func Field(r Reader, path string) (*View, error) {
	return view(r, func(m *selection.Mapping) (selection.Mapping, error) { return fieldOf(m, path) })
}

// fieldOf returns the mapping of a field of the items of m.
func fieldOf(m *selection.Mapping, path string) (selection.Mapping, error) {
	next := *m
	for rest := path; ; {
		f, after, ok := findField(next.Dtype.Fields, rest)
		if !ok {
			return *m, fmt.Errorf("ndarray: %w: no field %q in %v", ErrType, path, m.Dtype)
		}
		next.Offset += f.Offset
		if !next.Convert.None() { // both structures differ only in byte orders
			next.Stored = storedField(next.Stored, next.Dtype, f)
		}
		next.Dtype = f.Type
		for next.Dtype.Elem != nil {
			bytes := next.Dtype.Size
			for _, n := range next.Dtype.Shape {
				if n > 0 {
					bytes /= n
				}
				if err := next.Push(selection.ViewAxis{Axis: -1, Step: 1, Count: int64(n), Bytes: bytes}); err != nil {
					return *m, err
				}
			}
			next.Dtype = *next.Dtype.Elem
			if !next.Convert.None() {
				next.Stored = *next.Stored.Elem
			}
		}
		if after == "" {
			break
		}
		rest = after
	}
	if next.Dtype.Size < 1 {
		return *m, fmt.Errorf("ndarray: %w: field %q has no bytes", ErrType, path)
	}
	if !next.Convert.None() {
		f, err := convert.Cast(next.Dtype, next.Stored)
		if err != nil {
			return *m, err
		}
		if next.Convert = f; f.None() {
			next.Stored = meta.DType{}
		}
	}
	var buf grid.Dims
	if _, ok := grid.Product(next.Shape(&buf)); !ok {
		return *m, fmt.Errorf("ndarray: %w: more than 2^63-1 items in field %q", ErrTooLarge, path)
	}
	return next, nil
}

// findField returns the field that a path starts with, by name or title, and the rest of the path after the dot. A name
// may contain dots: the longest matching name is used.
func findField(fields []meta.Field, path string) (f *meta.Field, rest string, ok bool) {
	best := -1
	for i := range fields {
		for _, name := range []string{fields[i].Name, fields[i].Title} {
			if name == "" || len(name) <= best || len(path) < len(name) || path[:len(name)] != name {
				continue
			}
			if len(path) == len(name) {
				f, rest, best = &fields[i], "", len(name)
			} else if path[len(name)] == '.' && len(path) > len(name)+1 {
				f, rest, best = &fields[i], path[len(name)+1:], len(name)
			}
		}
	}
	return f, rest, best >= 0
}

// AsType returns a view whose items are the items of r converted to another dtype, as NumPy's astype does with
// casting="unsafe", without checking for loss. A read converts the items of each block on their way to the result. Use
// Copy to make an array of the view.
//
// Fractions are truncated, integers keep their low bits, complex numbers lose the imaginary part, and every number
// except zero becomes true. On all machines, floats that do not fit in an integer type become what NumPy computes on
// x86-64. For int32 and int64 this is the lowest integer. For uint32 and uint64, NaN and negative numbers become the
// bits that they have in int32 or int64, and too large numbers become 0. Types of 8 and 16 bits take the low bits of
// the int32. Only float16 becomes uint32 as the low bits of the int64. (For uint32, NumPy itself produces other numbers
// at the end of an array.)
//
// AsType converts between all types of bools and numbers. It truncates or pads text of the same kind. It converts dates
// and timedeltas to integers, which count their units, and back. It also converts dates to another unit, such as
// "<M8[s]", by the calendar, and timedeltas by their length, rounded down. Between timedeltas of years or months and
// those of other units there is no conversion (NumPy takes an average length). A number of units that does not fit in
// 64 bits becomes NaT (NumPy wraps it). If one unit is more than 2^64 times another, as a day in femtoseconds, it
// returns ErrType. AsType changes the byte order of any dtype, unless fields overlap so that swapping the bytes of one
// would corrupt another. For other conversions it returns ErrType. Writes to the view return ErrReadOnly, because a
// conversion has no exact inverse.
func AsType(r Reader, dtype string) (*View, error) {
	to, err := meta.ParseDType(dtype)
	if err != nil {
		return nil, fmt.Errorf("ndarray: %w: %v", ErrType, err)
	}
	if to.Size < 1 {
		return nil, fmt.Errorf("ndarray: %w: items of dtype %v have no bytes", ErrType, to)
	}
	return view(r, func(m *selection.Mapping) (selection.Mapping, error) {
		next := *m
		f, err := convert.Cast(to, m.Dtype)
		if err != nil {
			return next, err
		}
		cast(&next, to, f)
		return next, nil
	})
}

// storedField returns the dtype of the field of stored that is at the same position as f in the fields of d.
func storedField(stored, d meta.DType, f *meta.Field) meta.DType {
	for i := range d.Fields {
		if &d.Fields[i] == f {
			return stored.Fields[i].Type
		}
	}
	return meta.DType{}
}

// String describes the view in one line, for fmt.Println: shape, dtype and the array that it shows.
func (v *View) String() string {
	return fmt.Sprintf("%v %s, view of %v", v.Shape(), v.DType(), v.a)
}
