package coder

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/goblosc/blosc2/internal/filters"
)

// Blocks supplies the blocks of a chunk to Build.
type Blocks struct {
	// Ready is called for each block in order. It returns block k if it was encoded elsewhere. If it returns nil, Build
	// encodes the block.
	Ready func(k int) ([]byte, error)
	// Shuffled is the set function of EncodeShuffled for block k.
	Shuffled func(k int, s Shuffled) bool
	// Plain returns block k before encoding, and may reuse its memory. It is called for a block that Shuffled has not
	// written, and again for blocks of a chunk that must be stored, or that a user filter has turned into zeros.
	Plain func(k int) ([]byte, error)

	content []byte // content of the chunk if it is in memory; the functions are then nil
}

// plain returns block k before encoding.
func (s *Blocks) plain(l *Layout, k int) ([]byte, error) {
	if s.Plain != nil {
		return s.Plain(k)
	}
	at := k * l.BlockSize
	return s.content[at : at+l.BlockLen(k)], nil
}

// builder makes a chunk: its header, the positions of its blocks, its dictionary and its blocks.
//
// As long as no stream of a block compresses, the chunk will probably be stored as a whole. So if the content is in
// memory, the leading blocks that do not compress are filtered again and copied at the end, if at all.
type builder struct {
	l         *Layout
	workers   []*Worker
	ref       []byte // decoded block 0, for Delta
	from      Blocks
	dst       []byte
	start     int  // offset of the chunk in dst
	starts    int  // offset of the block positions in dst
	zeros     bool // all streams so far are zeros
	postponed int  // number of leading blocks that are not copied yet

	// Memory for encodeParallel.
	waiting []encodedBlock // blocks that wait for their position, or are being copied
	spare   [][]byte
}

// Build appends a chunk whose blocks were encoded elsewhere, or are encoded here, and returns its header too. ref is
// the result of Reference for block 0, if l.NeedsReference. Errors are those of EncodeBlock and of the functions of
// from.
func (w *Worker) Build(dst []byte, l *Layout, ref []byte, from Blocks) ([]byte, Header, error) {
	workers := w.workers[:1]
	if l.Stored {
		return store(dst, l, workers, &from)
	}
	out, h, err := build(dst, l, workers, ref, &from)
	if errors.Is(err, errNoRoom) {
		return store(dst, l, workers, &from)
	}
	if err != nil {
		out = dst
	}
	return out, h, err
}

// build appends a chunk to dst and returns its header. Several workers need content in memory; dst must then be empty
// or have space for the longest chunk. It returns errNoRoom if the chunk must be stored. It returns the memory it used
// in any case.
func build(dst []byte, l *Layout, workers []*Worker, ref []byte, from *Blocks) ([]byte, Header, error) {
	builders := &workers[0].pool.builders
	b, ok := builders.Get().(*builder)
	if !ok {
		b = new(builder)
	}
	*b = builder{l: l, workers: workers, ref: ref, from: *from, waiting: b.waiting, spare: b.spare}
	out, h, err := b.run(dst)
	*b = builder{waiting: b.waiting, spare: b.spare}
	builders.Put(b) // not after a panic: blocks may be waiting
	return out, h, err
}

// run appends the chunk to dst, and returns it with its header, or errNoRoom if the chunk must be stored.
func (b *builder) run(dst []byte) ([]byte, Header, error) {
	next, err := 0, error(nil)
	if len(b.workers) == 1 {
		b.begin(dst, 0)
	} else {
		most := b.l.NBytes + MaxOverhead
		if cap(dst)-len(dst) < most {
			dst = make([]byte, 0, most)
		}
		b.begin(dst, 0)
		next, err = b.encodeParallel()
	}
	for ; next < b.l.NumBlocks && err == nil; next++ {
		if err = b.workers[0].canceled(); err == nil {
			err = b.encode(next)
		}
	}
	if err != nil {
		return b.dst, Header{}, err
	}
	if b.postponed > 0 {
		if err := b.copyPostponed(); err != nil {
			return b.dst, Header{}, err
		}
	}
	if b.zeros && b.workers[0].encodingOf(b.l).steps.user {
		if b.zeros, err = b.plainZeros(); err != nil {
			return b.dst, Header{}, err
		}
	}
	h := b.end()
	return b.dst, h, nil
}

