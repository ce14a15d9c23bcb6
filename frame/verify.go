package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/task"
)

// Verify decodes all chunks and metalayers, and checks that the parts of the frame are consistent and match their
// checksums. It calls report for each fault, with its location, and continues. It returns early only if report returns
// an error, ctx is done, or chunks overlap. A frame whose data is elsewhere (see the package comment) is reported once,
// as errors.ErrUnsupported.
//
// A chunk that cannot be read is reported, too. But if a [Source] returns errors for four chunks in a row, it is likely
// down: Verify then returns the last of these errors.
//
// With a nil report, Verify returns the first fault. Otherwise it returns the error of report, of ctx or of reading. It
// returns ErrChanged if another process may have caused the faults, because it has edited or replaced the frame since.
func (f *Frame) Verify(ctx context.Context, report func(error) error) (err error) {
	ctx = task.Context(ctx)
	if report == nil {
		report = func(err error) error { return err }
	}
	s, err := f.acquire(ctx)
	if err != nil {
		return err
	}
	defer f.release(s, &err)
	var fault error // that was reported last
	all := report
	report = func(err error) error {
		fault = err
		return all(err)
	}
	defer func() {
		if err == nil && fault != nil && f.edited(s, fault) {
			err = f.errEdited(fault)
		}
	}()
	if err := f.checkOpen(ctx, s, report); err != nil {
		return err
	}
	if err := f.checkLayers(ctx, s, true, report); err != nil {
		return err
	}
	if err := f.verifyLayers(ctx, s, report); err != nil {
		return err
	}
	if err := cmp.Or(f.checkAllFetched(s), s.hidden); err != nil {
		if err := report(err); err != nil {
			return err
		}
	}
	total, intact, unread := int64(0), true, 0
	chunks := f.distinctChunks(ctx, s)
	chunks.checkArray()
	chunks.readAhead(readChunks)
	defer chunks.stop()
	for i := 0; i < s.index.n; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.index.list == nil && i == 1 {
			i = s.index.n - 1 // all chunks in between are like the first
		}
		again := chunks.seen[s.index.at(i)] != nil // a chunk that several entries share
		n, last, err := chunks.verify(i)
		if err != nil && f.closed.Load() {
			return err
		}
		if canceled := ctx.Err(); err != nil && canceled != nil { // no fault of the chunk
			return canceled
		}
		switch {
		case err == nil:
			unread = 0
		case s.remote && !again && errs.MayBeDown(err) && coder.IsRead(err):
			if unread++; unread == errs.MostUnread {
				return err
			}
		}
		if err != nil {
			intact = false
			if err := report(err); err != nil || last {
				return err
			}
		}
		total += n
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if intact && total != s.nbytes && s.chunkSize <= 0 {
		return report(f.wrap("header", offNBytes, corrupt("%d bytes, the chunks have %d", s.nbytes, total)))
	}
	return nil
}

// verifyLayers decodes all variable-length metalayers.
func (f *Frame) verifyLayers(ctx context.Context, s *snapshot, report func(error) error) error {
	contents := map[*byte]error{}
	for _, l := range s.vlmeta {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := f.checkContent(ctx, contents, l)
		if canceled := ctx.Err(); canceled != nil {
			return canceled
		}
		if err != nil {
			if err := report(err); err != nil {
				return err
			}
		}
	}
	return nil
}

// verifyChunk decodes chunk i block by block and returns its header. from reads the bytes of s.
func (f *Frame) verifyChunk(ctx context.Context, from io.ReaderAt, s *snapshot, i int) (coder.Header, error) {
	special, err := s.index.at(i).special()
	if err != nil {
		return coder.Header{}, f.chunkError(s, i, err)
	}
	if special != chunk.Regular {
		return f.chunkHeader(from, s, i)
	}
	var h coder.Header
	err = f.withWorker(func(w *worker) (err error) {
		h, err = f.verifyBlocks(ctx, from, s, w, i)
		return err
	})
	return h, err
}

// verifyBlocks is verifyChunk for a chunk that is stored.
func (f *Frame) verifyBlocks(ctx context.Context, from io.ReaderAt, s *snapshot, w *worker, i int) (_ coder.Header, err error) {
	if s.mapped != nil {
		defer recoverFault(s.mapped, debug.SetPanicOnFault(true), f, i, w, &err)
	}
	w.Chunk = int64(i)
	var r coder.Reader
	c, err := f.openChunk(s, from, w, &r, i, s.index.after(i), 1, false)
	if err != nil {
		return coder.Header{}, err
	}
	defer closeSource(c)
	if err := f.checkChecksum(s, i, r.Raw()); err != nil {
		return r.Header, err
	}
	for k := range r.NumBlocks {
		n := r.BlockLen(k)
		if r.Special != chunk.Regular {
			break
		}
		if err := ctx.Err(); err != nil {
			return r.Header, f.chunkError(s, i, err)
		}
		if err := f.checkAlloc(ctx, int64(n)); err != nil {
			return r.Header, f.chunkError(s, i, fmt.Errorf("block %d: %w", k, err))
		}
		if err := w.DecodeBlock(w.memory(n), &r, k); err != nil {
			return r.Header, f.chunkError(s, i, err)
		}
	}
	return r.Header, nil
}

// distinctChunks works on each stored chunk of a state once, even if the index references it many times. It also bounds
// the work by the space of the chunks: chunks with more bytes overlap, which no writer produces.
type distinctChunks struct {
	chunkReader
	seen map[entry]*seenChunk // nil if no chunk is referenced twice
	left int64                // bytes that further chunks may have

	// Sizes of the items and blocks of an array, in bytes, that chunks must agree with; 0 = anything.
	itemSize, blockSize int64
}

