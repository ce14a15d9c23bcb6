package ndarray

import (
	"context"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// Reshape creates an array with the items of r, in C order, in another shape with the same number of items. One length
// may be -1 and is then computed from the others. Reshape takes the compression that o leaves out from r, as
// CreateOptions describes. It takes no metalayers or attributes, and no partition: Chunks and Blocks that are nil are
// automatic.
//
// Reshape reads and compresses items in pieces of bounded size, at least one chunk of the new array. It is fastest if
// such a piece is one long run of items of r, because the chunks of the new array span its last axes. The error wraps
// ErrShape, or is an error of Copy.
func Reshape(ctx context.Context, name string, r Reader, shape []int64, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	h, err := snapshotOf(ctx, r)
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
	like := r.CreateOptions()
	like.Chunks, like.Blocks = nil, nil
	if like.params().Shaped() {
		like.retype()
	}
	l, err := h.layout(ctx, name, shape, o.from(like))
	if err != nil {
		return nil, err
	}
	return l.createFrom(ctx, name, []*snapshot{h}, func(b *frame.Batch) error {
		w := h.boxWriter(l)
		w.ahead = nil
		w.read = func(ctx context.Context, dst []byte, start, count *grid.Dims) error {
			return h.readRuns(ctx, dst, l.geo, start, count)
		}
		return w.run(ctx, b)
	})
}

// completeShape returns shape with a length of -1 replaced. It returns ErrShape unless the result has as many items as
// was.
func completeShape(shape, was []int64) ([]int64, error) {
	next, open := slices.Clone(shape), slices.Index(shape, -1)
	if open >= 0 {
		next[open] = 1
	}
	if !slices.ContainsFunc(next, func(n int64) bool { return n < 0 }) {
		items, _ := grid.Product(was)
		n, fits := grid.Product(next)
		switch {
		case fits && open < 0 && n == items:
			return next, nil
		case fits && open >= 0 && n > 0 && items%n == 0:
			next[open] = items / n
			return next, nil
		}
	}
	return nil, fmt.Errorf("ndarray: %w: shape %v does not have as many items as shape %v", ErrShape, shape, slices.Clone(was))
}

// readRuns reads the items that are in a box of g, which has another shape with the same number of items, in C order of
// both shapes.
func (h *snapshot) readRuns(ctx context.Context, dst []byte, g *grid.Geometry, start, count *grid.Dims) error {
	// A run of contiguous items spans the last axes of which the box has the full length, and the axis before them.
	k, run := g.Ndim-1, int64(1)
	for ; k >= 0; k-- {
		run *= count[k]
		if count[k] < g.Shape[k] {
			break
		}
	}
	var stride, at, zero, one grid.Dims
	grid.Strides(&stride, g.Shape[:g.Ndim])
	for i := range k {
		one[i] = 1
	}
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
		if !advance(&at, &zero, &one, count, k) {
			return nil
		}
	}
}

// readRun reads n items in C order, starting at item first, as boxes: at most two for each axis.
func (h *snapshot) readRun(ctx context.Context, dst []byte, first, n int64) error {
	size := int64(h.m.Dtype.Size)
	for n > 0 {
		var start, count grid.Dims
		rest := first
		for i := h.m.Ndim - 1; i >= 0; i-- {
			length := h.m.Axes[i].Count
			start[i], count[i] = rest%length, 1
			rest /= length
		}
		// Extend the box from the last axis outwards while the run contains whole axes.
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
