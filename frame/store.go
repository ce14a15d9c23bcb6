package frame

import (
	"context"
	"io"

	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/internal/coder"
)

// store keeps the chunks, index and trailer of a frame: in one contiguous storage, or in the files of a directory.
// Methods other than open and stored are called by one goroutine at a time.
type store interface {
	// open says where the chunk of an entry that is not special can be read. next is the entry of the following
	// chunk, a hint for the size, or negative.
	open(s *snapshot, e, next entry) (source, error)
	// put writes a chunk that no commit names yet.
	put(b *Batch, c []byte) (entry, error)
	// drop notes that the chunk of an entry will not be named any more after the commit.
	drop(b *Batch, e entry, size int64)
	// commit makes b.next the state of the frame: after it, the stored bytes are those of the new state, and
	// before it, whatever happens, those of the old one.
	commit(b *Batch) error
	// grow tells whether the header may take n bytes, which chunks of older states may still use.
	grow(n int64) error
	// share notes that a chunk is referenced more than once from now on: then space that one entry gives up may be in use.
	share()
	// rollback forgets what put wrote.
	rollback(b *Batch)
	// reclaim gives back space that no reader uses any more. It may make another snapshot of the same state.
	reclaim(f *Frame)
	// stored returns how many of the bytes of a state are evidence (see coder.Evidence), or that enough are. Any
	// goroutine may call it.
	stored(s *snapshot, enough int64) int64
	// size returns how many bytes are there, those that no state uses included. Any goroutine may call it.
	size(s *snapshot) (int64, error)
	// compact gives back what b.cur does not use. b has no edits.
	compact(ctx context.Context, b *Batch) error
	// refresh returns the state that is stored, and now itself when it is that. What the store knows of free space and
	// older states counts no more then. edit tells that the frame may be written to: no other process is using it.
	refresh(f *Frame, now *snapshot, edit bool) (*snapshot, error)
	close() error
}

// source is where the bytes of a chunk are.
type source struct {
	mem   []byte // when they are in memory
	at    io.ReaderAt
	off   int64 // of the chunk
	size  int64 // at most so many bytes
	guess int64 // likely so many, or 0
	close io.Closer
}

// openChunk opens chunk i of a snapshot, which is not a special entry, into r. want is the share of it that will be
// read. The source must be closed when r is not used any more.
func (f *Frame) openChunk(s *snapshot, w *worker, r *coder.Reader, i int, want float64) (io.Closer, error) {
	next := entry(-1)
	if i+1 < s.index.n {
		next = s.index.at(i + 1)
	}
	check := f.mustCheck(s, i, want)
	if check {
		want = 1
	}
	e := s.index.at(i)
	src, err := f.store.open(s, e, next)
	if err != nil {
		return nil, f.chunkError(s, i, err)
	}
	switch {
	case src.mem != nil:
		err = w.Open(r, src.mem)
	case check:
		w.sum = summing{r: src.at, next: src.off}
		err = w.OpenAt(r, &w.sum, src.off, src.size, src.guess, want)
	default:
		err = w.OpenAt(r, src.at, src.off, src.size, src.guess, want)
	}
	if err == nil {
		err = s.checkChunk(i, r.Header())
	}
	if err == nil && check {
		sum := uint32(0)
		if src.mem != nil {
			sum = crc32c.Checksum(r.Raw())
		} else {
			sum = w.sum.of(r.Raw())
			w.sum.r = nil
		}
		if sum == s.index.sums[i] {
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

// chunkError says which chunk an error belongs to.
func (f *Frame) chunkError(s *snapshot, i int, err error) error {
	off := int64(-1)
	if e := s.index.at(i); e >= 0 {
		off = int64(e)
		if !s.sparse {
			off += int64(s.headerLen)
		}
	}
	return &Error{Path: f.path, Part: "chunk", Chunk: i, Off: off, Err: err}
}

// closeSource closes what openChunk returned.
func closeSource(c io.Closer) {
	if c != nil {
		c.Close()
	}
}