// begin appends all parts before the blocks. size is the size of the blocks, or 0.
func (b *builder) begin(dst []byte, size int) {
	l := b.l
	b.start, b.zeros = len(dst), true
	dst = l.append(slices.Grow(dst, HeaderSize+4*l.NumBlocks+4+len(l.dict)+size))
	b.starts = len(dst)
	b.dst = grow(dst, 4*l.NumBlocks)
	if l.dict != nil {
		b.dst = append(binary.LittleEndian.AppendUint32(b.dst, uint32(len(l.dict))), l.dict...)
	}
}

// encode encodes block k, the next one, and adds it.
func (b *builder) encode(k int) error {
	if b.from.Ready != nil {
		if ok, err := b.addReady(k); ok || err != nil {
			return err
		}
	}
	// A block that was encoded elsewhere is encoded again, in the remaining space, if that may give other bytes.
	w := b.workers[0]
	if b.from.Shuffled != nil {
		out, ok, err := w.encodeShuffled(b.dst, b.l, k, b.ref, b.room(), func(s Shuffled) bool { return b.from.Shuffled(k, s) })
		if err == nil && ok {
			b.addBlock(k, out)
		}
		if ok || err != nil {
			return err
		}
	}
	src, err := b.from.plain(b.l, k)
	if err != nil {
		return err
	}
	at := len(b.dst)
	out, kept, err := w.encodeOrKeep(b.dst, b.l, k, src, b.ref, b.room())
	if err != nil {
		b.dst = out[:at]
		return err
	}
	b.addBlock(k, out)
	if kept != nil && (b.from.Plain != nil || !b.postpone(k)) {
		b.l.putStored(out[at:], kept)
	}
	return nil
}

// addReady adds block k, the next one, if it was encoded elsewhere and encoding it here would give the same bytes.
func (b *builder) addReady(k int) (bool, error) {
	encoded, err := b.from.Ready(k)
	if err != nil || encoded == nil {
		return false, err
	}
	ok, err := b.l.roomFor(encoded, k, b.room())
	if ok {
		b.addBlock(k, append(b.dst, encoded...))
	}
	return ok, err
}

// room returns the number of bytes that the chunk may still grow by.
func (b *builder) room() int { return b.l.NBytes + MaxOverhead - (len(b.dst) - b.start) }

// addBlock makes dst, to which block k was appended, the memory of the chunk.
func (b *builder) addBlock(k int, dst []byte) {
	at := len(b.dst)
	b.dst = dst
	b.zeros = b.zeros && len(dst)-at == 4*b.l.streams(b.l.BlockLen(k)) // each stream is only a length of 0
	binary.LittleEndian.PutUint32(dst[b.starts+4*k:], uint32(at-b.start))
}

// postpone reports whether block k, which does not compress, can be copied at the end.
func (b *builder) postpone(k int) bool {
	if k != b.postponed {
		return false
	}
	b.postponed++
	return true
}

// putFiltered filters block k, which does not compress, and writes it to dst.
func (b *builder) putFiltered(dst []byte, w *Worker, k int) error {
	src, err := b.from.plain(b.l, k)
	if err != nil {
		return err
	}
	filtered, err := w.filtered(b.l, src, w.describeBlock(b.l, k, b.ref))
	if err == nil {
		b.l.putStored(dst, filtered)
	}
	return err
}

// copyPostponed copies the blocks that were postponed.
func (b *builder) copyPostponed() error {
	workers, size := shareCopy(b.workers, b.postponed*b.l.BlockSize)
	blocks := max(1, size/b.l.BlockSize) // blocks per copy
	return each(workers, (b.postponed+blocks-1)/blocks, func(w *Worker, i int) error {
		for k := i * blocks; k < min((i+1)*blocks, b.postponed); k++ {
			at := int(binary.LittleEndian.Uint32(b.dst[b.starts+4*k:]))
			if err := b.putFiltered(b.dst[b.start+at:], w, k); err != nil {
				return err
			}
		}
		return nil
	})
}

