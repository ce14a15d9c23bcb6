package frame

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// Copy creates a frame with the chunks and metalayers of f and opens it for editing. It copies the stored bytes of the
// chunks unchanged, without the dead bytes between them. With o.Goal, it decodes the chunks and compresses them again,
// except special chunks and chunks with blocks of variable size. The copy has checksums if f has, or if o.Checksums is
// set; likewise a block table. It keeps names of metalayers that Create rejects. For name, ctx, o and temporary files
// see [Create]; ctx also bounds the copying. Params, ChunkSize, Meta and VLMeta come from f: if one of them is set,
// Copy returns ErrParam. Copy also returns ErrParam if f has Locking, o.Locking is set, and name is the file of f.
// Codecs and UserFilters come from f unless o sets them, and Prefilter and Postfilter if o sets neither. Other errors
// are those of Create and of reading f.
func Copy(ctx context.Context, name string, f *Frame, o *CreateOptions) (*Frame, error) {
	ctx = task.Context(ctx)
	if err := o.checkKept("Copy"); err != nil {
		return nil, err
	}
	s, err := f.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer f.unuse(s)
	to := f.inherited(o)
	if err := f.checkTarget(name, &to); err != nil {
		return nil, err
	}
	if err := cmp.Or(f.checkCopied(s, false, s.meta), f.checkCopied(s, true, s.vlmeta)); err != nil {
		return nil, err
	}
	return copyOf(ctx, name, s, &to, func(b *Batch) error {
		add := f.copyChunks
		if to.Goal != 0 {
			add = f.copyTuned
		}
		return f.afterRead(s, add(ctx, s, b))
	})
}

// inherited returns o with the codecs and filters of f that o does not set: the chunks of a copy need them.
func (f *Frame) inherited(o *CreateOptions) CreateOptions {
	var to CreateOptions
	if o != nil {
		to = *o
	} else {
		to.Concurrency, to.sys = f.opts.Concurrency, f.sys
	}
	if to.Codecs == nil {
		to.Codecs = f.opts.Codecs
	}
	if to.UserFilters == nil {
		to.UserFilters = f.opts.UserFilters
	}
	if to.Prefilter == nil && to.Postfilter == nil {
		to.Prefilter, to.Postfilter = f.opts.Prefilter, f.opts.Postfilter
	}
	return to
}

// copyOf creates a frame with the header and the metalayers of s, and the chunks that fill adds. The block size in the
// header becomes that of the array, if there is one. The codec and the filters in the header need not be available.
func copyOf(ctx context.Context, name string, s *snapshot, to *CreateOptions, fill func(b *Batch) error) (*Frame, error) {
	to.Params, to.Meta, to.copied = chunk.Params{TypeSize: int(s.typeSize)}, s.meta, true
	to.Checksums = to.Checksums || s.checksums != nil
	to.BlockTable = to.BlockTable || s.info().BlockTable
	return CreateFunc(ctx, name, func(b *Batch) error {
		h := s.header
		h.headerLen, h.sparse, h.nbytes, h.cbytes, h.frameLen = b.next.headerLen, b.next.sparse, 0, 0, 0
		h.level = min(h.level, maxLevel) // C-Blosc2 writes no chunks with a higher level
		if _, size := arraySizes(s); size > 0 && size <= chunk.MaxBlockSize && s.chunkSize > 0 && int64(s.chunkSize)%size == 0 {
			h.blockSize = int32(size) // otherwise C-Blosc2 may be unable to read special chunks
		}
		b.next.header = h
		b.takeVLMeta(s)
		return fill(b)
	}, to)
}

// copyChunks appends the chunks of s as they are stored. A chunk that is referenced many times is stored once.
func (f *Frame) copyChunks(ctx context.Context, s *snapshot, b *Batch) error {
	b.copiesFrom(f)
	if s.index.list == nil && s.index.n > 0 && s.chunkSize > 0 {
		b.next.index, b.next.nbytes = s.index, s.nbytes
		return b.storeOddItems()
	}
	var buf []byte
	chunks := f.distinctChunks(ctx, s)
	chunks.checkArray()
	chunks.readAhead(readChunks)
	defer chunks.stop()
	for i := range s.index.n {
		err := ctx.Err()
		if err == nil {
			buf, err = chunks.append(b, i, buf)
		}
		if err != nil {
			return f.orClosed(err)
		}
	}
	return nil
}

// copyTuned appends the chunks of s, compressed again with parameters that the goal of the batch's frame selects.
func (f *Frame) copyTuned(ctx context.Context, s *snapshot, b *Batch) error {
	if err := f.checkAllFetched(s); err != nil {
		return err
	}
	if s.vlBlocks || s.index.list == nil {
		return f.copyChunks(ctx, s, b)
	}
	b.f.tuner.Expect(s.nbytes)
	var buf []byte
	chunks := f.distinctChunks(ctx, s)
	chunks.checkArray()
	chunks.readAhead(readChunks)
	defer chunks.stop()
	for i := range s.index.n {
		err := ctx.Err()
		if err == nil {
			buf, err = chunks.appendTuned(ctx, b, i, buf)
		}
		if err != nil {
			return f.orClosed(err)
		}
	}
	return nil
}

// takeMeta adds metalayers of another frame to a new frame without chunks. Their names need not pass checkLayerName.
func (b *Batch) takeMeta(layers []meta.Layer) error {
	if err := b.setLayers(slices.Concat(b.next.meta, layers)); err != nil {
		return err
	}
	for _, l := range layers {
		b.next.noteLayer(false, l.Name, l.Content)
	}
	b.next.area = int64(b.next.headerLen)
	return nil
}

