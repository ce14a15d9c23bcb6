package ndarray

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/sched"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// snapshot is one state of a Reader, for several reads that must agree with each other.
type snapshot struct {
	a  *Array
	v  engine.View
	st *state
	m  selection.Mapping
}

// snapshotOf returns the newest state of r. The caller must release it.
func snapshotOf(ctx context.Context, r Reader) (*snapshot, error) {
	a, m := r.source()
	v, st, err := a.view(ctx)
	if err != nil {
		return nil, err
	}
	h := &snapshot{a: a, v: v, st: st}
	if m == nil {
		h.m = selection.Identity(st.geo, a.dtype)
	} else {
		h.m = *m
		err = m.Check(st.geo)
	}
	if err != nil {
		v.Release()
		return nil, err
	}
	return h, nil
}

// Hold returns arrays and views that show those of rs in one state until release is called: the newest state of each
// array. For several arrays with Locking it returns views instead, whose reads take the newest state each time: calls
// that hold one lock and wait for another could wait for each other forever. The shape of what Hold returns does not
// change, and is known without waiting for a lock.
//
// It is for packages that read an array several times, such as package lazy. Its last parameter has an internal type:
// packages of other modules cannot call it.
func Hold(ctx context.Context, rs []Reader, _ engine.Internal) (held []Reader, release func(), err error) {
	var views []engine.View
	release = func() {
		for _, v := range views {
			v.Release()
		}
	}
	arrays := map[*Array]*Array{}
	locking := 0
	for _, r := range rs {
		a, _ := r.source()
		if _, ok := arrays[a]; !ok && a.opts.Locking {
			locking++
		}
		arrays[a] = nil
	}
	for _, r := range rs {
		a, m := r.source()
		if locking > 1 && a.opts.Locking {
			if m == nil {
				h, err := snapshotOf(ctx, r)
				if err != nil {
					release()
					return nil, nil, err
				}
				h.release()
				r = &View{a: a, m: h.m}
			}
			held = append(held, r)
			continue
		}
		h := arrays[a]
		if h == nil {
			v, st, err := a.view(ctx)
			if err != nil {
				release()
				return nil, nil, err
			}
			views = append(views, v)
			h = a.holding(v.Shared(), st)
			arrays[a] = h
		}
		if m == nil {
			held = append(held, h)
		} else {
			held = append(held, &View{a: h, m: *m})
		}
	}
	return held, release, nil
}

// holding returns an array that has only one state, with the view v.
func (a *Array) holding(v engine.View, st *state) *Array {
	h := &Array{f: a.f, engine: a.engine, layer: a.layer, itemSize: a.itemSize, dtype: a.dtype, opts: a.opts, held: v}
	h.state.Store(st)
	return h
}

// release releases the state.
func (h *snapshot) release() { h.v.Release() }

// read reads a box into dst, in C order: count[i] items along each axis i, starting at start[i].
func (h *snapshot) read(ctx context.Context, dst []byte, start, count *grid.Dims) error {
	var stride grid.Dims
	grid.Strides(&stride, count[:h.m.Ndim])
	_, err := h.readStrided(ctx, dst, start, count, &stride)
	return err
}

// readStrided is read with the distances of neighbors along each axis in dst, in items. It reports whether the whole
// box lies in one special chunk.
func (h *snapshot) readStrided(ctx context.Context, dst []byte, start, count, stride *grid.Dims) (special bool, err error) {
	for i := range h.m.Ndim {
		if count[i] == 0 {
			return false, ctx.Err()
		}
	}
	r := h.a.reading()
	r.plan = h.plan(start, count, stride)
	err = r.run(ctx, h.v, dst)
	special = r.special
	h.a.reads.Put(r)
	return special, err
}

// plan plans the read of a box.
func (h *snapshot) plan(start, count, stride *grid.Dims) selection.Plan {
	var axes [grid.MaxDims]selection.AxisSelection
	for i := range h.m.Ndim {
		axes[i] = selection.AxisSelection{Start: start[i], Step: 1, Count: count[i]}
	}
	return h.m.Plan(h.st.geo, &axes, stride)
}

// box is the items [start, start+count) along each axis.
type box struct{ start, count grid.Dims }

// readAhead begins to read ahead from far away what reading the boxes needs, in about their order. Until stop is
// called, the snapshot must not be used for anything else.
func (h *snapshot) readAhead(ctx context.Context, boxes iter.Seq[box]) (stop func()) {
	return h.readAheadWith(ctx, 1, boxes)
}

