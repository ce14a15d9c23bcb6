package ndarray

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/sched"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/lookahead"
	"github.com/goblosc/blosc2/ndarray/internal/numbers"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// Concat creates an array from others, one after the other along an axis. A negative axis counts from the last. The
// other axes must have the same lengths. The items must have the same dtype, except for the byte order. The new array
// has the byte order of the first array. Concat takes the partition and compression that o leaves out from the first
// array, as CreateOptions describes, but no metalayers or attributes. It reads one state of each array. If several
// arrays have Locking, each read takes the newest state of its array: calls that hold one lock and wait for another
// could wait for each other forever. The error then wraps ErrChanged if an edit changes the shape of an array in
// between.
//
// If partition and compression parameters are the same, chunks that start at a chunk boundary of the new array are
// copied as stored. These are the chunks of all arrays up to the first whose length along the axis is not a multiple of
// the chunk length, and possibly others. Other items are read and compressed again, in pieces of bounded size. From
// sources that read many ranges at once, Concat reads up to 16 arrays at the same time: about 64 MiB of stored bytes,
// or the bytes of a piece. If several arrays have Locking, they are read one after the other. The error wraps ErrShape
// or ErrType, or is an error of Copy.
func Concat(ctx context.Context, name string, axis int, rs []Reader, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	if len(rs) == 0 {
		return nil, fmt.Errorf("ndarray: %w: no arrays to concatenate", ErrShape)
	}
	held, release, err := Hold(ctx, rs, engine.Internal{}) // an array may occur several times
	if err != nil {
		return nil, err
	}
	defer release()
	j := joining{axis: axis}
	defer j.release()
	for i, r := range held {
		if a, _ := r.source(); a.held == nil {
			r = rs[i] // whose newest shape is compared
		}
		if err := j.add(ctx, r); err != nil {
			return nil, err
		}
	}
	if j.l, err = j.parts[0].layout(ctx, name, j.shape, o.from(held[0].CreateOptions())); err != nil {
		return nil, err
	}
	var hs []*snapshot
	for _, p := range j.parts {
		hs = append(hs, p.snapshot)
	}
	return j.l.createFrom(ctx, name, hs, func(b *frame.Batch) error { return j.run(ctx, b) })
}

// Stack creates an array from others of the same shape, along a new axis. axis is the position of the new axis in the
// result; a negative one counts from the last. Stack is a Concat of their ExpandDims.
func Stack(ctx context.Context, name string, axis int, rs []Reader, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	rs, release, err := Hold(ctx, rs, engine.Internal{})
	if err != nil {
		return nil, err
	}
	defer release()
	views := make([]Reader, len(rs))
	for i, r := range rs {
		if have, want := r.Shape(), rs[0].Shape(); !slices.Equal(have, want) {
			return nil, fmt.Errorf("ndarray: %w: cannot stack shapes %v and %v", ErrShape, want, have)
		}
		v, err := ExpandDims(r, axis)
		if err != nil {
			return nil, err
		}
		views[i] = v
	}
	if len(rs) > 0 && axis < 0 {
		axis += len(rs[0].Shape()) + 1
	}
	return Concat(ctx, name, axis, views, o)
}

// joining is the state of a call of Concat.
type joining struct {
	axis  int
	l     *layout
	shape []int64
	parts []*joined
	far   bool // some of the parts are far away
}

// joined is one of the arrays, and its place along the axis of the result.
type joined struct {
	*snapshot
	first, count int64 // position and length along the axis of the result
	from, to     int64 // the rows of chunks across the axis of the result that are copied as stored
	convert      numbers.Loop

	// If several arrays have Locking, the source, whose lock is taken for each read. The snapshot is then released, and
	// only what it has in memory may be used.
	again Reader

	far   bool        // chunks can be read ahead
	bytes int64       // stored; only if far
	ahead engine.View // for copying chunks that are read ahead, or nil
}

func (j *joining) release() {
	for _, p := range j.parts {
		if p.again == nil {
			p.release()
		}
	}
}

