package coder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/goblosc/blosc2/internal/codecs"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/filters"
)

// Reader is an opened chunk: its header, the positions of its blocks, and where to read their bytes. Once opened, any
// number of workers may decode its blocks at the same time. Opening a Reader again reuses its memory.
type Reader struct {
	Header              // of the opened chunk; callers must not change it
	Value        []byte // repeated item of a Value chunk
	LargestBlock int    // decoded size of the largest block in bytes

	mem    []byte      // the chunk, if it is in memory
	src    io.ReaderAt // otherwise, the source of the chunk
	base   int64       // offset of the chunk in src
	starts []int32     // offset of each block in the chunk; empty for stored and special chunks
	ends   []int32     // upper bound for the end of each block
	sorted []int32
	offs   []int32 // with VLBlocks, the offset of each block in the decoded chunk, and the end of the last
	dict   []byte
	ref    []byte // decoded block 0, if the pipeline has Delta and the blocks have one size
	own    []byte // the beginning of the chunk, read from src
	ahead  []byte // bytes read from src in advance
	from   int    // offset of ahead in the chunk
	opened uint64 // counts openings

	maxBytes int64 // limit of the worker that opened it
	// itemSize is the item size that codecs and N-dimensional filters use. As in C-Blosc2, the size of the frame has
	// priority over that of the chunk header, which is 1 for sizes above 255 and may be another one.
	itemSize int

	// Properties of all blocks, under the options of the worker that opened the chunk.
	steps   steps // filters to undo
	ByPlane bool  // blocks can be read by byte plane: DecodeShuffled decodes them
	pairs   bool  // two blocks can be decoded at once

	uncached bool // filters write the decoded chunk past the caches
}

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
	err := w.readHead(r, src, off, size, guess, want)
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
	r.maxBytes, r.itemSize = w.o.limit(), r.TypeSize
	if w.o.ItemSize > 0 {
		r.itemSize = w.o.ItemSize
	}
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

// readHead reads and parses the header. It reads into r.own the parts before the streams, or the whole chunk, with one
// read if guess is good.
func (w *Worker) readHead(r *Reader, src io.ReaderAt, off, size, guess int64, want float64) error {
	const first = 4096   // enough for the header and the positions of a thousand blocks
	const most = 8 << 20 // larger reads wait for the header
	guess = min(guess, most)
	n := int64(first)
	if want >= 0.5 && guess > n || size < 4*first {
		n = max(guess, min(size, 4*first))
	}
	n = max(0, min(n, size))
	r.own = slices.Grow(r.own[:0], int(n))[:n]
	got, err := src.ReadAt(r.own, off)
	// The size of the chunk is not known yet: the source may end, or fail to read, after the chunk.
	if got < min(int(n), HeaderSize) {
		return readError(err, 0, got, -1)
	}
	r.own = r.own[:got]
	if r.Header, err = ParseHeader(r.own, size); err != nil {
		return err
	}
	h := &r.Header
	end := h.Overhead + 4*h.NumBlocks
	switch {
	case h.CBytes <= len(r.own) || want >= 0.5 || h.VLBlocks || h.Special != Regular:
		end = h.CBytes
	case h.Stored:
		end = h.Overhead
	case h.HasDict:
		end = min(end+4+codecs.MaxDict, h.CBytes)
	}
	if had := len(r.own); end > had {
		if err := MayRead(src, off, int64(end), w.o.limit()); err != nil {
			return headerError(12, err, "%d bytes of a chunk", end)
		}
		r.own = slices.Grow(r.own, end-had)[:end]
		if err := readFull(src, r.own[had:], off, had, -1); err != nil {
			return err
		}
	}
	if end == h.CBytes {
		r.mem = r.own[:end]
		return nil
	}
	r.src, r.base = src, off
	return nil
}

// readStored copies the content of a stored chunk from byte at up.
func (r *Reader) readStored(dst []byte, at int) error {
	off := r.Overhead + at
	if r.mem != nil {
		filters.Copy(dst, r.mem[off:][:len(dst)])
		return nil
	}
	n, err := r.src.ReadAt(dst, r.base+int64(off))
	if n == len(dst) {
		return nil
	}
	return readError(err, off, n, r.blockAt(at+n))
}

