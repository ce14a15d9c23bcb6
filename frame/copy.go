package frame

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
)

// AppendTo appends the frame in its contiguous form, without dead bytes, to dst: what python-blosc2 calls to_cframe.
func (f *Frame) AppendTo(dst []byte) ([]byte, error) {
	v, err := f.View()
	if err != nil {
		return dst, err
	}
	defer v.Release()
	mem, err := CreateMemory(v.copyOptions(), func(b *Batch) error { return v.copyInto(context.Background(), b) })
	if err != nil {
		return dst, err
	}
	defer mem.Close()
	return append(dst, mem.store.(*contiguous).st.(*Memory).Bytes()...), nil
}

// Copy makes a frame with the same chunks and metalayers in a new file or directory and opens it for editing: the
// stored chunks as they are, without the dead bytes between them. Of o only the fields that say where to and how
// (Sparse, Overwrite, NoSync, Concurrency, ...) count.
func (f *Frame) Copy(ctx context.Context, name string, o *Options) (*Frame, error) {
	v, err := f.View()
	if err != nil {
		return nil, err
	}
	defer v.Release()
	to := v.copyOptions()
	if o != nil {
		to.Checksums, to.Verify = to.Checksums || o.Checksums, o.Verify
		to.Sparse, to.Overwrite, to.NoSync = o.Sparse, o.Overwrite, o.NoSync
		to.Codecs, to.Filters, to.Prefilter, to.Postfilter = o.Codecs, o.Filters, o.Prefilter, o.Postfilter
		to.Concurrency, to.MaxBytes = o.Concurrency, o.MaxBytes
	}
	return Create(name, to, func(b *Batch) error { return v.copyInto(ctx, b) })
}

// copyOptions returns the options that make an empty frame with the metalayers of v.
func (v View) copyOptions() *Options {
	o := v.f.opts
	o.CParams, o.Meta, o.ChunkSize = chunk.CParams{TypeSize: int(v.s.typeSize)}, v.s.meta, 0
	o.VLMeta = nil
	o.Sparse, o.Overwrite, o.NoSync, o.Offset, o.Checksums = false, false, false, 0, v.s.sums != nil
	return &o
}

// copyInto copies header, chunks and variable-length metalayers into a new frame. What it says of new chunks need not
// be available.
func (v View) copyInto(ctx context.Context, b *Batch) error {
	h := v.s.header
	h.headerLen, h.sparse, h.nbytes, h.cbytes, h.frameLen = b.next.headerLen, b.next.sparse, 0, 0, 0
	b.next.header = h
	b.takeVLMeta(v.s)
	return v.f.copyChunks(ctx, v.s, b)
}

// copyChunks appends the chunks of s as they are stored.
func (f *Frame) copyChunks(ctx context.Context, s *snapshot, b *Batch) error {
	if s.index.list == nil && s.index.n > 0 && s.chunkSize > 0 {
		b.next.index, b.next.nbytes = s.index, s.nbytes
	} else {
		var buf []byte
		var err error
		for i := range s.index.n {
			if err = ctx.Err(); err != nil {
				return err
			}
			if buf, err = f.rawChunk(buf[:0], s, i); err != nil {
				return err
			}
			if err := f.checkSum(s, i, buf); err != nil {
				return err
			}
			if err := b.AppendChunk(buf); err != nil {
				return err
			}
		}
	}
	return nil
}

// Verify decodes everything and checks what the parts of the frame say of each other. It calls report for each
// fault, with its place, and goes on; it returns early only when report or ctx says so.
func (f *Frame) Verify(ctx context.Context, report func(error) error) (err error) {
	s, err := f.acquire()
	if err != nil {
		return err
	}
	defer f.release(s, &err)
	if err := f.checkOpen(s, report); err != nil {
		return err
	}
	if err := f.checkLayers(s, true, report); err != nil {
		return err
	}
	for _, l := range s.vlmeta {
		if _, err := f.vlContent(l); err != nil {
			if err := report(err); err != nil {
				return err
			}
		}
	}
	total, sound := int64(0), true
	for i := 0; i < s.index.n; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.index.list == nil && i == 1 {
			i = s.index.n - 1 // those between are all like the first
		}
		n, err := f.verifyChunk(s, i)
		if err != nil {
			sound = false
			if err := report(err); err != nil {
				return err
			}
		}
		total += n
	}
	if sound && total != s.nbytes && s.chunkSize <= 0 {
		return report(f.wrap("header", offNBytes, corrupt("%d bytes, the chunks have %d", s.nbytes, total)))
	}
	return nil
}