// now returns the state of the part for one read. The caller must call release.
func (p *joined) now(ctx context.Context) (h *snapshot, release func(), err error) {
	if p.again == nil {
		return p.snapshot, func() {}, nil
	}
	if h, err = snapshotOf(ctx, p.again); err != nil {
		return nil, nil, err
	}
	v := h.v
	h.v = v.Compared()
	var was, is grid.Dims
	if !slices.Equal(h.m.Shape(&is), p.m.Shape(&was)) {
		v.Release()
		return nil, nil, p.errChanged()
	}
	return h, v.Release, nil
}

// errChanged returns the error for a part that does not fit any more.
func (p *joined) errChanged() error {
	return p.a.fault("edited while it is concatenated: %w", ErrChanged)
}

// add adds a part.
func (j *joining) add(ctx context.Context, r Reader) error {
	h, err := snapshotOf(ctx, r)
	if err != nil {
		return err
	}
	p := &joined{snapshot: h}
	if h.a.held == nil && h.a.opts.Locking {
		p.again = r
		h.release()
	} else {
		if p.far = h.v.Far(); p.far {
			info := h.v.Info()
			p.bytes = max(info.FrameLen, info.CBytes)
			j.far = true
		}
	}
	j.parts = append(j.parts, p)
	var buf grid.Dims
	shape := h.m.Shape(&buf)
	if len(j.parts) == 1 {
		j.shape = slices.Clone(shape)
		if j.axis, err = axisNumber(j.axis, len(shape), ErrShape); err == nil {
			p.count = shape[j.axis]
		}
		return err
	}
	have, want := h.m.Dtype, j.parts[0].m.Dtype
	if have.String() != want.String() {
		if !convert.OrderDiffers(want, have) {
			return fmt.Errorf("ndarray: %w: cannot concatenate items of %v and %v", ErrType, want, have)
		}
		if p.convert, err = convert.Cast(want, have); err != nil {
			return err
		}
	}
	fits := len(shape) == len(j.shape)
	for i := range shape {
		fits = fits && (i == j.axis || shape[i] == j.shape[i])
	}
	if !fits {
		return fmt.Errorf("ndarray: %w: cannot concatenate shapes %v and %v along axis %d", ErrShape, j.parts[0].m.Shape(new(grid.Dims)), slices.Clone(shape), j.axis)
	}
	p.first, p.count = j.shape[j.axis], shape[j.axis]
	if p.first+p.count < 0 {
		return fmt.Errorf("ndarray: %w: axis %d would have more than 2^63-1 items", ErrTooLarge, j.axis)
	}
	j.shape[j.axis] += p.count
	return nil
}

// run writes all chunks. Rows of chunks are copied as stored where possible.
func (j *joining) run(ctx context.Context, b *frame.Batch) error {
	g := j.l.geo
	w := j.parts[0].boxWriter(j.l)
	w.read, w.ahead = j.read, nil
	w.check = func(ctx context.Context, n int64) error {
		for _, p := range j.parts {
			if err := p.a.checkChunks(ctx, n); err != nil {
				return err
			}
		}
		return nil
	}
	for _, p := range j.parts {
		if most := p.a.opts.MaxBytes; most > 0 && (w.limit <= 0 || most < w.limit) {
			w.limit = most
		}
	}
	copied := false
	for _, p := range j.parts {
		j.findRows(p)
		copied = copied || p.from < p.to
	}
	if g.Items == 0 || !copied {
		return w.run(ctx, b)
	}
	if err := w.zeros(b); err != nil || j.allZeros() {
		return err
	}
	// An index whose chunks are not written in order is in memory, even if all chunks are special.
	for _, p := range j.parts {
		if _, err := p.a.checkAlloc(ctx, "the index", g.Chunks, 8); err != nil {
			return err
		}
	}
	row := int64(0) // the first that is not written
	ahead := lookahead.Queue{
		Len: len(j.parts),
		Bytes: func(i int) int64 {
			if p := j.parts[i]; p.from < p.to && p.far {
				return p.bytes
			}
			return -1
		},
		Start: func(i int) (stop func()) { return j.readAhead(ctx, j.parts[i]) },
	}
	defer ahead.Stop()
	for i, p := range j.parts {
		if p.from == p.to {
			continue
		}
		ahead.Begin(i)
		err := j.writeRows(ctx, b, w, row, p.from)
		if err == nil {
			err = j.copyRows(ctx, b, p)
		}
		ahead.End(i)
		if err != nil {
			return err
		}
		row = p.to
	}
	return j.writeRows(ctx, b, w, row, g.Grid[j.axis])
}

