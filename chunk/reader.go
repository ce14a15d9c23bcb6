package chunk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Reader is an opened chunk: its header, the positions of its blocks, and where to find their bytes. Once opened,
// any number of workers may decode its blocks at the same time. A Reader can be opened again, which keeps its memory.
type Reader struct {
	h      Header
	mem    []byte      // the chunk, when it is in memory
	src    io.ReaderAt // else where to read it
	base   int64       // position of the chunk in src
	starts []int32     // position of each block in the chunk; not for stored and special chunks
	ends   []int32     // where the bytes of each block end at the latest
	sorted []int32
	sizes  []int32 // decoded size of each block of a chunk with VLBlocks
	dict   []byte
	ref    []byte // plain block 0, when the pipeline has Delta
	value  []byte // of a chunk of repeated values
	own    []byte // memory for what is read from src
	opened uint64 // counts openings
}

// Open opens a chunk in memory. The reader refers to b until it is opened again; bytes behind the chunk are ignored.
// Errors are ErrCorrupt, ErrUnsupported or ErrTooLarge, in an *Error.
func (w *Worker) Open(r *Reader, b []byte) error {
	h, err := ParseHeader(b, int64(len(b)))
	if err != nil {
		return err
	}
	r.reset(h)
	r.mem = b[:h.CBytes:h.CBytes]
	return w.open(r)
}

// OpenAt opens the chunk that starts at byte off of src and has at most size bytes. It reads the header and the
// block positions. want says how much of the chunk will be read: if it is at least half of it, the rest comes into
// memory at once. guess is the likely size of the chunk in bytes, or 0; a good one saves a read.
func (w *Worker) OpenAt(r *Reader, src io.ReaderAt, off, size, guess int64, want float64) error {
	const first = 4096 // header and positions of a thousand blocks
	n := int64(first)
	if want >= 0.5 && guess > n || size < 4*first {
		n = max(guess, min(size, 4*first))
	}
	n = min(n, size, MaxBytes)
	r.own = slices.Grow(r.own[:0], int(n))[:n]
	if err := readFull(src, r.own, off); err != nil {
		return err
	}
	h, err := ParseHeader(r.own, size)
	if err != nil {
		return err
	}
	r.reset(h)
	switch {
	case h.CBytes <= len(r.own):
		r.mem = r.own[:h.CBytes]
		return w.open(r)
	case h.Special() == Regular && h.Stored() && want < 0.5:
		r.own = r.own[:h.Overhead()]
	case h.VLBlocks() || h.HasDict() || want >= 0.5 || h.Special() != Regular:
		if err := r.readOn(src, off, h.CBytes); err != nil {
			return err
		}
		r.mem = r.own
		return w.open(r)
	default:
		if end := h.Overhead() + 4*h.nblocks; len(r.own) < end {
			if err := r.readOn(src, off, end); err != nil {
				return err
			}
		}
	}
	r.src, r.base = src, off
	return w.open(r)
}

// readOn extends r.own to n bytes of the chunk. n is at most the chunk's size, which is known to be there.
func (r *Reader) readOn(src io.ReaderAt, off int64, n int) error {
	had := len(r.own)
	r.own = slices.Grow(r.own, n-had)[:n]
	return readFull(src, r.own[had:], off+int64(had))
}

// readFull reads len(p) bytes at off. The caller knows that they are there, so an early end is corruption.
func readFull(src io.ReaderAt, p []byte, off int64) error {
	n, err := src.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return headerError(int64(n), ErrCorrupt, "the file ends inside the chunk")
	}
	return &Error{Block: -1, Off: int64(n), Err: fmt.Errorf("reading: %w", err)}
}

func (r *Reader) reset(h Header) {
	r.h, r.mem, r.src, r.dict, r.value = h, nil, nil, nil, nil
	r.starts, r.ends, r.sizes, r.ref = r.starts[:0], r.ends[:0], r.sizes[:0], r.ref[:0]
	r.opened++
}

// open reads what stands between the header and the streams. The bytes up to there are in r.mem or r.own.
func (w *Worker) open(r *Reader) error {
	h := &r.h
	if h.Special() != Regular {
		if h.Special() == Value {
			r.value = r.mem[HeaderSize:]
		}
		return nil
	}
	if h.Stored() || h.nblocks == 0 {
		return nil
	}
	if limit := w.o.limit(h.CBytes, 8<<20); int64(h.BlockSize) > limit {
		return headerError(8, ErrTooLarge, "blocks of %d bytes in a chunk of %d, the limit is %d", h.BlockSize, h.CBytes, limit)
	}
	head := r.mem
	if head == nil {
		head = r.own
	}
	if err := r.readStarts(head); err != nil {
		return err
	}
	if h.VLBlocks() {
		if err := r.readSizes(); err != nil {
			return err
		}
	}
	b := block{typeSize: h.TypeSize, version: h.Version}
	if err := h.Filters.check(&b); err != nil {
		return &Error{Block: -1, Off: 16, Err: err}
	}
	if !h.Filters.has(Delta) {
		return nil
	}
	// Delta refers to block 0 in its final form: decode it once, for all workers.
	n := r.BlockLen(0)
	ref := slices.Grow(r.ref[:0], n)[:n]
	if err := w.DecodeBlock(ref, r, 0); err != nil {
		return err
	}
	r.ref = ref
	return nil
}

