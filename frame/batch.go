package frame

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/blocktable"
	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/sched"
	"github.com/goblosc/blosc2/internal/task"
)

// Batch is a group of edits that become visible and durable at once. A batch writes chunks when they are added, but
// readers see the previous state, and the stored frame stays in it, until Commit. Other batches and edits of the frame
// wait until the batch ends. A Batch is safe for concurrent use: its edits wait for each other.
//
// Edits that write or encode chunks take a context. It bounds how long they wait, and they check it before they write a
// chunk. After an error of the context the batch is unchanged. Edits do not retain their arguments. If an edit fails
// halfway, Commit returns its error. Edits return fs.ErrClosed after Commit, after Rollback and after CreateFunc has
// returned. They return errors.ErrUnsupported if the data of the frame is elsewhere; see the package comment.
type Batch struct {
	f  *Frame
	mu gate // held by one edit at a time
	transaction
	owned   bool         // next.index.list is the batch's own
	pinned  bool         // a state that Hold returned is in use: its chunks are not freed
	unfreed []sizedEntry // chunks to free when the state is released
	done    bool
	err     error // of an edit that failed halfway
	copied  bool  // has chunks that were not compressed with the parameters of the frame

	notes blocktable.Notes[entry] // for a block table, or nil

	// sink takes the chunks of Encode in place of the frame, unless it is nil. It may use c until it returns.
	sink func(i int, c []byte, h *coder.Header) error
}

// sizedEntry is an entry of the index with the number of stored bytes.
type sizedEntry struct {
	e    entry
	size int64
}

// fail records the error of an edit that failed halfway.
func (b *Batch) fail(err error) error {
	if err != nil && b.err == nil {
		b.err = err
	}
	return err
}

// failUnless records, unless *returned, that an edit has panicked halfway. It is called by defer.
func (b *Batch) failUnless(returned *bool) {
	if !*returned {
		b.fail(sched.ErrPanic)
	}
}

func (b *Batch) errDone() error { return b.f.error(fmt.Errorf("batch: %w", errs.ErrClosed)) }

// do runs an edit of the batch while no other edit runs.
func (b *Batch) do(ctx context.Context, edit func(ctx context.Context) error) error {
	ctx = task.Context(ctx)
	if err := b.mu.lock(ctx, b.f, "another edit of the batch"); err != nil {
		return err
	}
	defer b.mu.unlock()
	return edit(ctx)
}

// doNow is do for an edit that does not take long.
func (b *Batch) doNow(edit func() error) error {
	return b.do(context.Background(), func(context.Context) error { return edit() })
}

// NumChunks returns the number of chunks, including the edits of the batch.
func (b *Batch) NumChunks() (n int) {
	b.doNow(func() error {
		n = b.next.index.n
		return nil
	})
	return n
}

// list returns the batch's own copy of the index, which then has its own checksums as well.
func (b *Batch) list() []entry {
	if !b.owned {
		b.next.index = newIndex(slices.Clone(b.next.index.entries()), slices.Clone(b.next.chunkChecksums()))
		b.owned = true
	}
	return b.next.index.list
}

// addEntry inserts a chunk before chunk i of the index, or after the last.
func (b *Batch) addEntry(i int, p summedEntry) {
	x := &b.next.index
	if i == x.n {
		checksums := b.next.chunkChecksums()
		if b.next.checksums.kept() {
			checksums = append(checksums, p.sum)
		}
		*x = newIndex(append(x.entries(), p.e), checksums)
		return
	}
	list := slices.Insert(b.list(), i, p.e)
	if x.checksums != nil {
		x.checksums = slices.Insert(x.checksums, i, p.sum)
	}
	*x = newIndex(list, x.checksums)
}

// setEntry replaces chunk i of the index.
func (b *Batch) setEntry(i int, p summedEntry) {
	b.list()[i] = p.e
	if checksums := b.next.index.checksums; checksums != nil {
		checksums[i] = p.sum
	}
}

// examine returns the header of a chunk to be added to n others, or an error if the chunk does not fit. built is the
// header if it is known, or nil.
func (b *Batch) examine(c []byte, built *coder.Header, n int) (h coder.Header, err error) {
	if built != nil {
		h = *built
	} else {
		h, err = coder.ParseHeader(c, int64(len(c)))
		b.copied = b.copied || err == nil && h.Special == chunk.Regular && !h.Stored
	}
	switch {
	case err != nil:
	case h.NBytes == 0:
		err = fmt.Errorf("chunk of 0 bytes, want at least 1: %w", ErrParam)
	case n > 0 && h.VLBlocks != b.next.vlBlocks:
		err = fmt.Errorf("cannot mix chunks with blocks of fixed and of variable size: %w", ErrParam)
	case b.next.nbytes > math.MaxInt64-int64(h.NBytes):
		err = fmt.Errorf("cannot add %d bytes to %d: %w", h.NBytes, b.next.nbytes, ErrTooLarge)
	}
	if err != nil {
		return h, b.f.wrap("chunk", -1, err)
	}
	return h, nil
}