// copyRows copies the rows of chunks of a part that are copied as stored.
func (j *joining) copyRows(ctx context.Context, b *frame.Batch, p *joined) error {
	h, release, err := p.now(ctx)
	if err != nil {
		return err
	}
	defer release()
	if !h.chunkwise() || !j.l.takes(h) {
		return p.errChanged()
	}
	v := h.v
	if p.ahead != nil {
		v = p.ahead
	}
	return b.Engine().PutChunks(ctx, v, j.chunks(p, h.st.geo))
}

// readAhead begins to read the chunks of a part that are copied as stored.
func (j *joining) readAhead(ctx context.Context, p *joined) (stop func()) {
	next, end := sched.Pull(func(yield func(int) bool) {
		for _, from := range j.chunks(p, p.st.geo) {
			if !yield(from) {
				return
			}
		}
	})
	defer func() {
		if p.ahead == nil { // a panic
			end()
		}
	}()
	v, done := p.v.AheadChunks(ctx, next)
	p.ahead = v
	return func() {
		p.ahead = nil
		defer end()
		done()
	}
}

// allZeros reports whether all items of all parts are zeros without being read.
func (j *joining) allZeros() bool {
	return !slices.ContainsFunc(j.parts, func(p *joined) bool { return !allZeros(p.v) })
}

// findRows sets the rows of chunks of a part that can be copied as stored: those that it has completely.
func (j *joining) findRows(p *joined) {
	g := j.l.geo
	length := g.ChunkShape[j.axis]
	if p.count == 0 || p.first%length != 0 || !p.convert.None() || !p.chunkwise() || !j.l.takes(p.snapshot) {
		return
	}
	end := p.first + p.count
	p.from, p.to = p.first/length, end/length
	if end == g.Shape[j.axis] {
		p.to = g.Grid[j.axis] // the last row may have padding
	}
}

// writeRows compresses rows of chunks.
func (j *joining) writeRows(ctx context.Context, b *frame.Batch, w *boxWriter, from, to int64) error {
	if from == to {
		return nil
	}
	start, stop := grid.Dims{}, j.l.geo.Shape
	length := j.l.geo.ChunkShape[j.axis]
	start[j.axis] = from * length
	stop[j.axis] = min(stop[j.axis], to*length)
	return w.write(ctx, b, w.boxes(start, stop))
}

// chunks yields the numbers of all chunks that are copied from a part, in the result and in the array of the part. old
// is the geometry of that array.
func (j *joining) chunks(p *joined, old *grid.Geometry) iter.Seq2[int, int] {
	return func(yield func(to, from int) bool) {
		g := j.l.geo
		stride := g.GridStride[j.axis]
		for outer := int64(0); outer < g.Chunks; outer += g.Grid[j.axis] * stride {
			for row := p.from; row < p.to; row++ {
				for inner := range stride {
					from, rest := int64(0), outer+(row-p.from)*stride+inner
					for i := range g.Ndim {
						at := rest / g.GridStride[i]
						rest -= at * g.GridStride[i]
						if axis := p.m.Axes[i].Axis; axis >= 0 {
							from += at * old.GridStride[axis]
						}
					}
					if !yield(int(outer+row*stride+inner), int(from)) {
						return
					}
				}
			}
		}
	}
}