// readFull reads len(p) bytes from byte at of the chunk at base, for block k or the header. The bytes must exist, so an
// early end is corruption.
func readFull(src io.ReaderAt, p []byte, base int64, at, k int) error {
	n, err := src.ReadAt(p, base+int64(at))
	if n == len(p) {
		return nil
	}
	return readError(err, at, n, k)
}

// readError returns the error of a read at byte at of a chunk that has read only n bytes.
func readError(err error, at, n, k int) error {
	if err == nil || errors.Is(err, io.EOF) {
		err = corrupt("the file ends inside the chunk")
	} else {
		err = readFault{err}
	}
	return &Error{Block: k, Off: int64(at) + int64(n), Err: err}
}

// Release makes r a Reader without a chunk, which refers to no memory or source of a caller.
func (r *Reader) Release() {
	r.Header, r.mem, r.src, r.dict, r.Value, r.LargestBlock = Header{}, nil, nil, nil, nil, 0
	r.starts, r.ends, r.offs, r.ref, r.ahead = r.starts[:0], r.ends[:0], r.offs[:0], r.ref[:0], r.ahead[:0]
	r.steps, r.ByPlane, r.pairs, r.uncached = steps{}, false, false, false
	r.opened++
}

// readStarts reads the positions of the blocks and finds where blocks end. Writers with several threads append blocks
// in the order of completion, so the next position in the list may belong to a later block.
func (r *Reader) readStarts(head []byte) error {
	h := &r.Header
	first := h.Overhead + 4*h.NumBlocks // checked by Header.check
	for k := range h.NumBlocks {
		at := h.Overhead + 4*k
		start := int32(binary.LittleEndian.Uint32(head[at:]))
		if int(start) < first || int(start) >= h.CBytes {
			return &Error{Block: k, Off: int64(at), Err: corrupt("block position %d", start)}
		}
		r.starts = append(r.starts, start)
	}
	r.findEnds()
	if h.VLBlocks {
		return nil
	}
	// No more bytes are read for a block than the longest block of regular size has, even if the next one begins later.
	streams := h.streams(h.BlockSize)
	longest := int64(streams * (4 + h.longestStream(h.BlockSize/streams)))
	total := int64(0)
	for k, start := range r.starts {
		r.ends[k] = int32(min(int64(r.ends[k]), int64(start)+longest))
		if total += int64(r.ends[k] - start); total > maxShare*int64(h.CBytes) {
			return &Error{Block: k, Off: int64(h.Overhead + 4*k), Err: corrupt("blocks up to here have more than %d times the bytes of the chunk, which they share", maxShare)}
		}
	}
	return nil
}

// maxShare limits the stored bytes of all blocks to this many times the size of the chunk. No writer is known that
// makes blocks share bytes. Without a limit, each 4 bytes of a chunk could add a block to decode.
const maxShare = 4

// findEnds sets the end of each block to the next greater start, or the end of the chunk.
func (r *Reader) findEnds() {
	n, last := len(r.starts), int32(r.CBytes)
	r.ends = slices.Grow(r.ends, n)[:n]
	if slices.IsSorted(r.starts) {
		for k := n - 1; k >= 0; k-- {
			if k < n-1 && r.starts[k+1] > r.starts[k] {
				last = r.starts[k+1]
			}
			r.ends[k] = last
		}
		return
	}
	r.sorted = append(r.sorted[:0], r.starts...)
	slices.Sort(r.sorted)
	for k, start := range r.starts {
		r.ends[k] = last
		if i, _ := slices.BinarySearch(r.sorted, start+1); i < n {
			r.ends[k] = r.sorted[i]
		}
	}
}

// readDict reads the dictionary, which is at byte at of the chunk.
func (r *Reader) readDict(head []byte, at int) error {
	if len(head)-at < 4 {
		return headerError(int64(at), errs.ErrCorrupt, "the dictionary is truncated")
	}
	n := int32(binary.LittleEndian.Uint32(head[at:]))
	if n <= 0 || n > codecs.MaxDict || int(n) > len(head)-at-4 {
		return headerError(int64(at), errs.ErrCorrupt, "dictionary of %d bytes", n)
	}
	r.dict = head[at+4 : at+4+int(n)]
	return nil
}

