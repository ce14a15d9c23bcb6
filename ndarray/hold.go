package ndarray

import (
	"context"

	"github.com/goblosc/blosc2/frame"
)

// held is one state of what a Reader shows, held for several reads that must agree with each other.
type held struct {
	a  *Array
	v  frame.View
	st *state
	m  mapping
}

// hold returns the newest state of r. Release it.
func hold(ctx context.Context, r Reader) (*held, error) {
	a, m := r.source()
	v, st, err := a.view(ctx)
	if err != nil {
		return nil, err
	}
	h := &held{a: a, v: v, st: st}
	if m == nil {
		h.m = identity(st.geo, a.dtype)
	} else {
		h.m = *m
		err = m.check(st.geo)
	}
	if err != nil {
		v.Release()
		return nil, err
	}
	return h, nil
}

func (h *held) release() { h.v.Release() }

// read reads a box into dst: count items along each axis, from start on, in C order.
func (h *held) read(ctx context.Context, dst []byte, start, count *dims) error {
	var stride dims
	n := int64(1)
	for i := h.m.ndim - 1; i >= 0; i-- {
		stride[i] = n
		n *= count[i]
	}
	return h.place(ctx, dst, start, count, &stride)
}

// place reads a box into dst, with steps between neighbours along each axis, in items.
func (h *held) place(ctx context.Context, dst []byte, start, count, stride *dims) error {
	var axes [maxDims]axisSelection
	for i := range h.m.ndim {
		if count[i] == 0 {
			return ctx.Err()
		}
		axes[i] = axisSelection{start: start[i], step: 1, count: count[i]}
	}
	r := h.a.reading()
	r.plan = h.m.plan(h.st.geo, &axes, stride)
	err := r.run(ctx, h.v, dst)
	h.a.reads.Put(r)
	return err
}

// layout returns what a new array of the same items is made from.
func (h *held) layout(shape []int64, o *Options) (*layout, error) {
	l, err := newLayout(shape, h.m.dtype.String(), o)
	if err != nil {
		return nil, err
	}
	if d := h.m.dtype; h.m.whole(h.a.itemSize) && d.Kind == 'V' && d.Fields == nil && d.Elem == nil {
		// Perhaps one that this package does not know.
		l.rec.DType, l.rec.DTypeFormat = h.st.rec.DType, h.st.rec.DTypeFormat
		err = l.addRecord()
	}
	return l, err
}

// chunkwise tells whether the items stand as in the array, but for axes of length 1 that come in or fall away: then
// the chunks of the array can be those of what is shown.
func (h *held) chunkwise() bool {
	if !h.m.whole(h.a.itemSize) {
		return false
	}
	g, next := h.st.geo, 0
	for i := range h.m.ndim {
		x := &h.m.axes[i]
		if x.axis < 0 {
			if x.count != 1 {
				return false
			}
			continue
		}
		for ; next < int(x.axis); next++ {
			if g.shape[next] != 1 {
				return false
			}
		}
		if next != int(x.axis) || x.start != 0 || x.step != 1 || x.count != g.shape[next] {
			return false
		}
		next++
	}
	for ; next < g.ndim; next++ {
		if g.shape[next] != 1 {
			return false
		}
	}
	return true
}

// takes tells whether the chunks of what is held, which is chunkwise, can be those of the new array as they are stored.
func (l *layout) takes(h *held) bool {
	p := h.v.Info().CParams
	if !sameCParams(l.opts.CParams, p) || p.Shaped() && h.m.ndim != h.st.geo.ndim {
		return false
	}
	var seen [maxDims]bool
	for i := range h.m.ndim {
		chunk, block := int64(1), int64(1)
		if axis := h.m.axes[i].axis; axis >= 0 {
			chunk, block, seen[axis] = h.st.geo.chunkShape[axis], h.st.geo.blockShape[axis], true
		}
		if l.geo.chunkShape[i] != chunk || l.geo.blockShape[i] != block {
			return false
		}
	}
	for i := range h.st.geo.ndim {
		if !seen[i] && (h.st.geo.chunkShape[i] != 1 || h.st.geo.blockShape[i] != 1) {
			return false
		}
	}
	return true
}
