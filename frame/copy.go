package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime/debug"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/frame/internal/storage"
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
	return append(dst, mem.store.(*contiguous).Bytes.(*Memory).Bytes()...), nil
}

// Copy makes a frame with the same chunks and metalayers in a new file or directory and opens it for editing: the
// stored chunks as they are, without the dead bytes between them. Of o, only the fields for the new place and the work
// count: Sparse, Overwrite, NoSync, Concurrency and so on.
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
	o.Params, o.Meta, o.ChunkSize = chunk.Params{TypeSize: int(v.s.typeSize)}, v.s.meta, 0
	o.VLMeta = nil
	o.Sparse, o.Overwrite, o.NoSync, o.Offset, o.Checksums = false, false, false, 0, v.s.checksums != nil
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

// Verify decodes everything and checks what the parts of the frame say of each other. It calls report for each fault,
// with its location, and goes on; it returns early only if report returns an error, ctx is done, or chunks overlap. A
// frame whose data is elsewhere (see the package comment) is reported once, as errors.ErrUnsupported.
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
	if err := cmp.Or(f.checkAllFetched(s), s.hidden); err != nil {
		if err := report(err); err != nil {
			return err
		}
	}
	total, intact := int64(0), true
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
			intact = false
			if err := report(err); err != nil || last {
				return err
			}
		}
		total += n
	}
	if intact && total != s.nbytes && s.chunkSize <= 0 {
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
	if m, ok := s.src.(*storage.Mapped); ok {
		defer recoverFault(m, debug.SetPanicOnFault(true), f, i, w, &err)
	}
	var r coder.Reader
	c, err := f.openChunk(s, w, &r, i, 1)
	if err != nil {
		return chunk.Header{}, err
	}
	defer closeSource(c)
	if err := f.checkChecksum(s, i, r.Raw()); err != nil {
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

// takeVLMeta copies the variable-length metalayers of a state to the batch, except the checksums, which the batch makes
// itself.
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
	if err := b.checkEditable(); err != nil {
		return err
	}
	if err := v.f.checkAllFetched(v.s); err != nil {
		return err
	}
	return v.f.copyChunks(task.Context(ctx), v.s, b)
}

// PutChunks puts chunks of a view, of any frame, in place of others, as they are stored. pairs yields the number
// of a chunk of the batch and the one of the view that it becomes. The chunk sizes must be the same.
func (b *Batch) PutChunks(ctx context.Context, v View, pairs iter.Seq2[int, int]) error {
	ctx = task.Context(ctx)
	var buf []byte
	returned := false
	defer b.failUnless(&returned)
	chunks := v.f.once(v.s)
	for to, from := range pairs {
		err := ctx.Err()
		if err == nil {
			err = v.f.checkFetched(v.s, from)
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

// once does work on the chunks of a state once for each stored chunk, though an index may reference one many times. It
// also bounds that work by the space of the chunks: chunks of more bytes overlap, which no writer makes.
type once struct {
	f    *Frame
	s    *snapshot
	seen map[entry]*seenChunk // nil when no chunk is referenced twice
	left int64                // bytes of chunks that may still come

	blockSize int64 // bytes of a block, which verify compares, or 0
}

// seenChunk is what is known of a stored chunk.
type seenChunk struct {
	h        chunk.Header
	sum      uint32
	err      error    // of its content
	location location // of its copy, if that is stored
	stored   bool
}

func (f *Frame) once(s *snapshot) *once {
	o := &once{f: f, s: s, left: s.areaLen()}
	if _, shared := s.index.storedEntries(); shared {
		o.seen = map[entry]*seenChunk{}
	}
	return o
}

// spend is an error when the chunks so far, with chunk i of n bytes, have more bytes than there are.
func (o *once) spend(i, n int) error {
	if o.left -= int64(n); o.left < 0 {
		return o.f.chunkError(o.s, i, corrupt("it overlaps other chunks"))
	}
	return nil
}

// repeated returns what is known of chunk i if its copy is stored already, or nil.
func (o *once) repeated(i int) *seenChunk {
	if e := o.s.index.at(i); e >= 0 && o.seen != nil && o.seen[e] != nil && o.seen[e].stored {
		return o.seen[e]
	}
	return nil
}

// fits is an error if a stored chunk that was seen before cannot be chunk i.
func (o *once) fits(i int, c *seenChunk) error {
	err := c.err
	if err == nil {
		err = o.s.checkChunk(i, &c.h)
	}
	if err == nil && o.s.index.checksums != nil && o.s.index.checksums[i] != c.sum {
		err = ErrChecksum
	}
	if err != nil {
		return o.f.chunkError(o.s, i, err)
	}
	return nil
}

// verify decodes chunk i and returns its decoded size, and whether the next ones must not be verified: there is no end
// of chunks that overlap.
func (o *once) verify(i int) (n int64, last bool, err error) {
	if o.s.index.at(i) < 0 || o.seen == nil {
		h, err := o.f.verifyChunk(o.s, i)
		if over := o.spend(i, o.stored(i, &h)); over != nil {
			return 0, true, over
		}
		return int64(h.NBytes), false, cmp.Or(err, o.checkBlockSize(i, &h))
	}
	c := o.seen[o.s.index.at(i)]
	if c == nil {
		c = o.examine(i, o.f.verifyChunk)
		o.seen[o.s.index.at(i)] = c
		if over := o.spend(i, c.h.CBytes); over != nil {
			return 0, true, over
		}
	}
	return int64(c.h.NBytes), false, cmp.Or(o.fits(i, c), o.checkBlockSize(i, &c.h))
}

// checkBlockSize returns an error if the blocks of chunk i have another size than those of the array, which then cannot
// be read.
func (o *once) checkBlockSize(i int, h *chunk.Header) error {
	if o.blockSize == 0 || o.s.index.at(i) < 0 || h.Special() != chunk.Regular || int64(h.BlockSize) == o.blockSize && !h.VLBlocks() {
		return nil
	}
	return o.f.chunkError(o.s, i, corrupt("blocks of %d bytes, those of the array have %d", h.BlockSize, o.blockSize))
}

// stored returns how many bytes chunk i takes.
func (o *once) stored(i int, h *chunk.Header) int {
	if o.s.index.at(i) < 0 {
		return 0
	}
	return h.CBytes
}

// examine decodes chunk i by means of decode, whatever its number says of it.
func (o *once) examine(i int, decode func(*snapshot, int) (chunk.Header, error)) *seenChunk {
	s := o.s.successor()
	s.chunkSize, s.index.checksums = 0, nil
	c := &seenChunk{}
	if c.h, c.err = decode(s, i); c.err == nil && o.s.index.checksums != nil {
		var raw []byte
		raw, c.err = o.f.rawChunk(nil, s, i)
		c.sum = crc32c.Checksum(raw)
	}
	var e *Error
	if errors.As(c.err, &e) {
		c.err = e.Err // without the number
	}
	return c
}

// read appends the stored bytes of chunk i, which was not seen before, to dst and compares them with its checksum.
func (o *once) read(dst []byte, i int) ([]byte, error) {
	at := len(dst)
	dst, err := o.f.rawChunk(dst, o.s, i)
	if err == nil {
		err = o.f.checkChecksum(o.s, i, dst[at:])
	}
	if err == nil && o.s.index.at(i) >= 0 {
		err = o.spend(i, len(dst)-at)
	}
	return dst, err
}

// put stores chunk i, of bytes c that are not used if its copy is stored already, by means of insert or update.
func (o *once) put(b *Batch, i int, c []byte, put func(h *chunk.Header, store func() (location, error)) error) error {
	if seen := o.repeated(i); seen != nil {
		if err := o.fits(i, seen); err != nil {
			return err
		}
		b.f.store.share()
		return put(&seen.h, func() (location, error) { return seen.location, nil })
	}
	h, err := b.examine(c, nil, b.next.index.n)
	if err != nil {
		return err
	}
	var p location
	err = put(&h, func() (_ location, err error) {
		p, err = b.store(c, &h)
		return p, err
	})
	if err == nil && o.seen != nil && o.s.index.at(i) >= 0 {
		sum := crc32c.Checksum(c[:h.CBytes])
		if p.e >= 0 { // the checksum of a special chunk that only the index holds is 0
			p.sum = sum
		}
		o.seen[o.s.index.at(i)] = &seenChunk{h: h, sum: sum, location: p, stored: true}
	}
	return err
}

// append adds chunk i as the last of a batch, and uses buf for it, which it returns.
func (o *once) append(b *Batch, i int, buf []byte) ([]byte, error) {
	var err error
	if o.repeated(i) == nil {
		if buf, err = o.read(buf[:0], i); err != nil {
			return buf, err
		}
	}
	if err := b.check(b.next.index.n, b.next.index.n); err != nil {
		return buf, err
	}
	return buf, o.put(b, i, buf, func(h *chunk.Header, store func() (location, error)) error {
		return b.insert(b.next.index.n, h, store)
	})
}

// update puts chunk i in the place of chunk to of a batch, and uses buf for it, which it returns.
func (o *once) update(b *Batch, to, i int, buf []byte) ([]byte, error) {
	var err error
	if o.repeated(i) == nil {
		if buf, err = o.f.rawChunk(buf[:0], o.s, i); err != nil {
			return buf, err
		}
	}
	if err := b.check(to, b.next.index.n-1); err != nil {
		return buf, err
	}
	return buf, o.put(b, i, buf, func(h *chunk.Header, store func() (location, error)) error {
		return b.update(to, h, store)
	})
}