// seenChunk is a stored chunk that was examined.
type seenChunk struct {
	h         coder.Header
	sum       uint32
	err       error       // of its content
	copyEntry summedEntry // of its copy in the batch
	copied    bool        // the copy exists
}

func (f *Frame) distinctChunks(ctx context.Context, s *snapshot) *distinctChunks {
	d := &distinctChunks{chunkReader: f.chunkReader(ctx, s), left: s.areaLen()}
	if _, shared := s.index.storedEntries(); shared {
		d.seen = map[entry]*seenChunk{}
	}
	return d
}

// checkArray makes d return an error for a chunk that does not fit the array in the frame, if there is one.
func (d *distinctChunks) checkArray() { d.itemSize, d.blockSize = arraySizes(d.s) }

// spend returns an error if the chunks so far, with chunk i of n bytes, have more bytes than their space.
func (d *distinctChunks) spend(i, n int) error {
	if d.left -= int64(n); d.left < 0 {
		return d.f.chunkError(d.s, i, corrupt("it overlaps other chunks"))
	}
	return nil
}

// repeated returns chunk i as it was seen, if its copy is already stored, or nil.
func (d *distinctChunks) repeated(i int) *seenChunk {
	if e := d.s.index.at(i); e >= 0 && d.seen != nil && d.seen[e] != nil && d.seen[e].copied {
		return d.seen[e]
	}
	return nil
}

// fits returns an error if a stored chunk that was seen before cannot be chunk i.
func (d *distinctChunks) fits(i int, c *seenChunk) error {
	err := c.err
	if err == nil {
		err = d.s.checkSize(i, &c.h)
	}
	if err == nil && d.s.index.checksums != nil && d.s.index.checksums[i] != c.sum {
		err = ErrChecksum
	}
	if err != nil {
		return d.f.chunkError(d.s, i, err)
	}
	return nil
}

// verify decodes chunk i and returns its decoded size, and whether to stop: the number of chunks that overlap has no
// bound.
func (d *distinctChunks) verify(i int) (n int64, last bool, err error) {
	if d.s.index.at(i) < 0 || d.seen == nil {
		from, err := d.from(i)
		if err != nil {
			return 0, true, err
		}
		h, err := d.f.verifyChunk(d.ctx, from, d.s, i)
		if over := d.spend(i, d.storedSize(i, &h)); over != nil {
			return 0, true, over
		}
		return int64(h.NBytes), false, cmp.Or(err, d.checkSizes(i, &h), d.checkIndexed(i, &h))
	}
	c := d.seen[d.s.index.at(i)]
	if c == nil {
		from, err := d.from(i)
		if err != nil {
			return 0, true, err
		}
		c = d.examine(i, from, d.f.verifyChunk)
		d.seen[d.s.index.at(i)] = c
		if over := d.spend(i, c.h.CBytes); over != nil {
			return 0, true, over
		}
	}
	return int64(c.h.NBytes), false, cmp.Or(d.fits(i, c), d.checkSizes(i, &c.h))
}

// checkSizes returns an error if the blocks of chunk i do not have the size of the array's blocks, or if the chunk does
// not repeat one item: the array then cannot be read.
func (d *distinctChunks) checkSizes(i int, h *coder.Header) error {
	switch {
	case d.blockSize == 0 || d.s.index.at(i) < 0:
	case h.Special != chunk.Regular:
		if err := coder.CheckItems(h.Special, h.CBytes-coder.HeaderSize, h.TypeSize, int(d.itemSize)); err != nil {
			return d.f.chunkError(d.s, i, err)
		}
	case int64(h.BlockSize) != d.blockSize || h.VLBlocks:
		return d.f.chunkError(d.s, i, corrupt("blocks of %d bytes, those of the array have %d", h.BlockSize, d.blockSize))
	}
	return nil
}

// checkIndexed returns an error if chunk i is a special entry of the index, and the block size in the header of the
// frame divides it into another number of blocks than the array has. C-Blosc2 then cannot read the array.
func (d *distinctChunks) checkIndexed(i int, h *coder.Header) error {
	if d.blockSize == 0 || d.s.index.at(i) >= 0 {
		return nil
	}
	if want := (int64(h.NBytes) + d.blockSize - 1) / d.blockSize; int64(h.NumBlocks) != want {
		return d.f.chunkError(d.s, i, corrupt("%v of %d blocks by the header, those of the array have %d", h.Special, h.NumBlocks, want))
	}
	return nil
}

// checkRaw is checkSizes for the stored bytes of chunk i.
func (d *distinctChunks) checkRaw(i int, raw []byte) error {
	if d.blockSize == 0 {
		return nil
	}
	h, err := coder.ParseHeader(raw, int64(len(raw)))
	if err != nil {
		return d.f.chunkError(d.s, i, err)
	}
	return d.checkSizes(i, &h)
}

// storedSize returns the stored size of chunk i, in bytes.
func (d *distinctChunks) storedSize(i int, h *coder.Header) int {
	if d.s.index.at(i) < 0 {
		return 0
	}
	return h.CBytes
}

// examine decodes chunk i by calling decode. The result does not depend on the number i. from reads the bytes of the
// state.
func (d *distinctChunks) examine(i int, from io.ReaderAt, decode func(context.Context, io.ReaderAt, *snapshot, int) (coder.Header, error)) *seenChunk {
	s := d.s.successor()
	s.chunkSize, s.index.checksums = 0, nil
	c := &seenChunk{}
	if c.h, c.err = decode(d.ctx, from, s, i); c.err == nil && d.s.index.checksums != nil {
		var raw []byte
		raw, c.err = d.f.rawChunk(from, nil, s, i)
		c.sum = crc32c.Checksum(raw)
	}
	var e *Error
	if errors.As(c.err, &e) {
		c.err = e.Err // without the number
	}
	return c
}