// read reads a box of the result, from each part that it overlaps.
func (j *joining) read(ctx context.Context, dst []byte, start, count *grid.Dims) error {
	g := j.l.geo
	var stride grid.Dims
	grid.Strides(&stride, count[:g.Ndim])
	end := start[j.axis] + count[j.axis]
	i := sort.Search(len(j.parts), func(i int) bool { return j.parts[i].first+j.parts[i].count > start[j.axis] })
	var boxes []joinedBox
	for ; i < len(j.parts) && j.parts[i].first < end; i++ {
		p := j.parts[i]
		x := joinedBox{part: p, box: box{*start, *count}}
		lo := max(start[j.axis], p.first)
		hi := min(end, p.first+p.count)
		if lo >= hi {
			continue
		}
		x.box.start[j.axis], x.box.count[j.axis] = lo-p.first, hi-lo
		x.dst = dst[int((lo-start[j.axis])*stride[j.axis])*j.l.dtype.Size:]
		if !j.far {
			if err := x.read(ctx, &stride, g.Ndim); err != nil {
				return err
			}
			continue
		}
		boxes = append(boxes, x)
	}
	ahead := lookahead.Queue{
		Len: len(boxes),
		Bytes: func(i int) int64 {
			if boxes[i].part.far {
				return boxes[i].stored()
			}
			return -1
		},
		Start: func(i int) (stop func()) { return boxes[i].readAhead(ctx, len(boxes)) },
	}
	defer ahead.Stop()
	for k := range boxes {
		if len(boxes) > 1 {
			ahead.Begin(k)
		}
		if err := boxes[k].read(ctx, &stride, g.Ndim); err != nil {
			return err
		}
		ahead.End(k)
	}
	return nil
}

// joinedBox is a box of a part.
type joinedBox struct {
	part *joined
	box  box
	dst  []byte // the place of its first item in the result

	ahead *snapshot // that is read ahead, or nil
}

// stored returns about the number of stored bytes that reading the box takes.
func (x *joinedBox) stored() int64 {
	p := x.part
	var stride grid.Dims
	grid.Strides(&stride, x.box.count[:p.m.Ndim])
	plan, g := p.plan(&x.box.start, &x.box.count, &stride), p.st.geo
	chunk := float64(p.bytes) / float64(max(1, g.Chunks))
	n := chunk * float64(plan.Chunks)
	if !p.a.opts.Verify { // half of a chunk may be read as a whole chunk
		n = min(n, 2*chunk*float64(plan.BlockCount())/float64(max(1, g.Blocks)))
	}
	return int64(min(n, lookahead.MaxBytes))
}

// readAhead begins to read the box, which is one of n. See snapshot.readAhead.
func (x *joinedBox) readAhead(ctx context.Context, n int) (stop func()) {
	h := *x.part.snapshot
	done := h.readAheadWith(ctx, min(n, lookahead.MaxItems), func(yield func(box) bool) { yield(x.box) })
	x.ahead = &h
	return func() {
		x.ahead = nil
		done()
	}
}

// read reads the box into dst, in the byte order of the result.
func (x *joinedBox) read(ctx context.Context, stride *grid.Dims, ndim int) error {
	p, dst, start, count := x.part, x.dst, &x.box.start, &x.box.count
	h, release, err := p.now(ctx)
	if err != nil {
		return err
	}
	defer release()
	if x.ahead != nil {
		h = x.ahead
	}
	if p.convert.None() {
		_, err := h.readStrided(ctx, dst, start, count, stride)
		return err
	}
	n, _ := grid.Product(count[:ndim])
	raw := make([]byte, n*int64(p.m.Dtype.Size))
	if err := h.read(ctx, raw, start, count); err != nil {
		return err
	}
	items := make([]byte, len(raw))
	p.convert.Run(items, raw)
	var from selection.Side
	grid.Strides(&from.Stride, count[:ndim])
	c := selection.CopyOf(&selection.Side{Stride: *stride}, &from, count, ndim, p.m.Dtype.Size)
	c.Run(dst, items)
	return nil
}
