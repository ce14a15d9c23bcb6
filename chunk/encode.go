package chunk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/filters"
)

// errNoRoom says that a chunk would not be smaller than its data.
var errNoRoom = errors.New("no room")

// EncodeBlock appends the streams of block k to dst. src is the block, BlockLen(k) bytes that stay as they are; ref
// is what Reference makes of block 0 where NeedsReference says so. The order in which blocks are encoded does not
// matter. Errors are ErrParam or ErrUnsupported, or those of filters of the user.
func (w *Worker) EncodeBlock(dst []byte, l *Layout, k int, src, ref []byte) ([]byte, error) {
	return w.encodeBlock(dst, l, k, src, ref, 1<<31-1)
}

// encodeBlock is EncodeBlock with room left for so many bytes; it fails with errNoRoom when they are not enough.
func (w *Worker) encodeBlock(dst []byte, l *Layout, k int, src, ref []byte, room int) ([]byte, error) {
	dst, asIs, err := w.encodeOrKeep(dst, l, k, src, ref, room)
	if asIs {
		filters.Copy(dst[len(dst)-len(src):], src)
	}
	return dst, err
}

// encodeOrKeep is encodeBlock, but that a block which is to stand in the chunk as it is, one stream without filters, is not
// copied: then it returns true, and there is room for the block at the end of dst.
func (w *Worker) encodeOrKeep(dst []byte, l *Layout, k int, src, ref []byte, room int) ([]byte, bool, error) {
	b := w.layoutBlock(l, k)
	if k > 0 {
		b.ref = ref
	}
	filtered, err := w.filtered(l, src, &b)
	if err != nil {
		return dst, false, err
	}
	if l.h.streams(len(src)) != 1 || &filtered[0] != &src[0] {
		dst, err = w.encodeStreams(dst, l, filtered, room)
		return dst, false, err
	}
	enc, err := w.encoder(l)
	if err != nil {
		return dst, false, err
	}
	return tryStream(dst, src, enc, room)
}