// readStarts reads the positions of the blocks and the dictionary behind them, and finds where blocks end: writers
// with several threads append blocks as they get ready, so the next position in order is another block's.
func (r *Reader) readStarts(head []byte) error {
	h := &r.h
	first := h.Overhead() + 4*h.nblocks // checked by Header.check
	for k := range h.nblocks {
		at := h.Overhead() + 4*k
		start := int32(binary.LittleEndian.Uint32(head[at:]))
		if int(start) < first || int(start) >= h.CBytes {
			return &Error{Block: k, Off: int64(at), Err: fmt.Errorf("block position %d: %w", start, ErrCorrupt)}
		}
		r.starts = append(r.starts, start)
	}
	if h.HasDict() {
		if err := r.readDict(head, first); err != nil {
			return err
		}
	}
	r.sorted = append(r.sorted[:0], r.starts...)
	if !slices.IsSorted(r.sorted) {
		slices.Sort(r.sorted)
	}
	for _, start := range r.starts {
		i, _ := slices.BinarySearch(r.sorted, start+1)
		end := int32(h.CBytes)
		if i < len(r.sorted) {
			end = r.sorted[i]
		}
		r.ends = append(r.ends, end)
	}
	return nil
}

func (r *Reader) readDict(head []byte, at int) error {
	if len(head)-at < 4 {
		return headerError(int64(at), ErrCorrupt, "no room for the dictionary")
	}
	n := int32(binary.LittleEndian.Uint32(head[at:]))
	if n <= 0 || n > MaxDictSize || int(n) > len(head)-at-4 {
		return headerError(int64(at), ErrCorrupt, "dictionary of %d bytes", n)
	}
	r.dict = head[at+4 : at+4+int(n)]
	return nil
}

// readSizes reads the decoded sizes of blocks of variable length, which stand before their bytes.
func (r *Reader) readSizes() error {
	total := int64(0)
	for k, start := range r.starts {
		if k > 0 && start <= r.starts[k-1] {
			return &Error{Block: k, Off: int64(start), Err: fmt.Errorf("blocks out of order: %w", ErrCorrupt)}
		}
		if r.ends[k]-start < 4 {
			return &Error{Block: k, Off: int64(start), Err: fmt.Errorf("no room for the size: %w", ErrCorrupt)}
		}
		size := int32(binary.LittleEndian.Uint32(r.mem[start:]))
		total += int64(size)
		if size <= 0 || total > int64(r.h.NBytes) {
			return &Error{Block: k, Off: int64(start), Err: fmt.Errorf("block size %d: %w", size, ErrCorrupt)}
		}
		r.sizes = append(r.sizes, size)
	}
	if total != int64(r.h.NBytes) {
		return headerError(4, ErrCorrupt, "blocks of %d bytes in all in a chunk of %d", total, r.h.NBytes)
	}
	return nil
}

// Header returns the header of the opened chunk.
func (r *Reader) Header() *Header { return &r.h }

// NBytes returns the decoded size of the chunk in bytes.
func (r *Reader) NBytes() int { return r.h.NBytes }

// NumBlocks returns the number of blocks.
func (r *Reader) NumBlocks() int { return r.h.nblocks }

// BlockLen returns the decoded size of block k in bytes.
func (r *Reader) BlockLen(k int) int {
	if len(r.sizes) > 0 {
		return int(r.sizes[k])
	}
	return r.h.blockLen(k)
}

// BlockOffset returns where block k starts in the decoded chunk.
func (r *Reader) BlockOffset(k int) int {
	if len(r.sizes) == 0 {
		return k * r.h.BlockSize
	}
	n := 0
	for _, size := range r.sizes[:k] {
		n += int(size)
	}
	return n
}

// Special tells whether the chunk is a special value, and which bytes a Value repeats. The slice is the reader's.
func (r *Reader) Special() (Special, []byte) { return r.h.Special(), r.value }

// bytes returns the bytes [from, to) of the chunk: a part of r.mem, or read into the worker's memory.
func (w *Worker) bytes(r *Reader, from, to int) ([]byte, error) {
	if r.mem != nil {
		return r.mem[from:to:to], nil
	}
	w.in = slices.Grow(w.in[:0], to-from)[:to-from]
	return w.in, readFull(r.src, w.in, r.base+int64(from))
}