// plainZeros reports whether all blocks are zeros before encoding. The filters of the format turn only zeros, or data
// that decodes to zeros, into streams of zeros. A user filter may turn other data into them, and decoding a special
// chunk does not call its Backward.
func (b *builder) plainZeros() (bool, error) {
	w := b.workers[0]
	for k := range b.l.NumBlocks {
		if err := w.canceled(); err != nil {
			return false, err
		}
		src, err := b.from.plain(b.l, k)
		if err == nil {
			src, err = w.prefilter(src, w.describeBlock(b.l, k, nil))
		}
		if err != nil || src[0] != 0 || !isRun(src) {
			return false, err
		}
	}
	return true, nil
}

// end completes the chunk after its last block and returns its header.
func (b *builder) end() Header {
	h := b.l.Header
	if b.zeros && !h.VLBlocks {
		b.dst = b.dst[:b.starts]
		h.Special, h.HasDict = Zeros, false
	}
	h.CBytes = len(b.dst) - b.start
	h.append(b.dst[:b.start])
	return h
}

// store appends the chunk uncompressed, and returns its header.
func store(dst []byte, l *Layout, workers []*Worker, from *Blocks) ([]byte, Header, error) {
	h := l.Header
	h.Stored, h.HasDict = true, false // C-Blosc2 keeps the flag of a dictionary, and then cannot read its own chunk
	h.CBytes = h.NBytes + HeaderSize
	out := h.append(slices.Grow(dst, h.CBytes))
	at := len(out)
	out = out[:at+h.NBytes]
	content := out[at:]
	if from.Plain == nil && workers[0].o.Prefilter == nil {
		if err := copyPieces(content, from.content, workers); err != nil {
			return dst, Header{}, err
		}
		return out, h, nil
	}
	if from.Plain != nil {
		workers = workers[:1] // Plain is called by one goroutine
	}
	err := each(workers, l.NumBlocks, func(w *Worker, k int) error {
		src, err := from.plain(l, k)
		if err == nil {
			src, err = w.prefilter(src, w.describeBlock(l, k, nil))
		}
		if err == nil {
			filters.Copy(content[k*l.BlockSize:], src)
		}
		return err
	})
	if err != nil {
		return dst, Header{}, err
	}
	return out, h, nil
}

// copyPieces copies src to dst. The workers share the copy if it is large enough.
func copyPieces(dst, src []byte, workers []*Worker) error {
	workers, size := shareCopy(workers, len(src))
	return each(workers, (len(src)+size-1)/size, func(_ *Worker, i int) error {
		at := i * size
		filters.Copy(dst[at:], src[at:min(at+size, len(src))])
		return nil
	})
}

// shareCopy returns the workers that share a copy of n bytes, and how many bytes one copies at a time. If there are
// several workers, they have just encoded blocks and are awake, or EncodeLayout has taken few because it only copies.
func shareCopy(workers []*Worker, n int) ([]*Worker, int) {
	const least = 1 << 20 // one more worker for each of these
	workers = workers[:min(len(workers), 1+n/least)]
	return workers, max(1, min(copySize, (n+len(workers)-1)/len(workers)))
}

// copySize is the number of bytes that a worker copies or fills at a time. A copy of this size does not load the cache
// lines that it overwrites.
const copySize = 2 << 20

// pieceSize returns how many of n bytes of a stored or special chunk a worker copies or fills at a time. Several
// workers write to their caches as long as the bytes fit into them; see uncachedFill.
func pieceSize(n int, workers []*Worker) int {
	const cached = 256 << 10
	if len(workers) == 1 || n >= uncachedFill {
		return copySize
	}
	return cached
}

// minShared is the number of bytes from which it is faster to wake other goroutines to copy or fill than to do without
// them.
const minShared = 1 << 20