// encodeStreams is encodeBlock for a block that has gone through the filters.
func (w *Worker) encodeStreams(dst []byte, l *Layout, filtered []byte, room int) ([]byte, error) {
	enc, err := w.encoder(l)
	if err != nil {
		return dst, err
	}
	streams := l.h.streams(len(filtered))
	n := len(filtered) / streams
	start := len(dst)
	for j := range streams {
		dst, err = encodeStream(dst, filtered[j*n:(j+1)*n], enc, room-(len(dst)-start))
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// layoutBlock returns what filters know of block k of a chunk to be encoded.
func (w *Worker) layoutBlock(l *Layout, k int) block {
	return block{version: versionRegular, BlockInfo: BlockInfo{
		Chunk: w.Chunk, Block: k, Offset: k * l.blockSize,
		TypeSize: l.typeSize, ItemSize: w.itemSize(l.p.TypeSize), Shape: w.o.BlockShape,
	}}
}

// Reference appends to dst what the other blocks of a chunk with Delta refer to: block 0 as it will be when decoded.
// That is block 0 itself, unless filters lose data on the way. Errors are those of EncodeBlock.
func (w *Worker) Reference(dst []byte, l *Layout, block0 []byte) ([]byte, error) {
	b := w.layoutBlock(l, 0)
	src, err := w.prefilter(block0, &b)
	if err != nil || !l.pipeline.lossy() {
		return append(dst, src...), err
	}
	if src, err = w.forward(src, &l.pipeline, &b); err != nil {
		return dst, err
	}
	at := len(dst)
	dst = grow(dst, len(src))
	if err := w.backward(dst[at:], src, &l.pipeline, &b); err != nil {
		return dst[:at], err
	}
	return dst, nil
}

// encodeStream appends one stream: its length and its bytes. room is what is left for both.
func encodeStream(dst, src []byte, enc codec.Encoder, room int) ([]byte, error) {
	dst, asIs, err := tryStream(dst, src, enc, room)
	if asIs {
		filters.Copy(dst[len(dst)-len(src):], src)
	}
	return dst, err
}

// tryStream is encodeStream, following the order of the reference's checks so that the outcome is the same, but that it
// returns true for a stream that is src as it is, and does not copy it behind its length.
func tryStream(dst, src []byte, enc codec.Encoder, room int) (_ []byte, asIs bool, _ error) {
	at := len(dst)
	room -= 4
	run := isRun(src)
	if room < 0 || run && src[0] != 0 && room < 1 {
		return dst, false, errNoRoom
	}
	dst = append(dst, 0, 0, 0, 0)
	if run && src[0] == 0 {
		return dst, false, nil
	}
	if run {
		binary.LittleEndian.PutUint32(dst[at:], uint32(-int32(src[0])))
		return append(dst, 1), false, nil
	}
	most := min(len(src), room)
	if most <= 0 {
		return dst, false, errNoRoom
	}
	dst = grow(dst, most)
	n, err := enc.Encode(dst[at+4:], src)
	switch {
	case gaveUp(n, most, err, src):
		if len(src) > room {
			return dst, false, errNoRoom
		}
		n, asIs = len(src), true
	case err != nil:
		return dst, false, err
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(n))
	return dst[:at+4+n], asIs, nil
}

// gaveUp tells whether a codec that was given room for most bytes returned nothing that is shorter than src. Codecs of
// the user may say so in many ways.
func gaveUp(n, most int, err error, src []byte) bool {
	return errors.Is(err, codec.ErrIncompressible) || err == nil && (n <= 0 || n > most || n >= len(src))
}

// isRun tells whether all bytes are the same: whether the block is itself moved by one. That comparison is a vectorized
// one.
func isRun(b []byte) bool { return bytes.Equal(b[1:], b[:len(b)-1]) }

// Assemble appends the chunk made of blocks that EncodeBlock has encoded with the same l. plain returns block k as it was before
// encoding; it is asked for where blocks do not pay and must be stored, and may reuse its memory at each call.
// blocks is not looked at when l.Stored.
func (w *Worker) Assemble(dst []byte, l *Layout, blocks [][]byte, plain func(k int) ([]byte, error)) ([]byte, error) {
	if l.store {
		return w.appendStored(dst, l, plain)
	}
	size := HeaderSize + 4*l.nblocks + l.dictSize()
	for _, b := range blocks {
		if len(b) > l.h.NBytes+MaxOverhead-size { // less room makes no block shorter
			return w.appendStored(dst, l, plain)
		}
		size += len(b)
	}
	var ref []byte
	out, err := w.assemble(dst, l, size, func(dst []byte, k, room int) ([]byte, error) {
		b := blocks[k]
		if ok, err := l.roomFor(b, k, room); ok || err != nil {
			return append(dst, b...), err
		}
		// Blocks were encoded as if there were room without end. Near the end of it, encode again with what is left.
		src, err := plain(k)
		if err != nil {
			return dst, err
		}
		if l.NeedsReference() && k > 0 && ref == nil {
			if ref, src, err = w.reference(l, plain, k); err != nil {
				return dst, err
			}
		}
		w.again, err = w.encodeBlock(w.again[:0], l, k, src, ref, room)
		return append(dst, w.again...), err
	})
	if errors.Is(err, errNoRoom) {
		return w.appendStored(dst, l, plain)
	}
	return out, err
}

// Blocks gives Build the blocks of a chunk.
type Blocks struct {
	// Ready is called for each block in order. It returns block k as it was encoded elsewhere, or nil: then it is
	// encoded where it belongs.
	Ready func(k int) ([]byte, error)
	// Shuffled is, for block k, what EncodeShuffled calls.
	Shuffled func(k int, s Shuffled) bool
	// Plain returns block k as it is before encoding, and may reuse its memory at each call. It is called for a block
	// that Shuffled has not written, or that must be stored after all.
	Plain func(k int) ([]byte, error)
}

// Build appends the chunk whose blocks were encoded, or which are to be encoded where they belong. ref is what Reference
// makes of block 0 where NeedsReference says so.
func (w *Worker) Build(dst []byte, l *Layout, ref []byte, from Blocks) ([]byte, error) {
	if l.store {
		return w.appendStored(dst, l, from.Plain)
	}
	out, err := w.assemble(dst, l, HeaderSize+4*l.nblocks+l.dictSize(), func(dst []byte, k, room int) ([]byte, error) {
		b, err := from.Ready(k)
		if err != nil {
			return dst, err
		}
		if b != nil {
			if ok, err := l.roomFor(b, k, room); ok || err != nil {
				return append(dst, b...), err
			}
		}
		// Near the end, a block is encoded again with what is left.
		dst, ok, err := w.encodeShuffled(dst, l, k, ref, room, func(s Shuffled) bool { return from.Shuffled(k, s) })
		if ok || err != nil {
			return dst, err
		}
		src, err := from.Plain(k)
		if err != nil {
			return dst, err
		}
		return w.encodeBlock(dst, l, k, src, ref, room)
	})
	if errors.Is(err, errNoRoom) {
		return w.appendStored(dst, l, from.Plain)
	}
	return out, err
}

// roomFor tells whether block k, encoded as if there were room without end, is the same with that much: whether each of
// its streams would have had room for all of its bytes as they are. It fails with errNoRoom where one that needs that
// has not.
func (l *Layout) roomFor(b []byte, k, room int) (bool, error) {
	streams := l.h.streams(l.BlockLen(k))
	n := l.BlockLen(k) / streams
	for ; streams > 0 && len(b) >= 4; streams-- {
		size := int(int32(binary.LittleEndian.Uint32(b)))
		if 4+n > room {
			if size == n {
				return false, errNoRoom
			}
			return false, nil
		}
		if size < 0 {
			size = 1 // a run takes one byte
		}
		size = min(size, len(b)-4)
		b, room = b[4+size:], room-4-size
	}
	return true, nil
}

// assemble appends the chunk of blocks that put appends, each with room for so many bytes. size is how long the chunk
// is likely to become. Errors are those of put; for errNoRoom the chunk has to be stored.
func (w *Worker) assemble(dst []byte, l *Layout, size int, put func(dst []byte, k, room int) ([]byte, error)) ([]byte, error) {
	c := l.begin(dst, size)
	for k := range l.nblocks {
		out, err := put(c.dst, k, c.room())
		if err != nil {
			return dst, err
		}
		c.add(k, out)
	}
	return c.end(), nil
}

// reference makes the reference block, and fetches block k, which plain may put where block 0 was.
func (w *Worker) reference(l *Layout, plain func(int) ([]byte, error), k int) (ref, src []byte, err error) {
	if src, err = plain(0); err != nil {
		return nil, nil, err
	}
	if ref, err = w.Reference(nil, l, src); err != nil {
		return nil, nil, err
	}
	src, err = plain(k)
	return ref, src, err
}

// Encode appends a chunk with the content src to dst, on up to Options.Concurrency goroutines; the bytes do not
// depend on their number. They are those of C-Blosc2 with one thread where the codec's streams are. A chunk of
// zeros comes out as special value. Errors are ErrParam, ErrUnsupported or ErrTooLarge.
func (p *Pool) Encode(dst, src []byte, c CParams) ([]byte, error) {
	l, err := c.Layout(len(src))
	if err != nil {
		return dst, err
	}
	if len(src)+MaxOverhead > math.MaxInt-len(dst) {
		return dst, fmt.Errorf("chunk: %d bytes behind %d: %w", len(src), len(dst), ErrTooLarge)
	}
	n := l.nblocks
	if l.store {
		n = 1 + len(src)/sharedFrom
	}
	team := p.team(n)
	defer p.dismiss(team)
	w := team[0]
	if l.store {
		return store(dst, l, team, src)
	}
	if l, err = w.Train(l, func(k int) ([]byte, error) { return l.block(src, k), nil }); err != nil {
		return dst, err
	}
	var ref []byte
	if l.NeedsReference() {
		if w.ref, err = w.Reference(w.ref[:0], l, src[:l.BlockLen(0)]); err != nil {
			return dst, err
		}
		ref = w.ref
	}
	return encodeChunk(dst, l, team, ref, src)
}

// block returns block k of the content of a chunk.
func (l *Layout) block(content []byte, k int) []byte {
	at := k * l.blockSize
	return content[at : at+l.BlockLen(k)]
}

// encodeChunk appends the chunk with the content src. Without room for the longest chunk in dst, which is
// not taken for a chunk that may be short, it is made elsewhere.
func encodeChunk(dst []byte, l *Layout, team []*Worker, ref, src []byte) ([]byte, error) {
	w, out := team[0], dst
	roomy := cap(dst)-len(dst) >= l.h.NBytes+MaxOverhead
	if !roomy {
		out = w.again[:0]
	}
	out, err := encodeBlocks(out, l, team, ref, src)
	if !roomy {
		w.again = out[:0]
	}
	switch {
	case errors.Is(err, errNoRoom):
		return store(dst, l, team, src)
	case err != nil:
		return dst, err
	case roomy:
		return out, nil
	}
	return append(dst, out...), nil
}

// encodeBlocks is encodeChunk where the chunk is made. It fails with errNoRoom where the chunk must be stored, and
// returns the memory it took in any case.
func encodeBlocks(dst []byte, l *Layout, team []*Worker, ref, src []byte) ([]byte, error) {
	var c building
	next := 0
	if len(team) == 1 {
		c = l.begin(dst, HeaderSize+4*l.nblocks+l.dictSize())
	} else {
		most := l.h.NBytes + MaxOverhead
		if cap(dst)-len(dst) < most {
			dst = make([]byte, 0, most)
		}
		var err error
		if c, next, err = gather(l.begin(dst, most), team, ref, src); err != nil {
			return c.dst, err
		}
	}
	for ; next < l.nblocks; next++ {
		b := l.block(src, next)
		out, asIs, err := team[0].encodeOrKeep(c.dst, l, next, b, ref, c.room())
		if err != nil {
			return out, err
		}
		c.add(next, out)
		if asIs && !c.hold(next) {
			filters.Copy(out[len(out)-len(b):], b)
		}
	}
	c.copyHeld(team, src)
	return c.end(), nil
}

// encodeAll calls f for all blocks; it appends the encoded block to the out of the worker that it is given. The blocks
// are in the first worker's blocks then, as long as no worker of the team is used again.
func encodeAll(team []*Worker, n int, f func(w *Worker, k int) error) error {
	first := team[0]
	first.blocks = slices.Grow(first.blocks[:0], n)[:n]
	for _, w := range team {
		w.out = w.out[:0]
	}
	return work(team, n, func(w *Worker, k int) error {
		at := len(w.out)
		err := f(w, k)
		first.blocks[k] = w.out[at:]
		return err
	})
}

// Encode appends a chunk with the content src to dst. It sets up codecs for this one call; a [Pool] keeps them for the
// next. See [Pool.Encode].
func Encode(dst, src []byte, c CParams, o *Options) ([]byte, error) {
	return NewPool(o).Encode(dst, src, c)
}
