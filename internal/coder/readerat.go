package coder

import (
	"io"
	"slices"

	"github.com/goblosc/blosc2/internal/sched"
)

// ReaderAt gives the decoded bytes of one chunk by their position, decoding only the blocks that are asked for. It
// implements [io.ReaderAt]; any number of goroutines may use it.
//
// Each call decodes its blocks anew. For reading from the start to the end in small pieces, put a bufio.Reader with a
// buffer of at least one block (Header().BlockSize) in front.
type ReaderAt struct {
	pool *Pool
	r    Reader
}

// NewReaderAt opens the chunk at the start of src, which has size bytes; those behind the chunk are ignored. It reads
// the header and the positions of the blocks, and the streams of a block each time the block is needed. o may be nil.
// Errors are ErrCorrupt, ErrUnsupported or ErrTooLarge, in an *Error, or those of src.
func NewReaderAt(src io.ReaderAt, size int64, o *Options) (*ReaderAt, error) {
	a := &ReaderAt{pool: NewPool(o)}
	w := a.pool.Get()
	defer a.pool.Put(w)
	if err := w.OpenAt(&a.r, src, 0, size, 0, 0); err != nil {
		return nil, err
	}
	return a, nil
}

// Size returns the decoded size of the chunk in bytes.
func (a *ReaderAt) Size() int64 { return int64(a.r.NBytes()) }

// Header returns the header of the chunk. The caller must not change it.
func (a *ReaderAt) Header() *Header { return a.r.Header() }

// ReadAt decodes the bytes [off, off+len(p)) of the chunk into p, on up to Options.Concurrency goroutines. At the end
// of the chunk it returns fewer, and io.EOF. After another error the content of p is undefined and the count is 0.
// Errors are ErrParam for an offset below 0, ErrCorrupt or ErrUnsupported, in an *Error, or those of the source.
func (a *ReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, paramError("reading at %d", off)
	}
	if off >= a.Size() {
		return 0, io.EOF
	}
	at := int(off)
	n := min(len(p), a.r.NBytes()-at)
	if n > 0 {
		first, last := a.r.blockAt(at), a.r.blockAt(at+n-1)
		team := a.pool.team(last - first + 1)
		err := sched.Each(&team[0].pool.Pool, team, last-first+1, func(w *Worker, k int) error {
			return w.readPart(p[:n], &a.r, first+k, at)
		})
		a.pool.putTeam(team) // not after a panic
		if err != nil {
			return 0, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// readPart decodes what p, the bytes of the chunk from at on, needs of block k.
func (w *Worker) readPart(p []byte, r *Reader, k, at int) error {
	start, n := r.BlockOffset(k), r.BlockLen(k)
	if start >= at && n <= len(p)-(start-at) {
		return w.DecodeBlock(p[start-at:start-at+n], r, k)
	}
	w.part = slices.Grow(w.part[:0], n)[:n]
	if err := w.DecodePrefix(w.part, r, k, min(n, at+len(p)-start)); err != nil {
		return err
	}
	if start < at {
		copy(p, w.part[at-start:])
	} else {
		copy(p[start-at:], w.part)
	}
	return nil
}

// blockAt returns the block that holds byte at of the decoded chunk, which has that byte.
func (r *Reader) blockAt(at int) int {
	if len(r.offs) == 0 {
		return at / r.h.BlockSize
	}
	k, found := slices.BinarySearch(r.offs, int32(at))
	if !found {
		k--
	}
	return k
}
