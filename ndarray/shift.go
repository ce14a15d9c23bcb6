package ndarray

import (
	"context"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// groupBytes is about how much a shift makes anew at a time, when chunks are not larger.
const groupBytes = 8 << 20

// shift changes the length of an axis before its end: n items come in before item at, or, when n is negative, -n items
// leave from there on. A row of chunks along the axis whose items all come from one old row, each from its place there,
// is that row. The others are read from the held old state and written anew.
type shift struct {
	b        *Batch
	axis     int
	at, in   int64  // where and how many items come in
	by       int64  // how far the items behind move
	data     []byte // what comes in, in C order; nil for zeros
	old, new *state
	held     frame.View
	buf      []byte
}

// shift makes room for n items along an axis and fills it with data, or closes the room of -n.
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
	view, release := b.b.Hold()
	defer release()
	x.held = view
	if err := b.b.SelectChunks(next.geo.Chunks, next.geo.ChunkBytes, regrid(x.old.geo, next.geo, row)); err != nil {
		return err
	}
	if err := b.publish(next); err != nil {
		return err
	}
	return x.run(ctx)
}

// row returns the old row of chunks that a new one is, or -1.
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

// run writes the rows that are no old ones: they stand together. Those among them in which all items come in are
// written from the data; those around them are made of old items and data.
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

// writeNew writes data to rows of chunks whose items all come in.
func (x *shift) writeNew(ctx context.Context, lo, hi int64) error {
	s := selection.WholeAxes(x.new.rec.Shape)
	s.Cut(x.axis, lo, hi)
	p := selection.NewPlan(x.new.geo, &s)
	stride := x.dataStrides()
	p.Stand(&stride, (lo-x.at)*stride[x.axis])
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

// rebuild makes rows of chunks anew, a group of chunks at a time.
func (x *shift) rebuild(ctx context.Context, lo, hi int64) error {
	if lo >= hi || x.data == nil && allZeros(x.held) {
		return ctx.Err()
	}
	s := selection.WholeAxes(x.new.rec.Shape)
	s.Cut(x.axis, lo, hi)
	size := x.groups()
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

// groups returns the shape of a group: whole chunks.
func (x *shift) groups() []int32 {
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

// group makes the items from lo up to hi anew, which are whole chunks.
func (x *shift) group(ctx context.Context, lo, hi *grid.Dims) error {
	g, a := x.new.geo, x.b.a
	s := selection.WholeAxes(x.new.rec.Shape)
	count, stride := grid.Dims{}, grid.Dims{}
	for i := range g.Ndim {
		s.Cut(i, lo[i], hi[i])
		count[i] = hi[i] - lo[i]
	}
	grid.Strides(&stride, count[:g.Ndim])
	// The items before those that come in, these, and the items behind.
	before, from := min(hi[x.axis], x.at), max(lo[x.axis], x.at)
	to, behind := min(hi[x.axis], x.at+x.in), max(lo[x.axis], x.at+x.in)
	if (x.data == nil || from >= to) && x.zeros(&s, lo[x.axis], before, 0) && x.zeros(&s, behind, hi[x.axis], x.by) {
		return ctx.Err() // as a new chunk is
	}
	n, err := grid.ByteSize(s.Items, g.ItemSize)
	if err == nil {
		if err = a.f.CheckAlloc(int64(n)); err != nil {
			err = fmt.Errorf("ndarray: %w: chunks of %w", ErrTooLarge, err)
		}
	}
	if err != nil {
		return err
	}
	x.buf = slices.Grow(x.buf[:0], n)[:n]
	if err := x.read(ctx, &s, lo[x.axis], before, 0, &stride, 0); err != nil {
		return err
	}
	if from < to {
		x.take(lo, &count, &stride, from, to)
	}
	if err := x.read(ctx, &s, behind, hi[x.axis], x.by, &stride, (behind-lo[x.axis])*stride[x.axis]); err != nil {
		return err
	}
	return a.write(ctx, x.b.b, x.new, &s, &writing{src: x.buf})
}

// zeros tells whether the index says that all items that read would read are zeros.
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
		if special := x.held.Special(int(part.Number)); special != chunk.Zeros && special != chunk.Uninit {
			return false
		}
	}
	return true
}

// read reads of a group, which s selects, the items from lo up to hi along the axis. They come from old ones that stood
// by less far.
func (x *shift) read(ctx context.Context, s *selection.Selection, lo, hi, by int64, stride *grid.Dims, offset int64) error {
	if lo >= hi {
		return ctx.Err()
	}
	old := *s
	old.Cut(x.axis, lo-by, hi-by)
	p := selection.NewPlan(x.old.geo, &old)
	p.Stand(stride, offset)
	r := x.b.a.reading()
	r.plan = p
	err := r.run(ctx, x.held, x.buf)
	x.b.a.reads.Put(r)
	return err
}

// take sets the items of a group that come in, from item from up to item to along the axis.
func (x *shift) take(lo, count, stride *grid.Dims, from, to int64) {
	g := x.new.geo
	some := *count
	some[x.axis] = to - from
	dst := selection.Side{Offset: (from - lo[x.axis]) * stride[x.axis], Stride: *stride}
	src, data := selection.Side{}, make([]byte, g.ItemSize) // every step is 0: the same item each time
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
