package frame

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"runtime/debug"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/task"
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
	v, err := f.ViewContext(ctx)
	if err != nil {
		return nil, err
	}
	defer v.Release()
	to := v.copyOptions()
	if o != nil {
		to.Checksums, to.Verify = to.Checksums || o.Checksums, o.Verify
		to.RequireChecksums = o.RequireChecksums
		to.Sparse, to.Overwrite, to.NoSync = o.Sparse, o.Overwrite, o.NoSync
		to.Codecs, to.Filters, to.Prefilter, to.Postfilter = o.Codecs, o.Filters, o.Prefilter, o.Postfilter
		to.Concurrency, to.MaxBytes = o.Concurrency, o.MaxBytes
	}
	return CreateContext(ctx, name, to, func(b *Batch) error { return v.copyInto(task.Context(ctx), b) })
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

// copyChunks appends the chunks of s as they are stored. A chunk that is referenced many times is stored once.
func (f *Frame) copyChunks(ctx context.Context, s *snapshot, b *Batch) error {
	if s.index.list == nil && s.index.n > 0 && s.chunkSize > 0 {
		b.next.index, b.next.nbytes = s.index, s.nbytes
	} else {
		var buf []byte
		var err error
		chunks := f.once(s)
		for i := range s.index.n {
			if err = ctx.Err(); err != nil {
				return err
			}
			if buf, err = chunks.append(b, i, buf); err != nil {
				return f.orClosed(err)
			}
		}
	}
	return nil
}

// Verify decodes everything and checks what the parts of the frame say of each other. It calls report for each
// fault, with its place, and goes on; it returns early only when report or ctx says so, or where chunks overlap. A frame
// whose data is elsewhere (see the package comment) is reported once, as ErrUnsupported.
func (f *Frame) Verify(ctx context.Context, report func(error) error) (err error) {
	ctx = task.Context(ctx)
	s, err := f.acquire(ctx)
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
	if err := cmp.Or(f.checkAllHeld(s), s.hidden); err != nil {
		if err := report(err); err != nil {
			return err
		}
	}
	total, sound := int64(0), true
	chunks := f.once(s)
	chunks.blockSize = blockBytes(s)
	for i := 0; i < s.index.n; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.index.list == nil && i == 1 {
			i = s.index.n - 1 // those between are all like the first
		}
		n, last, err := chunks.verify(i)
		if err != nil && f.isClosed() {
			return err
		}
		if err != nil {
			sound = false
			if err := report(err); err != nil || last {
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

// verifyChunk decodes chunk i block by block and returns its header.
func (f *Frame) verifyChunk(s *snapshot, i int) (chunk.Header, error) {
	special, err := s.index.at(i).special()
	if err != nil {
		return chunk.Header{}, f.chunkError(s, i, err)
	}
	if special != chunk.Regular {
		return f.chunkHeader(s, i)
	}
	var h chunk.Header
	err = f.withWorker(func(w *worker) (err error) {
		h, err = f.verifyBlocks(s, w, i)
		return err
	})
	return h, err
}

// verifyBlocks is verifyChunk for a chunk that is stored.
func (f *Frame) verifyBlocks(s *snapshot, w *worker, i int) (_ chunk.Header, err error) {
	if m, ok := s.src.(*mapped); ok {
		defer m.recoverFault(debug.SetPanicOnFault(true), f, i, w, &err)
	}
	var r coder.Reader
	c, err := f.openChunk(s, w, &r, i, 1)
	if err != nil {
		return chunk.Header{}, err
	}
	defer closeSource(c)
	if err := f.checkSum(s, i, r.Raw()); err != nil {
		return *r.Header(), err
	}
	for k := range r.NumBlocks() {
		n := r.BlockLen(k)
		if special, _ := r.Special(); special != chunk.Regular {
			break
		}
		if err := f.CheckAlloc(int64(n)); err != nil {
			return *r.Header(), f.chunkError(s, i, fmt.Errorf("block %d: %w", k, err))
		}
		if cap(w.buf) < n {
			w.buf = make([]byte, n)
		}
		if err := w.DecodeBlock(w.buf[:n], &r, k); err != nil {
			return *r.Header(), f.chunkError(s, i, err)
		}
	}
	return *r.Header(), nil
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
	if err := b.checkData(); err != nil {
		return err
	}
	if err := v.f.checkAllHeld(v.s); err != nil {
		return err
	}
	return v.f.copyChunks(task.Context(ctx), v.s, b)
}

// PutChunks puts chunks of a view, of any frame, in the place of others, as they are stored. places yields the number
// of a chunk of the batch and the one of the view that it becomes. The chunk sizes must be the same.
func (b *Batch) PutChunks(ctx context.Context, v View, places iter.Seq2[int, int]) error {
	ctx = task.Context(ctx)
	var buf []byte
	returned := false
	defer b.failUnless(&returned)
	chunks := v.f.once(v.s)
	for to, from := range places {
		err := ctx.Err()
		if err == nil {
			err = v.f.checkChunk(v.s, from)
		}
		if err == nil {
			err = v.f.checkHeld(v.s, from)
		}
		if err == nil {
			buf, err = chunks.update(b, to, from, buf)
		}
		if err != nil {
			returned = true
			return b.fail(v.f.orClosed(err))
		}
	}
	returned = true
	return nil
}
