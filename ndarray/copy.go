package ndarray

import (
	"context"
	"iter"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// CreateOptions returns the options for creating an array like this one: its partition, compression parameters and
// checksums, its fixed metalayers, and the codecs, user filters and number of goroutines that it was opened with. The
// caller owns the result. It has no attributes and no Storage. It omits metalayers that mark data as stored elsewhere,
// because a copy contains the data, and those whose names Create rejects: set Meta to nil for Copy to keep these, too.
func (a *Array) CreateOptions() *CreateOptions {
	info := a.f.Info()
	o := &CreateOptions{
		Chunks: a.Chunks(), Blocks: a.Blocks(), Checksums: info.Checksums, BlockTable: info.BlockTable,
		Concurrency: a.opts.Concurrency, Codecs: slices.Clone(a.opts.Codecs), UserFilters: slices.Clone(a.opts.UserFilters),
	}
	o.setParams(info.Params)
	for _, l := range a.copiedMeta(a.f.Meta()) {
		if engine.NameFault(l.Name) == "" { // only a copy may have other names
			o.Meta = append(o.Meta, l)
		}
	}
	return o
}

// copiedMeta returns the metalayers that a copy of the array gets, besides its own metalayer with the shapes.
func (a *Array) copiedMeta(layers []meta.Layer) (copied []meta.Layer) {
	for _, l := range layers {
		if l.Name != a.layer && !engine.MarksOrigin(l.Name) {
			copied = append(copied, l)
		}
	}
	return copied
}

// Copy creates an array with the items of r in a new file or directory, or in memory if name is "", and opens it for
// writing. It takes options that o does not set from r, as CreateOptions describes. These include the metalayers and
// attributes of an array, but not of a view. If the partition and the parameters are the same, chunks are copied as
// stored. Otherwise items are read and compressed again, a few chunks at a time.
//
// If the new chunks cut across the old ones, old blocks may be decoded more than once: the less memory o.MaxMemory
// allows, the more often. If that is too often, Copy first writes the items to a temporary array with chunks that suit
// both partitions.
// The temporary array is a file next to the new one, or in memory if the new array is in memory. With a Storage, Copy
// uses no temporary array. See PlanRechunk. The error is an error of Create or of reading.
//
// With Overwrite, a copy can replace the array of r. But if both are in one file and have Locking, Copy returns
// ErrParam, because it would wait for its own reading. The same holds for Map, Reshape, Concat and Stack.
func Copy(ctx context.Context, name string, r Reader, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	h, err := snapshotOf(ctx, r)
	if err != nil {
		return nil, err
	}
	defer h.release()
	to := o.from(r.CreateOptions())
	memory := to.MaxMemory
	if to.MaxMemory = 0; memory < 0 {
		return nil, paramError("option MaxMemory is negative")
	}
	_, view := r.source()
	var layers []meta.Layer
	if to.Meta == nil && view == nil {
		layers = h.a.copiedMeta(h.v.Meta())
	}
	var buf grid.Dims
	l, err := h.layout(ctx, name, h.m.Shape(&buf), to) // r may have a newer shape
	if err != nil {
		return nil, err
	}
	return l.createFrom(ctx, name, []*snapshot{h}, func(b *frame.Batch) error {
		if err := b.Engine().CopyMeta(h.v, layers); err != nil {
			return err
		}
		if view == nil && to.Attrs == nil {
			if err := b.Engine().CopyVLMeta(h.v); err != nil {
				return err
			}
		}
		if h.chunkwise() && l.takes(h) {
			return b.Engine().CopyChunks(ctx, h.v)
		}
		w := h.boxWriter(l)
		if allZeros(h.v) {
			return w.zeros(b)
		}
		return w.rechunk(ctx, b, h, memory)
	})
}

// createFrom is create for an array whose items fill reads from snapshots. Damaged items are not copied: the new array
// may have checksums, which would match them.
func (l *layout) createFrom(ctx context.Context, name string, hs []*snapshot, fill func(b *frame.Batch) error) (*Array, error) {
	if l.opts.Locking && l.opts.Overwrite && !l.opts.Sparse {
		for _, h := range hs {
			if err := h.a.engine.CheckTarget(name); err != nil {
				return nil, err
			}
		}
	}
	return l.create(ctx, name, func(b *frame.Batch) error {
		for _, h := range hs {
			was := h.v
			h.v = was.Compared()
			defer func() { h.v = was }()
		}
		return fill(b)
	})
}

// sameCParams reports whether p and q compress a chunk to the same bytes.
func sameCParams(p, q chunk.Params) bool {
	p, errP := p.Normalize()
	q, errQ := q.Normalize()
	return errP == nil && errQ == nil && p.TypeSize == q.TypeSize && p.BlockSize == q.BlockSize && p.Codec == q.Codec &&
		p.CodecMeta == q.CodecMeta && p.Level == q.Level && coder.Params(p).Pipeline() == coder.Params(q).Pipeline() && p.Split == q.Split && p.Dict == q.Dict
}

// bytesPerBlock is the memory that encoding a chunk takes for each block: a slice, and its position in the chunk.
const bytesPerBlock = 28

// boxBytes is the memory in bytes for the items of a box, unless a single chunk needs more.
const boxBytes = 32 << 20

// boxWriter writes the chunks of a new array, a box of whole chunks at a time. It reads, decodes and encodes each box
// on all goroutines.
type boxWriter struct {
	l     *layout
	size  int                                      // of an item as it is read
	limit int64                                    // MaxBytes of the source; 0 or less means no limit
	most  int64                                    // bytes of a box; 0 means boxBytes
	check func(ctx context.Context, n int64) error // returns an error if n bytes may not be allocated; nil allows any n

	buf     []byte // items of a box
	checked int64  // the most bytes that check has allowed

	// read sets dst to the items of a box of the new array, in C order.
	read func(ctx context.Context, dst []byte, start, count *grid.Dims) error
	// ahead is snapshot.readAhead for the boxes that read will read, or nil.
	ahead func(ctx context.Context, boxes iter.Seq[box]) (stop func())
}

// boxWriter returns the boxWriter that copies the items of the snapshot.
func (h *snapshot) boxWriter(l *layout) *boxWriter {
	return &boxWriter{
		l: l, size: h.m.Dtype.Size, limit: h.a.opts.MaxBytes, check: h.a.checkChunks, read: h.read, ahead: h.readAhead,
	}
}

// checkChunks returns ErrTooLarge unless the size of the frame justifies n bytes of memory for the items of chunks.
func (a *Array) checkChunks(ctx context.Context, n int64) error {
	_, err := a.checkAlloc(ctx, "chunks", n, 1)
	return err
}

// run writes all chunks to an empty frame.
func (w *boxWriter) run(ctx context.Context, b *frame.Batch) error {
	g := w.l.geo
	if g.Items == 0 {
		return ctx.Err()
	}
	return w.write(ctx, b, w.boxes(grid.Dims{}, g.Shape))
}

// zeros sets all chunks to special chunks of zeros.
func (w *boxWriter) zeros(b *frame.Batch) error {
	return b.Engine().FillSpecial(w.l.geo.Chunks*w.l.geo.ChunkBytes, chunk.Zeros)
}

// boxes yields boxes of whole chunks that are written at a time, which make up [start, stop).
func (w *boxWriter) boxes(start, stop grid.Dims) iter.Seq[box] {
	g := w.l.geo
	return func(yield func(box) bool) {
		part := w.part(&start, &stop)
		for at := start; ; {
			x := box{start: at}
			for i := range g.Ndim {
				x.count[i] = min(part[i], stop[i]-at[i])
			}
			if !yield(x) || !advance(&at, &start, &part, &stop, g.Ndim) {
				return
			}
		}
	}
}

// advance moves at to the next position in C order of [start, stop) along the first n axes, in steps, and reports
// whether one exists. Otherwise at is start again.
func advance(at, start, step, stop *grid.Dims, n int) bool {
	for i := n - 1; i >= 0; i-- {
		if at[i] += step[i]; at[i] < stop[i] {
			return true
		}
		at[i] = start[i]
	}
	return false
}

// write writes the chunks of boxes of whole chunks. Either the chunks exist, or the boxes are those of the whole array.
// In that case the chunks are appended, because the boxes are in the order of the chunks.
func (w *boxWriter) write(ctx context.Context, b *frame.Batch, boxes iter.Seq[box]) error {
	if w.ahead != nil {
		defer w.ahead(ctx, boxes)()
	}
	for x := range boxes {
		if err := w.writeBox(ctx, b, &x); err != nil {
			return err
		}
	}
	return nil
}

// writeBox writes the chunks of a box.
func (w *boxWriter) writeBox(ctx context.Context, b *frame.Batch, x *box) error {
	g := w.l.geo
	sel := selection.OfBox(x.start[:g.Ndim], x.count[:g.Ndim])
	n, err := grid.ByteSize(sel.Items, int64(w.size))
	if err == nil {
		err = w.grow(ctx, int64(n))
	}
	if err != nil {
		return err
	}
	w.buf = w.buf[:n]
	if err := w.read(ctx, w.buf, &x.start, &x.count); err != nil {
		return err
	}
	items := &writing{plan: selection.NewPlan(g, &sel), src: w.buf}
	return b.Engine().Encode(ctx, int(g.ChunkBytes), items, items.size())
}

// grow makes the buffer large enough for n bytes of items. It also checks the memory for the blocks of a chunk, because
// the file of the source may choose the partition.
func (w *boxWriter) grow(ctx context.Context, n int64) error {
	size, err := grid.ByteSize(n, 1)
	if err != nil {
		return err
	}
	// A check of all arrays of Concat takes long if they are many.
	if n = max(n, bytesPerBlock*w.l.geo.Blocks); w.check != nil && n > w.checked {
		if err := w.check(ctx, n); err != nil {
			return err
		}
		w.checked = n
	}
	w.buf = slices.Grow(w.buf[:0], size)
	return nil
}

// budget returns how many bytes of items a box may have, unless a single chunk has more.
func (w *boxWriter) budget() int64 {
	most := int64(boxBytes)
	if w.most > 0 {
		most = w.most
	}
	if w.limit > 0 {
		most = min(most, w.limit)
	}
	return most
}

// part returns the shape of the box that is written at a time: one chunk, or as many along the last axes as fit in
// memory.
func (w *boxWriter) part(start, stop *grid.Dims) grid.Dims {
	g := w.l.geo
	part, items := g.ChunkShape, int64(1)
	for i := range g.Ndim {
		items *= min(part[i], stop[i]-start[i])
	}
	most := w.budget() / int64(w.size)
	for i := g.Ndim - 1; i >= 0; i-- {
		length := stop[i] - start[i]
		chunks := grid.CeilDiv(length, g.ChunkShape[i])
		step := items / min(part[i], length) // items along the axis
		n := chunks
		if most/step < length { // the last chunk may be shorter
			n = max(most/step/part[i], 1)
		}
		part[i] *= n
		items = step * min(part[i], length)
		if n < chunks {
			break
		}
	}
	return part
}