// verifyChunk decodes chunk i block by block and returns its decoded size.
func (f *Frame) verifyChunk(s *snapshot, i int) (int64, error) {
	special, err := s.index.at(i).special()
	if err != nil {
		return 0, f.chunkError(s, i, err)
	}
	if special != chunk.Regular {
		h, err := f.chunkHeader(s, i)
		return int64(h.NBytes), err
	}
	w := f.getWorker()
	defer f.putWorker(w)
	var r coder.Reader
	c, err := f.openChunk(s, w, &r, i, 1)
	if err != nil {
		return 0, err
	}
	defer closeSource(c)
	if err := f.checkSum(s, i, r.Raw()); err != nil {
		return int64(r.NBytes()), err
	}
	for k := range r.NumBlocks() {
		n := r.BlockLen(k)
		if special, _ := r.Special(); special != chunk.Regular {
			break
		}
		if limit := f.AllocLimit(); int64(n) > limit {
			return int64(r.NBytes()), f.chunkError(s, i, fmt.Errorf("block %d of %d bytes, the limit is %d: %w", k, n, limit, ErrTooLarge))
		}
		if cap(w.buf) < n {
			w.buf = make([]byte, n)
		}
		if err := w.DecodeBlock(w.buf[:n], &r, k); err != nil {
			return int64(r.NBytes()), f.chunkError(s, i, err)
		}
	}
	return int64(r.NBytes()), nil
}

// Reader returns the decoded bytes of the super-chunk as an io.ReadSeeker of its own position.
func (f *Frame) Reader() *io.SectionReader { return io.NewSectionReader(f, 0, f.NBytes()) }

// CopyVLMeta gives the batch the variable-length metalayers of a view, as they are stored.
func (b *Batch) CopyVLMeta(v View) error {
	if b.done {
		return b.errDone()
	}
	b.takeVLMeta(v.s)
	return nil
}

// takeVLMeta gives the batch the variable-length metalayers of a state, but for the checksums, which it has itself.
func (b *Batch) takeVLMeta(from *snapshot) {
	s := b.next
	var layers []meta.Layer
	for _, l := range s.vlmeta {
		if l.Name == ChecksumLayer {
			layers = append(layers, l)
		} else {
			s.forgetVLMeta(l.Name)
		}
	}
	for _, l := range from.vlmeta {
		if l.Name != ChecksumLayer {
			layers = append(layers, l)
			s.noteLayer(true, l.Name, l.Content)
		}
	}
	s.vlmeta = layers
}

// CopyChunks appends all chunks of a view to an empty frame, as they are stored. The chunk sizes must be the same.
func (b *Batch) CopyChunks(ctx context.Context, v View) error {
	if b.done {
		return b.errDone()
	}
	return v.f.copyChunks(ctx, v.s, b)
}

// PutChunks puts chunks of a view, of any frame, in the place of others, as they are stored. places yields the number
// of a chunk of the batch and the one of the view that it becomes. The chunk sizes must be the same.
func (b *Batch) PutChunks(ctx context.Context, v View, places iter.Seq2[int, int]) error {
	var buf []byte
	for to, from := range places {
		err := ctx.Err()
		if err == nil {
			err = v.f.checkChunk(v.s, from)
		}
		if err == nil {
			buf, err = v.f.rawChunk(buf[:0], v.s, from)
		}
		if err == nil {
			err = b.UpdateChunk(to, buf)
		}
		if err != nil {
			return b.fail(err)
		}
	}
	return nil
}