// summedEntry is an entry of the index with the checksum of the stored bytes.
type summedEntry struct {
	e   entry
	sum uint32
}

// write writes a chunk.
func (b *Batch) write(c []byte) (summedEntry, error) {
	returned := false
	defer b.failUnless(&returned)
	e, err := b.f.store.put(&b.transaction, c)
	returned = true
	if err != nil {
		return summedEntry{}, b.f.wrap("chunk", -1, err)
	}
	if b.notes != nil {
		b.notes.Add(e, c)
	}
	p := summedEntry{e: e}
	if b.next.checksums.kept() {
		p.sum = crc32c.Checksum(c)
	}
	return p, nil
}

// store writes a chunk, or finds the special entry that represents it.
func (b *Batch) store(c []byte, h *coder.Header) (summedEntry, error) {
	b.next.vlBlocks = h.VLBlocks
	e, special := specialEntry(h.Special)
	if special && b.next.canIndex(h) {
		return summedEntry{e: e}, nil
	}
	if special || h.Special == chunk.Value && h.CBytes-coder.HeaderSize != int(b.next.typeSize) {
		var err error
		if c, err = b.plainSpecial(c, h); err != nil {
			return summedEntry{}, b.f.wrap("chunk", -1, err)
		}
	} else {
		c = c[:h.CBytes]
	}
	return b.write(c)
}

// canIndex reports whether the index of s can represent a special chunk of zeros, NaNs or uninitialized items, so that
// it can be read again.
func (s *snapshot) canIndex(h *coder.Header) bool {
	if s.chunkSize == 0 || h.Special == chunk.NaNs && h.TypeSize != int(s.typeSize) {
		return false
	}
	_, err := coder.IndexedSpecial(h.Special, h.NBytes, s.cparams())
	return err == nil && h.NBytes%int(s.typeSize) == 0 // C-Blosc2 rejects special chunks that end inside an item
}

// plainSpecial returns a chunk with the content of the special chunk c that other libraries can read from the frame: an
// item of the frame, repeated, or an ordinary chunk if items do not fit. It needs c only for a repeated value. Without
// a chunk size, the index cannot represent the size of a special chunk, and C-Blosc2 reads only as many bytes of a
// value as items of the frame have.
func (b *Batch) plainSpecial(c []byte, h *coder.Header) ([]byte, error) {
	n, size := h.NBytes, int(b.next.typeSize)
	var value []byte
	repeats := 1 // bytes
	switch h.Special {
	case chunk.NaNs:
		repeats = h.TypeSize
	case chunk.Value:
		value = c[coder.HeaderSize:h.CBytes]
		repeats = len(value)
	}
	if n%size == 0 && size%repeats == 0 && size <= coder.MaxTypeSize {
		item := make([]byte, size)
		coder.FillSpecial(item, h.Special, value, h.TypeSize, 0)
		return coder.EncodeSpecial(nil, chunk.Value, n, item, coder.Params{TypeSize: size, BlockSize: h.BlockSize})
	}
	if h.Special != chunk.NaNs && coder.IsZero(value) {
		return coder.EncodeZeros(n, h.TypeSize, h.BlockSize)
	}
	if err := b.f.CheckAlloc(int64(n)); err != nil {
		return nil, err
	}
	plain := make([]byte, n)
	coder.FillSpecial(plain, h.Special, value, h.TypeSize, 0)
	return coder.Encode(nil, plain, coder.Params{TypeSize: h.TypeSize, BlockSize: h.BlockSize, Codec: codec.LZ4}, nil)
}

// free records that a chunk is not referenced after the commit.
func (b *Batch) free(e entry, size int64) {
	if b.pinned {
		b.unfreed = append(b.unfreed, sizedEntry{e, size})
		return
	}
	b.f.store.free(&b.transaction, e, size)
}

// release frees the chunk of entry i of the batch's state, which is about to be replaced or deleted. The bytes of a
// damaged chunk, whose length is unknown, become dead space.
func (b *Batch) release(i int) error {
	e := b.next.index.at(i)
	if e < 0 {
		return nil
	}
	returned := false
	defer b.failUnless(&returned)
	h, err := b.f.chunkHeader(b.next.src, b.next, i)
	if err == nil {
		b.free(e, int64(h.CBytes))
	} else if isFault(err) {
		if b.next.sparse {
			b.free(e, 0)
		}
		err = nil
	}
	returned = true
	return err
}

