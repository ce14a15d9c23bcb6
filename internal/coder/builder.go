package coder

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/goblosc/blosc2/internal/filters"
	"github.com/goblosc/blosc2/internal/sched"
)

// Blocks supplies the blocks of a chunk to Build.
type Blocks struct {
	// Ready is called for each block in order. It returns block k if it was encoded elsewhere, or nil: then Build encodes
	// it in the chunk.
	Ready func(k int) ([]byte, error)
	// Shuffled is called by EncodeShuffled for block k.
	Shuffled func(k int, s Shuffled) bool
	// Plain returns block k as it is before encoding, and may reuse its memory at each call. It is called for a block
	// that Shuffled has not written, and if the chunk must be stored.
	Plain func(k int) ([]byte, error)

	content []byte // content of the chunk if it is in memory, in place of the functions
}

// plain returns block k as it is before encoding.
func (s *Blocks) plain(l *Layout, k int) ([]byte, error) {
	if s.Plain != nil {
		return s.Plain(k)
	}
	at := k * l.blockSize
	return s.content[at : at+l.BlockLen(k)], nil
}

// builder makes a chunk: its header, the positions of its blocks, its dictionary and its blocks.
//
// As long as no block is shorter than its content, the chunk will probably be stored as a whole. So the first blocks of
// content in memory that do not compress are copied at the end, if at all.
type builder struct {
	l      *Layout
	team   []*Worker
	ref    []byte // decoded block 0, for Delta
	from   Blocks
	dst    []byte
	start  int  // of the chunk in dst
	starts int  // of the block positions in dst
	zeros  bool // no block so far has anything but zeros
	held   int  // number of blocks, the first ones, that are still to be copied

	// Memory for gather.
	early []encodedBlock // blocks that wait for their position or are being copied
	spare [][]byte
}

// Build appends a chunk whose blocks were encoded elsewhere, or are encoded here, and returns its header too. ref is the
// result of Reference for block 0 if NeedsReference reports so. Errors are those of EncodeBlock and of the functions of
// from.
func (w *Worker) Build(dst []byte, l *Layout, ref []byte, from Blocks) ([]byte, Header, error) {
	w.team = append(w.team[:0], w)
	if l.store {
		return store(dst, l, w.team, &from)
	}
	out, h, err := build(dst, l, w.team, ref, &from)
	if errors.Is(err, errNoRoom) {
		return store(dst, l, w.team, &from)
	}
	if err != nil {
		out = dst
	}
	return out, h, err
}

// build appends a chunk to dst and returns its header. The workers of a team encode its blocks. Content in memory is
// required for more than one, and dst is empty then unless it has room for the longest chunk. It fails with errNoRoom if
// the chunk must be stored, and returns the memory it took in any case.
func build(dst []byte, l *Layout, team []*Worker, ref []byte, from *Blocks) ([]byte, Header, error) {
	builders := &team[0].pool.builders
	b, ok := builders.Get().(*builder)
	if !ok {
		b = new(builder)
	}
	*b = builder{l: l, team: team, ref: ref, from: *from, early: b.early, spare: b.spare}
	defer func() {
		*b = builder{early: b.early, spare: b.spare}
		builders.Put(b)
	}()
	next, err := 0, error(nil)
	if len(team) == 1 {
		b.begin(dst, HeaderSize+4*l.nblocks+l.dictSize())
	} else {
		most := l.h.NBytes + MaxOverhead
		if cap(dst)-len(dst) < most {
			dst = make([]byte, 0, most)
		}
		b.begin(dst, most)
		next, err = b.gather()
	}
	for ; next < l.nblocks && err == nil; next++ {
		err = b.encode(next)
	}
	if err != nil {
		return b.dst, Header{}, err
	}
	b.copyHeld()
	h := b.end()
	return b.dst, h, nil
}

// begin appends everything before the blocks. size is an estimate of the size of the chunk.
func (b *builder) begin(dst []byte, size int) {
	b.start, b.zeros = len(dst), true
	dst = b.l.h.append(slices.Grow(dst, size))
	b.starts = len(dst)
	b.dst = b.l.appendDict(grow(dst, 4*b.l.nblocks))
}

// encode adds block k, the next one.
func (b *builder) encode(k int) error {
	if b.from.Ready != nil {
		if ok, err := b.addReady(k); ok || err != nil {
			return err
		}
	}
	// A block that was encoded elsewhere but may need more room than is left is encoded again, in the room that is left.
	w := b.team[0]
	if b.from.Shuffled != nil {
		out, ok, err := w.encodeShuffled(b.dst, b.l, k, b.ref, b.room(), func(s Shuffled) bool { return b.from.Shuffled(k, s) })
		if err == nil && ok {
			b.add(k, out)
		}
		if ok || err != nil {
			return err
		}
	}
	src, err := b.from.plain(b.l, k)
	if err != nil {
		return err
	}
	out, asIs, err := w.encodeOrKeep(b.dst, b.l, k, src, b.ref, b.room())
	if err != nil {
		b.dst = out[:len(b.dst)]
		return err
	}
	b.add(k, out)
	if asIs && (b.from.Plain != nil || !b.hold(k)) {
		filters.Copy(out[len(out)-len(src):], src)
	}
	return nil
}

