package ndarray

import (
	"context"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/task"
)

// CreateOptions returns the options for creating an array like this one: its partition, compression parameters and
// checksums, its fixed metalayers, and the codecs, user filters and number of goroutines that it was opened with. The
// caller may change the result, which has no attributes and no place. It omits metalayers that mark data as stored
// elsewhere, because a copy contains the data.
func (a *Array) CreateOptions() *CreateOptions {
	info := a.f.Info()
	o := &CreateOptions{
		Chunks: a.Chunks(), Blocks: a.Blocks(), Checksums: info.Checksums,
		Concurrency: a.opts.Concurrency, Codecs: a.opts.Codecs, UserFilters: a.opts.UserFilters,
	}
	o.setParams(info.Params)
	for _, l := range a.f.Meta() {
		if l.Name != a.layer && !engine.MarksOrigin(l.Name) {
			o.Meta = append(o.Meta, l)
		}
	}
	return o
}

// Copy creates an array with the items of r in a new file or directory, or in memory if name is "", and opens it for
// writing. It takes what o leaves out from r, as CreateOptions describes, including the metalayers and attributes of an
// array, but not of a view. If the partition and the parameters are the same, chunks are copied as stored. Otherwise
// items are read and compressed again, a few chunks at a time. The error is an error of Create or of reading.
func Copy(ctx context.Context, name string, r Reader, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	h, err := snapshotOf(ctx, r)
	if err != nil {
		return nil, err
	}
	defer h.release()
	like := r.CreateOptions()
	to := o.from(like)
	if to.Meta == nil {
		to.Meta = like.Meta
	}
	l, err := h.layout(ctx, name, r.Shape(), to)
	if err != nil {
		return nil, err
	}
	return l.create(ctx, name, func(b *frame.Batch) error {
		if _, m := r.source(); m == nil && to.Attrs == nil {
			if err := b.Engine().CopyVLMeta(h.v); err != nil {
				return err
			}
		}
		if h.chunkwise() && l.takes(h) {
			return b.Engine().CopyChunks(ctx, h.v)
		}
		s := h.stream(l)
		if allZeros(h.v) {
			return s.zeros(b)
		}
		return s.run(ctx, b)
	})
}

// sameCParams reports whether p and q compress a chunk to the same bytes.
func sameCParams(p, q chunk.Params) bool {
	p, errP := p.Normalize()
	q, errQ := q.Normalize()
	return errP == nil && errQ == nil && p.TypeSize == q.TypeSize && p.BlockSize == q.BlockSize && p.Codec == q.Codec &&
		p.CodecMeta == q.CodecMeta && p.Level == q.Level && coder.Params(p).Pipeline() == coder.Params(q).Pipeline() && p.Split == q.Split && p.Dict == q.Dict
}
