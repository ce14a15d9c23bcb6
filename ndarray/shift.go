package ndarray

import (
	"context"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// groupBytes is about the size of the chunks that a shift rewrites at a time, if a single chunk is not larger.
const groupBytes = 8 << 20

// shift changes the length of an axis before its end. If n is positive, n items are inserted before item at; if n is
// negative, the -n items from item at are removed. If all items of a new row of chunks along the axis come from one old
// row, at the same positions in the row, the old row is kept. The other rows are rewritten from the old state.
type shift struct {
	b        *Batch
	axis     int
	at, in   int64  // position and number of inserted items
	by       int64  // distance by which the items after at move
	data     []byte // inserted items in C order; nil for zeros
	old, new *state
	view     engine.View // of the old state
	buf      []byte
}

// shift inserts n steps with data before item at along an axis, or removes -n steps.
func (b *Batch) shift(ctx context.Context, axis int, at, n int64, data []byte) error {
	shape := b.Shape()
	shape[axis] += n
	next, err := b.reshaped(shape)
	if err != nil {
		return err
	}
	x := &shift{b: b, axis: axis, at: at, in: max(n, 0), by: n, data: data, old: b.st, new: next}
	row := func(i int, at int64) int64 {
		if i == axis {
			return x.row(at)
		}
		return at
	}
	view, release := b.b.Engine().Hold()
	defer release()
	x.view = view
	if err := b.b.Engine().SelectChunks(ctx, next.geo.Chunks, next.geo.ChunkBytes, regrid(x.old.geo, next.geo, row)); err != nil {
		return err
	}
	if err := b.publish(next); err != nil {
		return err
	}
	return x.run(ctx)
}

// row returns the number of the old row of chunks that becomes row k, or -1 if row k must be written.
func (x *shift) row(k int64) int64 {
	c := x.new.geo.ChunkShape[x.axis]
	first := k * c
	switch stop := min(first+c, x.new.geo.Shape[x.axis]); {
	case stop <= x.at:
		return k
	case first >= x.at+x.in && x.by%c == 0:
		return k - x.by/c
	}
	return -1
}

// run writes the new rows, which are contiguous. Rows that consist of inserted items are written directly from the
// data. The rows before and after them are rebuilt from old items and data.
func (x *shift) run(ctx context.Context) error {
	g := x.new.geo
	if g.Items == 0 {
		return ctx.Err()
	}
	c, length := g.ChunkShape[x.axis], g.Shape[x.axis]
	first, last := x.at/c, g.Grid[x.axis]
	if x.by%c == 0 {
		last = grid.CeilDiv(x.at+x.in, c)
	}
	newFirst := grid.CeilDiv(x.at, c)
	newLast := max((x.at+x.in)/c, newFirst)
	if newFirst >= newLast {
		return x.rebuild(ctx, first*c, min(last*c, length))
	}
	if err := x.rebuild(ctx, first*c, newFirst*c); err != nil {
		return err
	}
	if x.data != nil {
		if err := x.writeNew(ctx, newFirst*c, newLast*c); err != nil {
			return err
		}
	}
	return x.rebuild(ctx, newLast*c, min(last*c, length))
}

// writeNew writes data to rows of chunks that consist of inserted items.
func (x *shift) writeNew(ctx context.Context, lo, hi int64) error {
	s := selection.WholeAxes(x.new.rec.Shape)
	s.Cut(x.axis, lo, hi)
	p := selection.NewPlan(x.new.geo, &s)
	stride := x.dataStrides()
	p.SetStrides(&stride, (lo-x.at)*stride[x.axis])
	w := &writing{src: x.data, plan: p}
	return x.b.a.encode(ctx, x.b.b, x.new, w, w.size())
}

// dataStrides returns the strides of the data.
func (x *shift) dataStrides() (stride grid.Dims) {
	shape := slices.Clone(x.new.rec.Shape)
	shape[x.axis] = x.in
	grid.Strides(&stride, shape)
	return stride
}

// rebuild rewrites the rows of chunks from item lo to item hi, a group of chunks at a time.
func (x *shift) rebuild(ctx context.Context, lo, hi int64) error {
	if lo >= hi || x.data == nil && allZeros(x.view) {
		return ctx.Err()
	}
	s := selection.WholeAxes(x.new.rec.Shape)
	s.Cut(x.axis, lo, hi)
	size := x.groupShape()
	groups, err := grid.NewGeometry(x.new.rec.Shape, size, size, int64(x.b.a.itemSize))
	if err != nil {
		return err
	}
	p := selection.NewPlan(groups, &s)
	var part selection.ChunkPart
	for i := range p.Chunks {
		p.Seek(&part, i)
		var from, to grid.Dims
		for k := range groups.Ndim {
			from[k], to[k] = p.Axes[k].First+part.Lo[k], p.Axes[k].First+part.Hi[k]
		}
		if err := x.group(ctx, &from, &to); err != nil {
			return err
		}
	}
	return nil
}

// groupShape returns the shape of a group of chunks, a multiple of the chunk shape.
func (x *shift) groupShape() []int32 {
	g := x.new.geo
	size := make([]int32, g.Ndim)
	n := g.ItemSize
	for i := range size {
		n *= g.ChunkShape[i]
	}
	for i := g.Ndim - 1; i >= 0; i-- {
		k := min(max(groupBytes/n, 1), g.Grid[i])
		size[i] = int32(k * g.ChunkShape[i])
		n *= k
	}
	return size
}

// group rewrites one group of whole chunks, with the items from lo to hi.
func (x *shift) group(ctx context.Context, lo, hi *grid.Dims) error {
	g, a := x.new.geo, x.b.a
	s := selection.WholeAxes(x.new.rec.Shape)
	count, stride := grid.Dims{}, grid.Dims{}
	for i := range g.Ndim {
		s.Cut(i, lo[i], hi[i])
		count[i] = hi[i] - lo[i]
	}
	grid.Strides(&stride, count[:g.Ndim])
	// The inserted items are from up to to. Old items precede them up to before, and follow them starting at after.
	before, from := min(hi[x.axis], x.at), max(lo[x.axis], x.at)
	to, after := min(hi[x.axis], x.at+x.in), max(lo[x.axis], x.at+x.in)
	if (x.data == nil || from >= to) && x.zeros(&s, lo[x.axis], before, 0) && x.zeros(&s, after, hi[x.axis], x.by) {
		return ctx.Err() // new chunks are zeros already
	}
	n, err := a.checkAlloc(ctx, "chunks", s.Items, int(g.ItemSize))
	if err != nil {
		return err
	}
	x.buf = slices.Grow(x.buf[:0], n)[:n]
	if err := x.read(ctx, &s, lo[x.axis], before, 0, &stride, 0); err != nil {
		return err
	}
	if from < to {
		x.insertItems(lo, &count, &stride, from, to)
	}
	if err := x.read(ctx, &s, after, hi[x.axis], x.by, &stride, (after-lo[x.axis])*stride[x.axis]); err != nil {
		return err
	}
	return a.writeSelection(ctx, x.b.b, x.new, nil, &s, &writing{src: x.buf})
}

// zeros reports whether the old items that read would read lie in special chunks of zeros.
func (x *shift) zeros(s *selection.Selection, lo, hi, by int64) bool {
	if lo >= hi {
		return true
	}
	old := *s
	old.Cut(x.axis, lo-by, hi-by)
	p := selection.NewPlan(x.old.geo, &old)
	var part selection.ChunkPart
	for i := range p.Chunks {
		p.Seek(&part, i)
		if special := x.view.Special(int(part.Number)); special != chunk.Zeros && special != chunk.Uninit {
			return false
		}
	}
	return true
}

// read reads old items into the part of a group from lo to hi along the axis. s selects the group. The old position of
// an item is its new position minus by.
func (x *shift) read(ctx context.Context, s *selection.Selection, lo, hi, by int64, stride *grid.Dims, offset int64) error {
	if lo >= hi {
		return ctx.Err()
	}
	old := *s
	old.Cut(x.axis, lo-by, hi-by)
	p := selection.NewPlan(x.old.geo, &old)
	p.SetStrides(stride, offset)
	r := x.b.a.reading()
	r.plan = p
	err := r.run(ctx, x.view, x.buf)
	x.b.a.reads.Put(r)
	return err
}

// insertItems sets the inserted items of a group, from item from up to item to along the axis.
func (x *shift) insertItems(lo, count, stride *grid.Dims, from, to int64) {
	g := x.new.geo
	some := *count
	some[x.axis] = to - from
	dst := selection.Side{Offset: (from - lo[x.axis]) * stride[x.axis], Stride: *stride}
	src, data := selection.Side{}, make([]byte, g.ItemSize) // a zero item that repeats, because the strides are 0
	if x.data != nil {
		src.Stride, data = x.dataStrides(), x.data
		for i := range g.Ndim {
			at := lo[i]
			if i == x.axis {
				at = from - x.at
			}
			src.Offset += at * src.Stride[i]
		}
	}
	c := selection.CopyOf(&dst, &src, &some, g.Ndim, int(g.ItemSize))
	c.Run(x.buf, data)
}