// addReady adds block k, the next one, if it was encoded elsewhere and would be the same here.
func (b *builder) addReady(k int) (bool, error) {
	encoded, err := b.from.Ready(k)
	if err != nil || encoded == nil {
		return false, err
	}
	ok, err := b.l.roomFor(encoded, k, b.room())
	if ok {
		b.add(k, append(b.dst, encoded...))
	}
	return ok, err
}

// room returns the number of bytes that may follow.
func (b *builder) room() int { return b.l.h.NBytes + MaxOverhead - (len(b.dst) - b.start) }

// add takes dst, to which block k, the next one, was appended.
func (b *builder) add(k int, dst []byte) {
	at := len(b.dst)
	b.dst = dst
	b.zeros = b.zeros && len(dst)-at == 4*b.l.h.streams(b.l.BlockLen(k)) // each stream is just its length
	binary.LittleEndian.PutUint32(dst[b.starts+4*k:], uint32(at-b.start))
}

// hold reports whether block k, which does not compress, is to be copied at the end.
func (b *builder) hold(k int) bool {
	if k != b.held {
		return false
	}
	b.held++
	return true
}

// copyHeld copies the blocks that were held.
func (b *builder) copyHeld() {
	if b.held == 0 {
		return
	}
	blocks := max(1, movedPiece/b.l.blockSize) // of a piece
	team := b.team[:min(len(b.team), 1+b.held*b.l.blockSize/sharedFrom)]
	_ = sched.Each(&team[0].pool.Pool, team, (b.held+blocks-1)/blocks, func(_ *Worker, i int) error {
		for k := i * blocks; k < min((i+1)*blocks, b.held); k++ {
			at := int(binary.LittleEndian.Uint32(b.dst[b.starts+4*k:]))
			src, _ := b.from.plain(b.l, k)
			filters.Copy(b.dst[b.start+at+4:], src)
		}
		return nil
	})
}

// end completes the chunk after its last block and returns its header.
func (b *builder) end() Header {
	h := b.l.h
	if b.zeros && !h.VLBlocks() {
		b.dst = b.dst[:b.starts]
		h.Blosc2Flags = h.Blosc2Flags&^b2flagDict | uint8(Zeros)<<specialShift
	}
	h.CBytes = len(b.dst) - b.start
	h.append(b.dst[:b.start])
	return h
}

// store appends the chunk with its data as they are, and returns its header.
func store(dst []byte, l *Layout, team []*Worker, from *Blocks) ([]byte, Header, error) {
	h := l.h
	h.Flags |= flagStored
	h.Blosc2Flags &^= b2flagDict // the reference leaves it, and cannot read its chunk
	h.CBytes = h.NBytes + HeaderSize
	out := h.append(slices.Grow(dst, h.CBytes))
	at := len(out)
	out = out[:at+h.NBytes]
	content := out[at:]
	if from.Plain == nil && team[0].o.Prefilter == nil {
		copyPieces(content, from.content, team)
		return out, h, nil
	}
	if from.Plain != nil {
		team = team[:1] // the blocks come in order
	}
	err := sched.Each(&team[0].pool.Pool, team, l.nblocks, func(w *Worker, k int) error {
		src, err := from.plain(l, k)
		if err == nil {
			src, err = w.prefilter(src, w.layoutBlock(l, k, nil))
		}
		if err == nil {
			filters.Copy(content[k*l.blockSize:], src)
		}
		return err
	})
	if err != nil {
		return dst, Header{}, err
	}
	return out, h, nil
}

// copyPieces copies src to dst. The workers of a team share the work if it is large enough.
func copyPieces(dst, src []byte, team []*Worker) {
	team = team[:min(len(team), 1+len(src)/sharedFrom)]
	_ = sched.Each(&team[0].pool.Pool, team, (len(src)+movedPiece-1)/movedPiece, func(_ *Worker, i int) error {
		at := i * movedPiece
		filters.Copy(dst[at:], src[at:min(at+movedPiece, len(src))])
		return nil
	})
}

// movedPiece is the number of bytes that a worker copies or fills in one go. Copies of this size do not load the cache
// lines that they overwrite.
const movedPiece = 2 << 20

// sharedFrom is the number of bytes that one worker copies or fills in less time than it takes to start another one.
const sharedFrom = 4 << 20
