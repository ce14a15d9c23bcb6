package coder

import (
	"io"
	"slices"
)

// Open opens a chunk in memory. The reader refers to b until it is opened again; bytes behind the chunk are ignored.
// Errors are ErrCorrupt, ErrUnsupported or ErrTooLarge, in an *Error.
func (w *Worker) Open(r *Reader, b []byte) error {
	r.reset()
	h, err := ParseHeader(b, int64(len(b)))
	if err != nil {
		return err
	}
	r.h, r.mem = h, b[:h.CBytes:h.CBytes]
	return w.open(r)
}

// OpenAt opens the chunk that starts at byte off of src and has at most size bytes, which the caller knows to be
// there. It reads the header and the block positions. want says how much of the chunk will be read: if it is at least
// half of it, the rest comes into memory at once. guess is the likely size of the chunk in bytes, or 0; a good one
// saves a read. Errors are those of Open and of src.
func (w *Worker) OpenAt(r *Reader, src io.ReaderAt, off, size, guess int64, want float64) error {
	r.reset()
	if err := r.readHead(src, off, size, guess, want); err != nil {
		r.reset()
		return err
	}
	return w.open(r)
}

// open reads what stands between the header and the streams. The bytes up to there are in r.mem or r.own. After an
// error r has no blocks.
func (w *Worker) open(r *Reader) error {
	if err := w.openParts(r); err != nil {
		r.reset()
		return err
	}
	return nil
}

func (w *Worker) openParts(r *Reader) error {
	h := &r.h
	if h.Special() != Regular {
		r.value = h.value(r.mem)
		return nil
	}
	if h.Stored() || h.nblocks == 0 {
		return nil
	}
	head := r.mem
	if head == nil {
		head = r.own
	}
	if err := r.readStarts(head); err != nil {
		return err
	}
	largest := h.BlockSize
	if h.VLBlocks() {
		var err error
		if largest, err = r.readSizes(); err != nil {
			return err
		}
	}
	if limit := w.o.limit(h.CBytes, 8<<20); int64(largest) > limit {
		return headerError(8, ErrTooLarge, "a block of %d bytes in a chunk of %d, Options.MaxBytes allows %d", largest, h.CBytes, limit)
	}
	var err error
	if r.steps, err = w.o.decodeSteps(&h.Filters, h.TypeSize); err != nil {
		return &Error{Block: -1, Off: 16, Err: err}
	}
	regular := w.o.Postfilter == nil && !h.VLBlocks()
	r.pairs = regular && r.steps.n == 0 && h.nblocks > 1
	r.planes = regular && r.steps.planes > 0
	if !h.Filters.has(Delta) || h.VLBlocks() { // a block of variable length refers to nothing but itself
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