// readAheadWith is readAhead for one of several snapshots that share the memory for bytes that are read ahead.
func (h *snapshot) readAheadWith(ctx context.Context, sharing int, boxes iter.Seq[box]) (stop func()) {
	var r reading
	var next func() (box, bool) // not called for a source that is not far away
	finish := func() {}
	was := h.v
	var view engine.View
	defer func() {
		if view == nil { // a panic
			finish()
		}
	}()
	view, end := was.Ahead(ctx, sharing, func(v *engine.Visit) bool {
		if next == nil {
			next, finish = sched.Pull(boxes)
		}
		for !r.Next(v) {
			b, ok := next()
			if !ok {
				return false
			}
			var stride grid.Dims
			grid.Strides(&stride, b.count[:h.m.Ndim])
			if slices.Contains(b.count[:h.m.Ndim], 0) {
				continue
			}
			r.plan, r.next = h.plan(&b.start, &b.count, &stride), 0
		}
		return true
	})
	h.v = view
	return func() {
		h.v = was
		defer func() { finish() }()
		end()
	}
}

// layout returns the layout of a new array with the items of the snapshot.
func (h *snapshot) layout(ctx context.Context, name string, shape []int64, o *CreateOptions) (*layout, error) {
	if o.DType != "" {
		d, err := newDType(o.DType)
		if err != nil {
			return nil, err
		}
		if d.Size != h.m.Dtype.Size {
			return nil, fmt.Errorf("ndarray: option DType is %s with %d bytes, but items have %d; AsType converts them: %w", o.DType, d.Size, h.m.Dtype.Size, ErrType)
		}
		return newLayout(ctx, name, shape, d, o)
	}
	l, err := newLayout(ctx, name, shape, h.m.Dtype, o)
	if err != nil {
		return nil, err
	}
	if d := h.m.Dtype; h.m.Whole(h.a.itemSize) && d.Kind == 'V' && d.Fields == nil && d.Elem == nil {
		// The stored dtype may be one that this package does not support.
		l.rec.DType, l.rec.DTypeFormat = h.st.rec.DType, h.st.rec.DTypeFormat
		l.dtype = dtypeOf(&l.rec, d.Size)
		err = l.addRecord()
	}
	return l, err
}

// chunkwise reports whether the items have the same order as in the array, except that axes of length 1 may be added or
// removed. Then a copy can use the chunks of the array as stored.
func (h *snapshot) chunkwise() bool {
	if !h.m.Whole(h.a.itemSize) {
		return false
	}
	g, next := h.st.geo, 0
	for i := range h.m.Ndim {
		x := &h.m.Axes[i]
		if x.Axis < 0 {
			if x.Count != 1 {
				return false
			}
			continue
		}
		for ; next < int(x.Axis); next++ {
			if g.Shape[next] != 1 {
				return false
			}
		}
		if next != int(x.Axis) || x.Start != 0 || x.Step != 1 || x.Count != g.Shape[next] {
			return false
		}
		next++
	}
	for ; next < g.Ndim; next++ {
		if g.Shape[next] != 1 {
			return false
		}
	}
	return true
}

// usesBlockShape reports whether chunks with the parameters p may depend on the shape of their blocks. Codecs and
// filters of the program may use it.
func (l *layout) usesBlockShape(p chunk.Params) bool {
	return p.Shaped() || len(l.opts.Codecs) > 0 || len(l.opts.UserFilters) > 0
}

// takes reports whether chunks of the snapshot, which must be chunkwise, can be copied to the new array as stored.
func (l *layout) takes(h *snapshot) bool {
	p := h.v.Info().Params
	if l.opts.Goal != 0 { // the items are compressed again
		return false
	}
	sameBlocks := l.geo.Ndim == h.st.geo.Ndim && l.geo.BlockShape == h.st.geo.BlockShape
	if !sameCParams(l.opts.Params, p) || l.usesBlockShape(p) && !sameBlocks {
		return false
	}
	var seen [grid.MaxDims]bool
	for i := range h.m.Ndim {
		chunk, block := int64(1), int64(1)
		if axis := h.m.Axes[i].Axis; axis >= 0 {
			chunk, block, seen[axis] = h.st.geo.ChunkShape[axis], h.st.geo.BlockShape[axis], true
		}
		if l.geo.ChunkShape[i] != chunk || l.geo.BlockShape[i] != block {
			return false
		}
	}
	for i := range h.st.geo.Ndim {
		if !seen[i] && (h.st.geo.ChunkShape[i] != 1 || h.st.geo.BlockShape[i] != 1) {
			return false
		}
	}
	return true
}
