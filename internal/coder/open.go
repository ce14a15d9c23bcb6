package coder

import (
	"bytes"
	"io"
	"slices"

	"github.com/goblosc/blosc2/internal/errs"
)

// Open opens a chunk in memory. The reader refers to b until it is opened again. Bytes after the chunk are ignored.
// Errors are ErrCorrupt, errors.ErrUnsupported or ErrTooLarge, in an *Error.
func (w *Worker) Open(r *Reader, b []byte) error {
	r.Release()
	h, err := ParseHeader(b, int64(len(b)))
	if err != nil {
		return err
	}
	r.Header, r.mem = h, b[:h.CBytes:h.CBytes]
	if err = w.open(r); err != nil {
		r.Release()
	}
	return err
}

// OpenAt opens the chunk that starts at byte off of src and has at most size bytes, which must be available. It reads
// the header and the block positions. want is the fraction of the chunk that will be read: from 0.5 up, OpenAt reads
// the whole chunk into memory. guess is the expected size of the chunk in bytes, or 0; a good guess saves a read.
// Errors are those of Open and of src.
func (w *Worker) OpenAt(r *Reader, src io.ReaderAt, off, size, guess int64, want float64) error {
	r.Release()
	err := r.readHead(src, off, size, guess, want)
	if err == nil {
		err = w.readRest(r, src, off, want)
	}
	if err == nil {
		err = w.open(r)
	}
	if err != nil {
		r.Release()
	}
	return err
}

// open parses the parts between the header and the streams. The bytes up to there are in r.mem or r.own. After an error
// the caller resets r.
func (w *Worker) open(r *Reader) (err error) {
	r.maxBytes = w.o.limit()
	h := &r.Header
	r.LargestBlock = min(h.BlockSize, h.NBytes)
	if h.Special != Regular {
		r.Value = h.item(r.mem)
		if w.o.Postfilter == nil {
			return nil // no block is ever in memory
		}
		return w.checkBlock(r, h.BlockSize, FreeBytes)
	}
	if h.NumBlocks == 0 {
		return nil
	}
	if h.Stored {
		return w.checkStored(r)
	}
	head := r.mem
	if head == nil {
		head = r.own
	}
	if err := r.readStarts(head); err != nil {
		return err
	}
	if h.HasDict {
		if err := r.readDict(head, h.Overhead+4*h.NumBlocks); err != nil {
			return err
		}
	}
	if h.VLBlocks {
		if r.LargestBlock, err = r.readSizes(); err != nil {
			return err
		}
	}
	if err := w.checkBlock(r, r.LargestBlock, 8<<20); err != nil {
		return err
	}
	if r.steps, err = w.o.decodeSteps(&h.Filters, h.TypeSize); err == nil {
		err = r.steps.checkItemSize(w.o, h.TypeSize, r.LargestBlock)
	}
	if err != nil {
		return &Error{Block: -1, Off: 16, Err: err}
	}
	regular := w.o.Postfilter == nil && !h.VLBlocks
	r.pairs = regular && !r.steps.user && !h.Filters.has(Delta) && h.NumBlocks > 1
	r.ByPlane = regular && r.steps.planes > 0
	if !h.Filters.has(Delta) || h.VLBlocks { // a block of variable length refers only to itself
		return nil
	}
	// Delta refers to block 0 in its final form: decode it once, for all workers.
	n := r.BlockLen(0)
	ref := slices.Grow(r.ref[:0], n)[:n]
	if err := w.decodePlain(ref, r, 0, n); err != nil {
		return err
	}
	r.ref = ref
	return nil
}

// checkBlock returns ErrTooLarge for a chunk with blocks of n decoded bytes if that much memory may not be allocated.
// If the caller sets no limit, at least floor bytes are allowed.
func (w *Worker) checkBlock(r *Reader, n int, floor int64) error {
	limit, ok, err := w.o.allows(int64(n), floor, &r.Header, r.src, r.base, r.mem)
	if !ok && err != nil {
		return readError(err, 0, 0, -1)
	}
	if !ok {
		return headerError(8, errs.ErrTooLarge, "a block of %d bytes in a chunk of %d, but %s", n, r.CBytes, w.o.limitText("a block", limit))
	}
	return nil
}

// checkStored returns ErrTooLarge for a stored chunk if too little of its first block is stored.
func (w *Worker) checkStored(r *Reader) error {
	n := r.BlockSize
	if mayClaim(int64(n), w.o.MaxBytes) {
		return nil
	}
	src, off := r.src, r.base
	if r.mem != nil {
		src, off = bytes.NewReader(r.mem), 0
	}
	if err := MayRead(src, off+int64(r.Overhead), int64(n), w.o.limit()); err != nil {
		return headerError(8, err, "a block of %d bytes", n)
	}
	return nil
}
