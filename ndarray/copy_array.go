package ndarray

import (
	"context"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
)

// Options returns the options that make an array like this one: its partition, compression parameters, metalayers,
// and the codecs, filters and limits that it was opened with. Change what shall be different and give them to Copy.
func (a *Array) Options() *Options {
	info := a.f.Info()
	o := &Options{Options: a.f.Options(), Chunks: a.Chunks(), Blocks: a.Blocks()}
	o.CParams, o.Sparse, o.Overwrite, o.Offset, o.Meta = info.CParams, info.Sparse, false, 0, nil
	for _, l := range a.f.Meta() {
		if l.Name != a.layer {
			o.Meta = append(o.Meta, l)
		}
	}
	return o
}

// Copy makes an array with the same items and variable-length metalayers in a new file or directory, or in memory
// when name is "", and opens it for writing. o says what it shall be like; nil means like this one (see Options).
// With the same partition and parameters the chunks are copied as they are stored; else they are read and
// compressed again, chunk after chunk of the new array. Errors are those of Create and of reading.
func (a *Array) Copy(ctx context.Context, name string, o *Options) (*Array, error) {
	if o == nil {
		o = a.Options()
	}
	v, st, err := a.view()
	if err != nil {
		return nil, err
	}
	defer v.Release()
	l, err := newLayout(st.rec.Shape, a.dtype.String(), o)
	if err != nil {
		return nil, err
	}
	if a.dtype.Kind == 'V' && a.dtype.Fields == nil && a.dtype.Elem == nil {
		// Perhaps one that this package does not know.
		l.rec.DType, l.rec.DTypeFormat = st.rec.DType, st.rec.DTypeFormat
		if err := l.addRecord(); err != nil {
			return nil, err
		}
	}
	same := slices.Equal(l.rec.ChunkShape, st.rec.ChunkShape) && slices.Equal(l.rec.BlockShape, st.rec.BlockShape) &&
		sameCParams(l.opts.CParams, v.Info().CParams)
	return l.create(name, func(b *frame.Batch) error {
		if err := b.CopyVLMeta(v); err != nil {
			return err
		}
		if same {
			return b.CopyChunks(ctx, v)
		}
		if l.geo.items == 0 {
			return nil
		}
		return a.recompress(ctx, b, v, st, l)
	})
}

// sameCParams tells whether chunks compressed with p and q come out the same.
func sameCParams(p, q chunk.CParams) bool {
	p, errP := p.Normalize()
	q, errQ := q.Normalize()
	return errP == nil && errQ == nil && p.TypeSize == q.TypeSize && p.BlockSize == q.BlockSize && p.Codec == q.Codec &&
		p.CodecMeta == q.CodecMeta && p.Level == q.Level && p.Pipeline() == q.Pipeline() && p.Split == q.Split && p.Dict == q.Dict
}

// recompress reads the old array in pieces of whole new chunks, and writes them.
func (a *Array) recompress(ctx context.Context, b *frame.Batch, v frame.View, st *state, l *layout) error {
	if err := b.FillSpecial(l.geo.chunks*l.geo.chunkBytes, chunk.Zeros); err != nil {
		return err
	}
	all, err := resolve(st.rec.Shape, nil)
	if err != nil {
		return err
	}
	whole := newPlan(l.geo, &all)
	var part chunkPart
	var buf []byte
	sel := make([]Index, l.geo.ndim)
	for ok := whole.first(&part); ok; ok = whole.next(&part) {
		for i := range sel {
			sel[i] = Span(part.origin[i], min(part.origin[i]+l.geo.chunkShape[i], l.geo.shape[i]))
		}
		s, err := resolve(st.rec.Shape, sel)
		if err != nil {
			return err
		}
		n := int(s.items) * a.itemSize
		buf = slices.Grow(buf[:0], n)[:n]
		if err := a.read(ctx, v, st, &s, buf); err != nil {
			return err
		}
		if err := a.write(ctx, b, &state{rec: st.rec, geo: l.geo}, &s, &writing{src: buf}); err != nil {
			return err
		}
	}
	return nil
}
