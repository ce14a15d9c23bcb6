package ndarray

import (
	"context"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// Reshape makes an array with the items of r, in C order, in another shape of as many items, of which one length may
// be -1 to follow from the others. o says what it shall be like; nil means compressed like r, with a partition of its
// own choice. The items are read and compressed again in pieces of bounded size, of one chunk of the new array or
// more. It goes fastest when these pieces are long runs of r: when chunks span the last axes. See Copy.
func Reshape(ctx context.Context, r Reader, name string, shape []int64, o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	h, err := hold(ctx, r)
	if err != nil {
		return nil, err
	}
	defer h.release()
	var buf grid.Dims
	was := h.m.Shape(&buf)
	shape, err = completeShape(shape, was)
	if err != nil {
		return nil, err
	}
	if o == nil {
		o = r.Options()
		o.Chunks, o.Blocks, o.Meta = nil, nil, nil
		if o.CParams.Shaped() {
			o.retype()
		}
	}
	l, err := h.layout(shape, o)
	if err != nil {
		return nil, err
	}
	return l.create(ctx, name, func(b *frame.Batch) error {
		s := h.stream(l)
		s.read = func(ctx context.Context, dst []byte, start, count *grid.Dims) error {
			return h.readRuns(ctx, dst, l.geo, start, count)
		}
		return s.run(ctx, b)
	})
}

// completeShape returns a shape with a length of -1 replaced, for as many items as another shape has.
func completeShape(shape, was []int64) ([]int64, error) {
	next, open := slices.Clone(shape), -1
	items, _ := grid.Product(was)
	for i, n := range shape {
		switch {
		case n == -1 && open < 0:
			open, next[i] = i, 1
		case n < 0:
			return nil, fmt.Errorf("ndarray: %w: shape %v for the items of shape %v", ErrShape, shape, slices.Clone(was))
		}
	}
	n, ok := grid.Product(next)
	if ok && open >= 0 && n > 0 && items%n == 0 {
		next[open] = items / n
		n = items
	} else if open >= 0 {
		ok = false
	}
	if !ok || n != items {
		return nil, fmt.Errorf("ndarray: %w: shape %v for the items of shape %v", ErrShape, shape, slices.Clone(was))
	}
	return next, nil
}

// readRuns reads the items that stand in a box of a shape with as many items, in C order of both.
func (h *held) readRuns(ctx context.Context, dst []byte, g *grid.Geometry, start, count *grid.Dims) error {
	// The items of the box are runs: along the last axes that it spans, and the one before them.
	k, run := g.Ndim-1, int64(1)
	for ; k >= 0; k-- {
		run *= count[k]
		if count[k] < g.Shape[k] {
			break
		}
	}
	var stride, at grid.Dims
	grid.Strides(&stride, g.Shape[:g.Ndim])
	size := int64(h.m.Dtype.Size)
	for {
		first := int64(0)
		for i := range g.Ndim {
			first += (start[i] + at[i]) * stride[i]
		}
		if err := h.readRun(ctx, dst[:run*size], first, run); err != nil {
			return err
		}
		dst = dst[run*size:]
		i := k - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < count[i] {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return nil
		}
	}
}

// readRun reads n items from one on, in C order, as boxes: at most two for each axis.
func (h *held) readRun(ctx context.Context, dst []byte, first, n int64) error {
	size := int64(h.m.Dtype.Size)
	for n > 0 {
		var start, count grid.Dims
		rest := first
		for i := h.m.Ndim - 1; i >= 0; i-- {
			length := h.m.Axes[i].Count
			start[i], count[i] = rest%length, 1
			rest /= length
		}
		// Go outwards as long as whole axes are wanted.
		items := int64(1)
		for i := h.m.Ndim - 1; i >= 0; i-- {
			length := h.m.Axes[i].Count
			count[i] = min(length-start[i], n/items)
			if count[i] < length || n/items/length == 0 {
				items *= count[i]
				break
			}
			items *= length
		}
		if err := h.read(ctx, dst[:items*size], &start, &count); err != nil {
			return err
		}
		dst, first, n = dst[items*size:], first+items, n-items
	}
	return nil
}

// AsType makes an array with the items of r converted to another dtype, as astype of NumPy does: whatever the loss.
// Fractions are cut off, whole numbers keep their lower bits, complex numbers lose the imaginary part, all but zero is
// true. Floats that do not fit a whole number, NaN included, become on all machines what NumPy makes of them on x86-64:
// the lowest number with a sign of 32 bits, of which smaller types take the lower bits, or of 64 bits. (For uint32,
// NumPy itself gives other numbers at the end of an array.) Numbers, text of one kind (cut off or filled up), dates and
// time differences (to and from whole numbers, which count their units), and the byte order of any dtype can be
// converted; all else is an ErrType. o says what the array shall be like; nil means compressed like r, with a new
// partition if items change their size. See Copy.
func AsType(ctx context.Context, r Reader, name, dtype string, o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	to, err := meta.ParseDType(dtype)
	if err != nil {
		return nil, fmt.Errorf("ndarray: %w: %v", ErrType, err)
	}
	h, err := hold(ctx, r)
	if err != nil {
		return nil, err
	}
	defer h.release()
	from := h.m.Dtype
	cast, err := convert.Cast(to, from)
	if err != nil {
		return nil, err
	}
	if o == nil {
		o = r.Options()
		o.Meta = nil
		if to.Size != from.Size || to.Kind != from.Kind {
			chunks, blocks := o.Chunks, o.Blocks
			if o.retype(); to.Size == from.Size {
				o.Chunks, o.Blocks = chunks, blocks
			}
		}
	}
	var buf grid.Dims
	l, err := newLayout(h.m.Shape(&buf), to.String(), o)
	if err != nil {
		return nil, err
	}
	return l.create(ctx, name, func(b *frame.Batch) error {
		s := h.stream(l)
		s.convert = cast
		return s.run(ctx, b)
	})
}