// takeVLMeta copies the variable-length metalayers of a state to the batch, except the checksums and the block table,
// which the batch makes itself.
func (b *Batch) takeVLMeta(from *snapshot) {
	s := b.next
	var layers []meta.Layer
	for _, l := range s.vlmeta {
		if l.Name == checksumLayer {
			layers = append(layers, l)
		} else {
			s.forgetVLMeta(l.Name)
		}
	}
	for _, l := range from.vlmeta {
		if l.Name != checksumLayer && l.Name != blockLayer {
			layers = append(layers, l)
			s.noteLayer(true, l.Name, l.Content)
		}
	}
	s.vlmeta = layers
}

// putChunks replaces chunks by chunks of s, a state of f. pass reads them ahead, or is nil. See engine.Batch.PutChunks.
func (b *Batch) putChunks(ctx context.Context, f *Frame, s *snapshot, pass *chunkPass, pairs iter.Seq2[int, int]) error {
	var buf []byte
	returned := false
	defer b.failUnless(&returned)
	b.copiesFrom(f)
	chunks := f.distinctChunks(ctx, s)
	chunks.checkArray()
	if chunks.pass = pass; pass == nil {
		pairs = chunks.readPairsAhead(pairs)
		defer chunks.stop()
	}
	for to, from := range pairs {
		err := ctx.Err()
		if err == nil {
			err = f.checkFetched(s, from)
		}
		if err == nil {
			buf, err = chunks.replace(b, to, from, buf)
		}
		if err != nil {
			returned = true
			return b.fail(f.orClosed(err))
		}
	}
	returned = true
	return nil
}

// read appends the stored bytes of chunk i, which was not seen before, to dst and compares them with its checksum.
func (d *distinctChunks) read(dst []byte, i int) ([]byte, error) {
	at := len(dst)
	dst, err := d.raw(dst, i)
	if err == nil {
		err = d.f.checkChecksum(d.s, i, dst[at:])
	}
	if err == nil && d.s.index.at(i) >= 0 {
		err = cmp.Or(d.spend(i, len(dst)-at), d.checkRaw(i, dst[at:]))
	}
	return dst, err
}

// copyTo makes chunk i a chunk of a batch: edit, which is insertWith or replaceWith of b, gets the number to and a
// function that stores it. c has the bytes of the chunk, unless its copy is already stored.
func (d *distinctChunks) copyTo(b *Batch, to, i int, c []byte, edit func(to int, h *coder.Header, store func() (summedEntry, error)) error) error {
	if seen := d.repeated(i); seen != nil {
		if err := d.fits(i, seen); err != nil {
			return err
		}
		b.f.store.share()
		return edit(to, &seen.h, func() (_ summedEntry, err error) {
			if seen.copyEntry.e < 0 { // if chunks now have variable sizes, the index cannot represent it
				seen.copyEntry, err = b.store(nil, &seen.h)
			}
			return seen.copyEntry, err
		})
	}
	h, err := b.examine(c, nil, b.next.index.n)
	if err != nil {
		return err
	}
	var p summedEntry
	err = edit(to, &h, func() (_ summedEntry, err error) {
		p, err = b.store(c, &h)
		return p, err
	})
	if err == nil && d.seen != nil && d.s.index.at(i) >= 0 {
		d.seen[d.s.index.at(i)] = &seenChunk{h: h, sum: crc32c.Checksum(c[:h.CBytes]), copyEntry: p, copied: true}
	}
	return err
}

// append adds chunk i as the last of a batch. It uses and returns buf.
func (d *distinctChunks) append(b *Batch, i int, buf []byte) ([]byte, error) {
	var err error
	if d.repeated(i) == nil {
		if buf, err = d.read(buf[:0], i); err != nil {
			return buf, err
		}
	}
	if err := b.checkEdit(b.next.index.n, b.next.index.n); err != nil {
		return buf, err
	}
	return buf, d.copyTo(b, b.next.index.n, i, buf, b.insertWith)
}

// appendTuned is append for a batch whose frame has a tuner: it compresses the content of the chunk again.
func (d *distinctChunks) appendTuned(ctx context.Context, b *Batch, i int, buf []byte) ([]byte, error) {
	e := d.s.index.at(i)
	if e < 0 || d.repeated(i) != nil {
		return d.append(b, i, buf)
	}
	buf, err := d.read(buf[:0], i)
	if err != nil {
		return buf, err
	}
	plain, err := d.f.pool.DecodeNumber(ctx, nil, buf, int64(i))
	if err != nil {
		return buf, cmp.Or(ctx.Err(), d.f.chunkError(d.s, i, err))
	}
	c, err := b.encode(ctx, plain, b.next.index.n)
	if err == nil {
		err = b.checkEdit(b.next.index.n, b.next.index.n)
	}
	if err != nil {
		return buf, err
	}
	err = d.copyTo(b, b.next.index.n, i, c, b.insertWith)
	if err == nil && d.seen != nil {
		d.seen[e].sum = crc32c.Checksum(buf) // for the checksums of the index
	}
	return buf, err
}

// replace replaces chunk to of a batch by chunk i. It uses and returns buf.
func (d *distinctChunks) replace(b *Batch, to, i int, buf []byte) ([]byte, error) {
	var err error
	if d.repeated(i) == nil {
		if buf, err = d.raw(buf[:0], i); err == nil {
			err = cmp.Or(d.f.checkChecksum(d.s, i, buf), d.checkRaw(i, buf))
		}
		if err != nil {
			return buf, err
		}
	}
	if err := b.checkEdit(to, b.next.index.n-1); err != nil {
		return buf, err
	}
	return buf, d.copyTo(b, to, i, buf, b.replaceWith)
}