// AppendRaw adds the encoded chunk c at the end. The bytes are stored unchanged, except for special chunks. These
// become entries of the index if the index can represent them. Otherwise they are stored as a repeated item of the
// frame or, if that is not possible, as an ordinary chunk. If c decodes to more bytes than the frame's chunk size, or
// the last chunk is shorter than that size, the frame becomes one with chunks of variable size. Filters and codecs that
// use an item size decode c with that of the frame. Errors are ErrCorrupt, ErrParam, ErrTooLarge or those of writing.
func (b *Batch) AppendRaw(ctx context.Context, c []byte) error {
	return b.do(ctx, func(context.Context) error { return b.insertChunk(b.next.index.n, c, nil) })
}

// InsertRaw inserts the encoded chunk c before chunk i, or at the end if i is NumChunks. It returns ErrBounds if i is
// not in this range. A chunk that is not the last and has another decoded size than the others makes the frame one with
// chunks of variable size. See AppendRaw.
func (b *Batch) InsertRaw(ctx context.Context, i int, c []byte) error {
	return b.do(ctx, func(context.Context) error { return b.insertChunk(i, c, nil) })
}

// insertChunk is InsertRaw for a chunk whose header may be known.
func (b *Batch) insertChunk(i int, c []byte, built *coder.Header) error {
	n := b.next.index.n
	if err := b.checkEdit(i, n); err != nil {
		return err
	}
	h, err := b.examine(c, built, n)
	if err != nil {
		return err
	}
	return b.insertWith(i, &h, func() (summedEntry, error) { return b.store(c, &h) })
}

// insertWith adds a chunk, whose header was examined, before chunk i. It calls store if the chunk fits.
func (b *Batch) insertWith(i int, h *coder.Header, store func() (summedEntry, error)) error {
	size := int64(h.NBytes)
	if err := b.fit(size, i == b.next.index.n, true); err != nil {
		return b.fail(err)
	}
	p, err := store()
	if err != nil {
		return b.fail(err)
	}
	b.addEntry(i, p)
	b.next.nbytes += size
	return nil
}

// UpdateRaw replaces chunk i with the encoded chunk c. It returns ErrBounds if there is no chunk i. See InsertRaw.
func (b *Batch) UpdateRaw(ctx context.Context, i int, c []byte) error {
	return b.do(ctx, func(context.Context) error { return b.replaceChunk(i, c, nil) })
}

// replaceChunk is UpdateRaw for a chunk whose header may be known.
func (b *Batch) replaceChunk(i int, c []byte, built *coder.Header) error {
	n := b.next.index.n
	if err := b.checkEdit(i, n-1); err != nil {
		return err
	}
	h, err := b.examine(c, built, n)
	if err != nil {
		return err
	}
	return b.replaceWith(i, &h, func() (summedEntry, error) { return b.store(c, &h) })
}

// replaceWith replaces chunk i with a chunk whose header was examined. It calls store if the chunk fits.
func (b *Batch) replaceWith(i int, h *coder.Header, store func() (summedEntry, error)) error {
	size := int64(h.NBytes)
	old, err := b.chunkSize(i)
	if err != nil {
		return err
	}
	if err := b.fit(size, i == b.next.index.n-1, false); err != nil {
		return b.fail(err)
	}
	p, err := store()
	if err != nil {
		return b.fail(err)
	}
	if err := b.release(i); err != nil {
		return b.fail(err)
	}
	b.setEntry(i, p)
	b.next.nbytes += size - old
	return nil
}

// Delete removes chunk i and decreases the numbers of later chunks by one. It returns ErrBounds if there is no chunk i.
// If no chunks remain in a contiguous frame of more than 2 GiB, Commit returns ErrParam while its chunks are read.
func (b *Batch) Delete(i int) error { return b.doNow(func() error { return b.delete(i) }) }

func (b *Batch) delete(i int) error {
	n := b.next.index.n
	if err := b.checkPosition(i, n-1); err != nil {
		return err
	}
	size, err := b.chunkSize(i)
	if err != nil {
		return err
	}
	if b.next.index.list == nil { // all chunks are the same
		b.next.index.n--
		b.next.nbytes -= size
		return nil
	}
	if err := b.release(i); err != nil {
		return err
	}
	list, checksums := slices.Delete(b.list(), i, i+1), b.next.index.checksums
	if checksums != nil {
		checksums = slices.Delete(checksums, i, i+1)
	}
	b.next.index = newIndex(list, checksums)
	b.next.nbytes -= size
	return nil
}