// readSizes reads the decoded sizes of blocks of variable length, which precede their streams, and returns the largest.
func (r *Reader) readSizes() (int, error) {
	total, largest := int64(0), int32(0)
	for k, start := range r.starts {
		if k > 0 && start <= r.starts[k-1] {
			return 0, &Error{Block: k, Off: int64(start), Err: corrupt("blocks out of order")}
		}
		if r.ends[k]-start < 4 {
			return 0, &Error{Block: k, Off: int64(start), Err: corrupt("the block size is truncated")}
		}
		size := int32(binary.LittleEndian.Uint32(r.mem[start:]))
		if size <= 0 || int64(size) > int64(r.NBytes)-total {
			return 0, &Error{Block: k, Off: int64(start), Err: corrupt("block size %d", size)}
		}
		r.offs = append(r.offs, int32(total))
		total += int64(size)
		largest = max(largest, size)
	}
	if total != int64(r.NBytes) {
		return 0, headerError(4, errs.ErrCorrupt, "blocks of %d bytes in total, want %d", total, r.NBytes)
	}
	r.offs = append(r.offs, int32(total))
	return int(largest), nil
}

// BlockLen returns the decoded size of block k in bytes.
func (r *Reader) BlockLen(k int) int {
	if len(r.offs) > 0 {
		return int(r.offs[k+1] - r.offs[k])
	}
	return min(r.BlockSize, r.NBytes-k*r.BlockSize)
}

// blockAt returns the block that holds byte at of the decoded chunk. The chunk must have that byte.
func (r *Reader) blockAt(at int) int {
	if len(r.offs) == 0 {
		return at / r.BlockSize
	}
	k, found := slices.BinarySearch(r.offs, int32(at))
	if !found {
		k--
	}
	return k
}

// BlockOffset returns the offset of block k in the decoded chunk.
func (r *Reader) BlockOffset(k int) int {
	if len(r.offs) > 0 {
		return int(r.offs[k])
	}
	return k * r.BlockSize
}

// Raw returns the chunk as stored if all of it is in memory, and otherwise nil. After Open it is always in memory, and
// after OpenAt if want was at least 0.5. The slice is valid until the reader is opened again.
func (r *Reader) Raw() []byte { return r.mem }

// ReadAhead reads the bytes of several blocks in one read if they are close to each other in the source, so that
// decoding them needs no reads. The blocks are those in list, or n blocks starting at first if list is empty. Only the
// goroutine that opened the chunk may call ReadAhead, before it shares the reader. ReadAhead ignores errors of the
// source: decoding reads again and reports them.
func (r *Reader) ReadAhead(first, n int, list []int32) {
	if len(list) > 0 {
		n = len(list)
	}
	if r.mem != nil || n < 2 || len(r.starts) == 0 {
		return
	}
	from, to, useful := r.CBytes, 0, 0
	for i := range n {
		k := first + i
		if len(list) > 0 {
			k = int(list[i])
		}
		start, end := int(r.starts[k]), int(r.ends[k])
		from, to, useful = min(from, start), max(to, end), useful+end-start
	}
	if to-from > maxAhead || to-from-useful > (n-1)*readCost || to <= len(r.own) {
		return
	}
	r.ahead, r.from = slices.Grow(r.ahead[:0], to-from)[:to-from], from
	if readFull(r.src, r.ahead, r.base, from, -1) != nil {
		r.ahead = r.ahead[:0]
	}
}

// maxAhead is the largest number of bytes that ReadAhead reads. They fit in a cache of the CPU.
const maxAhead = 1 << 20

// readCost is the number of bytes of a cached file that can be read in the time of one system call.
const readCost = 8 << 10

// bytes returns the bytes of block k: a part of the bytes in memory, or bytes read into *buf, which it may replace.
func (r *Reader) bytes(k int, buf *[]byte) ([]byte, error) {
	from, to := int(r.starts[k]), int(r.ends[k])
	switch {
	case r.mem != nil:
		return r.mem[from:to:to], nil
	case to <= len(r.own): // read with the parts before the streams
		return r.own[from:to:to], nil
	case from >= r.from && to-r.from <= len(r.ahead):
		from, to = from-r.from, to-r.from
		return r.ahead[from:to:to], nil
	}
	if err := MayRead(r.src, r.base+int64(from), int64(to-from), r.maxBytes); err != nil {
		return nil, &Error{Block: k, Off: int64(from), Err: fmt.Errorf("a block of %d bytes in the chunk: %w", to-from, err)}
	}
	n := to - from
	if cap(*buf) < n { // leave space for blocks that are a bit longer
		*buf = make([]byte, n+n/4)
	}
	*buf = (*buf)[:n]
	return *buf, readFull(r.src, *buf, r.base, from, k)
}
