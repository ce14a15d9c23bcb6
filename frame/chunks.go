package frame

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/task"
)

// worker holds what one goroutine needs to decode and encode.
type worker struct {
	*coder.Worker
	buf     []byte                 // decoded blocks
	answers [2]engine.Block        // of the plan, for the current blocks
	sum     storage.ChecksumReader // of a chunk that is compared with its checksum while it is read
}

func (f *Frame) getWorker() *worker {
	if w, ok := f.workers.Get().(*worker); ok {
		w.Chunk = -1
		return w
	}
	return &worker{Worker: f.pool.NewWorker()}
}

// putWorker returns a worker to the pool, unless recoverFault has invalidated it. A worker is not returned after a
// panic either: its codecs may be in any state.
func (f *Frame) putWorker(w *worker) {
	if w.Worker == nil {
		return
	}
	for i := range w.answers {
		w.answers[i].Reset()
	}
	f.workers.Put(w)
}

// workersFor returns the number of workers for a number of blocks of size bytes. If the blocks are large, their memory
// stays within the limit of CheckAlloc, or there is one worker.
func (f *Frame) workersFor(ctx context.Context, blocks, size int64) int {
	return coder.WorkersFor(task.Workers(f.opts.Concurrency, blocks), size, func(n int64) int64 {
		limit, _ := f.allocLimit(ctx, n) // decoding returns the error
		return limit
	})
}

// withWorker calls do with a worker.
func (f *Frame) withWorker(do func(w *worker) error) error {
	w := f.getWorker()
	err := do(w)
	f.putWorker(w)
	return err
}

// memory returns memory for a decoded block of n bytes.
func (w *worker) memory(n int) []byte {
	if cap(w.buf) < n {
		w.buf = make([]byte, n)
	}
	return w.buf[:n]
}

// recoverFault is deferred where a goroutine reads mapped memory for chunk i. If the file was truncated or the disk
// fails, the read is a fault, which recoverFault turns into an error: no check before the read could predict it. Other
// panics continue. was is the result of debug.SetPanicOnFault(true) for the goroutine. w may be nil; after a fault it
// is in the middle of a block and must not be used again.
func recoverFault(m *storage.Mapped, was bool, f *Frame, i int, w *worker, err *error) {
	debug.SetPanicOnFault(was)
	p := recover()
	if p == nil {
		return
	}
	off, ok := m.Fault(p)
	if !ok {
		panic(p)
	}
	if w != nil {
		w.Worker = nil
	}
	*err = f.chunkErrorAt(i, -1, fmt.Errorf("cannot read byte %d of the mapped file, which was truncated, or the disk fails: %w", off, ErrChanged))
}

// ChunkInfo describes a chunk without decoding it. Sizes are in bytes.
type ChunkInfo struct {
	Special chunk.Special // the value that the chunk represents, or chunk.Regular
	Off     int64         // offset in the frame, or number of the chunk file; -1 if only the index has it
	NBytes  int           // decoded size
	CBytes  int           // stored size; 0 if only the index has it
	Blocks  int           // number of blocks

	// A chunk that is not special has these, as its header states them. Otherwise they are zero.
	Stored  bool            // the chunk holds its data uncompressed and unfiltered
	Codec   codec.ID        // also set if Stored; a chunk of Blosc1 does not distinguish LZ4 and LZ4HC
	Filters [6]chunk.Filter // slot 0 is the first to be applied when writing, the last when reading
}

// describe returns the description of chunk i by its index entry and its header.
func (s *snapshot) describe(i int, h coder.Header) ChunkInfo {
	c := ChunkInfo{Special: h.Special, Off: -1, NBytes: h.NBytes, Blocks: h.NumBlocks}
	if c.Special == chunk.Regular {
		c.Stored, c.Codec, c.Filters = h.Stored, h.CodecID(), h.Filters
	}
	if e := s.index.at(i); e >= 0 {
		c.Off, c.CBytes = int64(e), h.CBytes
		if !s.sparse {
			c.Off += int64(s.headerLen)
		}
	}
	return c
}

// chunkHeader reads the header of chunk i, or makes the header of a special entry. from reads the bytes of s.
func (f *Frame) chunkHeader(from io.ReaderAt, s *snapshot, i int) (_ coder.Header, err error) {
	if s.mapped != nil {
		defer recoverFault(s.mapped, debug.SetPanicOnFault(true), f, i, nil, &err)
	}
	if s.index.at(i) < 0 {
		b, err := f.specialChunk(s, i)
		if err != nil {
			return coder.Header{}, err
		}
		return coder.ParseHeader(b, int64(len(b)))
	}
	src, h, err := f.openStored(from, s, i)
	closeSource(src.close)
	return h, err
}

// openStored returns the location and the header of chunk i, which is not a special entry. from reads the bytes of s.
// The caller must close the source.
func (f *Frame) openStored(from io.ReaderAt, s *snapshot, i int) (chunkSource, coder.Header, error) {
	src, err := f.store.open(s, from, s.index.at(i), -1)
	if err != nil {
		return chunkSource{}, coder.Header{}, f.chunkError(s, i, err)
	}
	h, err := src.header()
	if err == nil {
		err = s.checkSize(i, &h)
	}
	if err != nil {
		closeSource(src.close)
		return chunkSource{}, h, f.chunkError(s, i, err)
	}
	return src, h, nil
}