// checkEdit returns an error if chunk i, which may be at most last, cannot be edited.
func (b *Batch) checkEdit(i, last int) error {
	if err := b.checkPosition(i, last); err != nil {
		return err
	}
	if n := b.next.index.n; n > 0 && b.next.index.list == nil {
		return b.checkList(n)
	}
	return nil
}

// checkPosition returns ErrBounds unless 0 <= i <= last, and the errors of checkEditable.
func (b *Batch) checkPosition(i, last int) error {
	if err := b.checkEditable(); err != nil {
		return err
	}
	if i < 0 || i > last {
		return b.f.errBounds(b.next, i)
	}
	return nil
}

// checkEditable returns fs.ErrClosed if the batch has ended, and errors.ErrUnsupported if it edits a frame whose data
// is elsewhere: python-blosc2 would not see the edit. New frames may have the metalayers that mark such frames.
func (b *Batch) checkEditable() error {
	switch {
	case b.done:
		return b.errDone()
	case b.cur == nil || b.cur.origin == nil:
		return nil
	}
	text, _ := b.f.checkOrigin(b.cur)
	return b.f.wrap("data", -1, fmt.Errorf("%s; only its metalayers can be edited: %w", text, errs.ErrUnsupported))
}

// checkList returns ErrTooLarge if the memory for n index entries is not justified.
func (b *Batch) checkList(n int) error {
	if err := b.f.CheckAlloc(8 * int64(n)); err != nil {
		return b.f.wrap("index", -1, fmt.Errorf("%d chunks: %w", n, err))
	}
	return nil
}

// chunkSize returns the decoded size of chunk i.
func (b *Batch) chunkSize(i int) (int64, error) {
	if n := b.next.chunkLen(i); n >= 0 {
		return n, nil
	}
	h, err := b.f.chunkHeader(b.next.src, b.next, i)
	return int64(h.NBytes), err
}

// fit makes the frame one with chunks of variable size, unless its chunks are still equal with a chunk of size bytes.
// last reports whether that will be the last chunk, and added whether it replaces no other.
func (b *Batch) fit(size int64, last, added bool) error {
	s := b.next
	if s.index.n == 0 && s.chunkSize < 0 {
		s.chunkSize = int32(size)
		return nil
	}
	if s.chunkSize == 0 {
		return nil
	}
	full := int64(s.chunkSize)
	fits := size == full || last && size < full
	if added && last && s.index.n > 0 && s.nbytes%full != 0 {
		fits = false // the chunk before it is shorter
	}
	if fits {
		return nil
	}
	return b.makeVariable()
}

// makeVariable turns the frame into one with chunks of variable size. Special entries, whose size would then be
// unknown, become chunks.
func (b *Batch) makeVariable() error {
	size := b.next.chunkSize
	b.list()
	b.next.chunkSize = 0
	return b.storeSpecial(size)
}

// storeOddItems stores the last chunk as an ordinary chunk if it is a special entry that ends inside an item: C-Blosc2
// rejects such an entry. If all chunks end inside an item, the entries stay, because decoding that many ordinary chunks
// could take long.
func (b *Batch) storeOddItems() error {
	s := b.next
	if items := int64(s.typeSize); s.nbytes%items == 0 || int64(s.chunkSize)%items != 0 {
		return nil
	}
	if err := b.checkList(s.index.n); err != nil {
		return err
	}
	return b.storeSpecial(s.chunkSize)
}

// storeSpecial stores special entries as chunks, except those of whole items if chunks have a size. The entries are
// those of a frame with chunks of size bytes.
func (b *Batch) storeSpecial(size int32) error {
	s := b.next
	now, total := s.chunkSize, int64(0)
	for i, e := range b.list() {
		special, err := e.special()
		if err != nil || special == chunk.Regular || now > 0 && s.chunkLen(i)%int64(s.typeSize) == 0 {
			continue
		}
		s.chunkSize = size
		h, err := b.f.chunkHeader(s.src, s, i)
		s.chunkSize = now
		if err != nil {
			return err
		}
		c, err := b.plainSpecial(nil, &h)
		if err != nil {
			return err
		}
		total += int64(len(c))
		if err := b.f.CheckAlloc(total); err != nil {
			return b.f.wrap("index", -1, fmt.Errorf("special values that take %d bytes or more as chunks: %w", total, err))
		}
		p, err := b.write(c)
		if err != nil {
			return err
		}
		b.setEntry(i, p)
	}
	return nil
}

// copiesFrom notes that the batch gets chunks of f. The frame of the batch gets a limit if f has one: what the chunks
// claim is as little trusted as before.
func (b *Batch) copiesFrom(f *Frame) {
	b.copied = true
	if !f.trusted.Load() {
		b.f.trusted.Store(false)
	}
}
