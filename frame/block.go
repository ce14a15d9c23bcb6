package frame

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
)

// ReadBlock appends the decoded bytes of block k of chunk i to dst and reads no other block, but for the first one
// where the chunk has the filter Delta. It is how the items of a super-chunk with blocks of variable size are read.
// Errors are ErrBounds, ErrCorrupt, ErrUnsupported or ErrTooLarge, in an *Error.
func (f *Frame) ReadBlock(dst []byte, i, k int) (_ []byte, err error) {
	s, err := f.acquire(context.Background())
	if err != nil {
		return dst, err
	}
	defer f.release(s, &err)
	if err := f.checkChunk(s, i); err != nil {
		return dst, err
	}
	if err := f.checkHeld(s, i); err != nil {
		return dst, err
	}
	out := dst
	err = f.withWorker(func(w *worker) (err error) {
		out, err = f.readBlock(dst, s, w, i, k)
		return err
	})
	return out, err
}

// readBlock is ReadBlock for a chunk that exists.
func (f *Frame) readBlock(dst []byte, s *snapshot, w *worker, i, k int) (read []byte, err error) {
	read = dst // when recoverFault sets the error
	if m, ok := s.src.(*mapped); ok {
		defer m.recoverFault(debug.SetPanicOnFault(true), f, i, w, &err)
	}
	w.Chunk = int64(i)
	var r coder.Reader
	if special, err := s.index.at(i).special(); err != nil || special != chunk.Regular {
		c, err := f.specialChunk(s, i, special, err)
		if err == nil {
			err = w.Open(&r, c)
		}
		if err != nil {
			return dst, err
		}
	} else {
		c, err := f.openChunk(s, w, &r, i, 0)
		if err != nil {
			return dst, err
		}
		defer closeSource(c)
	}
	if k < 0 || k >= r.NumBlocks() {
		return dst, f.chunkError(s, i, fmt.Errorf("block %d of %d: %w", k, r.NumBlocks(), ErrBounds))
	}
	n := r.BlockLen(k)
	if err := f.CheckAlloc(int64(n)); err != nil {
		return dst, f.chunkError(s, i, fmt.Errorf("block %d: %w", k, err))
	}
	out := append(dst, make([]byte, n)...)
	if err := w.DecodeBlock(out[len(dst):], &r, k); err != nil {
		return dst, f.chunkError(s, i, err)
	}
	return out, nil
}

// AppendBlocks compresses blocks, each of its own size and of at least one byte, and adds them as the last chunk. It
// makes an empty frame one with blocks of variable size, which then takes no other chunks. See AppendChunk.
func (b *Batch) AppendBlocks(blocks [][]byte) error {
	if b.done {
		return b.errDone()
	}
	c, err := b.f.pool.EncodeVL(nil, blocks, b.next.cparams())
	if err != nil {
		return b.f.wrap("chunk", -1, err)
	}
	return b.AppendChunk(c)
}

// AppendBlocks compresses blocks, each of its own size, and adds them as the last chunk. See Batch.AppendBlocks.
func (f *Frame) AppendBlocks(blocks [][]byte) error {
	return f.edit(func(b *Batch) error { return b.AppendBlocks(blocks) })
}