// specialChunk makes the chunk that a special entry represents.
func (f *Frame) specialChunk(s *snapshot, i int) ([]byte, error) {
	special, err := s.index.at(i).special()
	n := s.chunkLen(i)
	if err == nil && n < 0 {
		err = errNoSize()
	}
	if err == nil {
		var b []byte
		if b, err = coder.IndexedSpecial(special, int(n), s.cparams()); err == nil {
			return b, nil
		}
		err = corrupt("%v", err)
	}
	return nil, f.chunkError(s, i, err)
}

// errNoSize returns the error for a special entry of the index in a frame with chunks of variable size. Only a stored
// chunk has a size there.
func errNoSize() error {
	return corrupt("a special value without a size, in a frame with chunks of variable size")
}

// rawChunk appends the stored bytes of chunk i to dst. from reads the bytes of s.
func (f *Frame) rawChunk(from io.ReaderAt, dst []byte, s *snapshot, i int) (out []byte, err error) {
	out = dst // if recoverFault sets the error
	if s.mapped != nil {
		defer recoverFault(s.mapped, debug.SetPanicOnFault(true), f, i, nil, &err)
	}
	if s.index.at(i) < 0 {
		b, err := f.specialChunk(s, i)
		return append(dst, b...), err
	}
	src, h, err := f.openStored(from, s, i)
	if err != nil {
		return dst, err
	}
	defer closeSource(src.close)
	b := src.mem
	if b == nil {
		b, err = f.readStored(src.at, src.off, int64(h.CBytes))
	} else if s.mapped != nil {
		if err = coder.MayRead(s.mapped, src.off, int64(h.CBytes), f.opts.MaxBytes); err != nil {
			err = errClaim(int64(h.CBytes), err)
		}
	}
	if err != nil {
		return dst, f.chunkError(s, i, err)
	}
	b = b[:h.CBytes]
	if f.opts.Verify {
		if err := f.checkChecksum(s, i, b); err != nil {
			return dst, err
		}
	}
	if dst == nil && src.mem == nil { // readStored has made b
		return b, nil
	}
	return append(dst, b...), nil
}

// openChunk opens chunk i of a snapshot, which is not a special entry, into r. from reads the bytes of s. next is the
// entry of the following chunk, or negative. want is the fraction of chunk i that will be read. See mustCheck for
// compare. The caller must close the result when r is no longer used.
func (f *Frame) openChunk(s *snapshot, from io.ReaderAt, w *worker, r *coder.Reader, i int, next entry, want float64, compare bool) (io.Closer, error) {
	check := f.mustCheck(s, i, want, compare)
	if check {
		want = 1
	}
	e := s.index.at(i)
	src, err := f.store.open(s, from, e, next)
	if err != nil {
		return nil, f.chunkError(s, i, err)
	}
	if a, ok := from.(interface{ chunk() []byte }); ok { // a chunkAhead
		src.mem = a.chunk()
	}
	if src.usual > 0 && src.usual < 16<<10 {
		src.guess = max(src.guess, src.usual) // one read of a small chunk takes less time than two
	}
	switch {
	case src.mem != nil:
		err = w.Open(r, src.mem)
	case check:
		w.sum = storage.NewChecksumReader(src.at, src.off)
		err = w.OpenAt(r, &w.sum, src.off, src.size, src.guess, want)
	default:
		err = w.OpenAt(r, src.at, src.off, src.size, src.guess, want)
	}
	if err == nil {
		err = s.checkSize(i, &r.Header)
	}
	if err == nil && check {
		sum := uint32(0)
		if src.mem != nil {
			sum = crc32c.Checksum(r.Raw())
		} else {
			sum = w.sum.Of(r.Raw())
			w.sum = storage.ChecksumReader{}
		}
		if sum == s.index.checksums[i] {
			f.noteChecked(s, i)
		} else {
			err = ErrChecksum
		}
	}
	if err != nil {
		closeSource(src.close)
		return nil, f.chunkError(s, i, err)
	}
	return src.close, nil
}

// mustCheck reports whether chunk i must be compared with its checksum when it is opened: with OpenOptions.Verify, or
// if compare is set, because its items get a new checksum. A chunk that is read in part is compared only once per
// state.
func (f *Frame) mustCheck(s *snapshot, i int, want float64, compare bool) bool {
	if s.index.checksums == nil || !compare && !f.opts.Verify {
		return false
	}
	return want >= 0.5 || s.draft || s.marks()[i/32].Load()&(1<<(i%32)) == 0
}

// noteChecked records that chunk i matches its checksum.
func (f *Frame) noteChecked(s *snapshot, i int) {
	if !s.draft {
		s.marks()[i/32].Or(1 << (i % 32))
	}
}
