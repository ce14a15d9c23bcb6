package coder

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/filters"
)

// unlimited is enough space for every block.
const unlimited = 1<<31 - 1

// EncodeBlock appends the streams of block k to dst. src is the block, BlockLen(k) bytes, which EncodeBlock does not
// change. ref is the result of Reference for block 0, if l.NeedsReference. Blocks may be encoded in any order. Errors
// are ErrParam or errors.ErrUnsupported, or those of user filters.
func (w *Worker) EncodeBlock(dst []byte, l *Layout, k int, src, ref []byte) ([]byte, error) {
	at := len(dst)
	dst, kept, err := w.encodeOrKeep(dst, l, k, src, ref, unlimited)
	if kept != nil {
		l.putStored(dst[at:], kept)
	}
	return dst, err
}

// encodeOrKeep appends the streams of block k, and returns errNoRoom if they take more than room bytes. It does not
// copy a block without a stream that compresses: it returns the filtered block too, and the caller writes it to the end
// of dst with putStored. The filtered block is src or valid until the worker's next block. A builder may filter
// src again in place of keeping it, so the block is copied at once if that would call functions of the program again.
func (w *Worker) encodeOrKeep(dst []byte, l *Layout, k int, src, ref []byte, room int) (_, kept []byte, err error) {
	filtered, err := w.filtered(l, src, w.describeBlock(l, k, ref))
	if err != nil {
		return dst, nil, err
	}
	at := len(dst)
	dst, kept, err = w.encodeStreams(dst, l, filtered, room)
	if kept != nil && w.encodingOf(l).steps.foreign {
		l.putStored(dst[at:], kept)
		kept = nil
	}
	return dst, kept, err
}

// encodeStreams appends the streams of a filtered block. If none of them compresses, it appends their space only, and
// returns the block too. It returns errNoRoom if they take more than room bytes.
func (w *Worker) encodeStreams(dst []byte, l *Layout, filtered []byte, room int) (_, kept []byte, _ error) {
	enc, err := w.encoder(l)
	if err != nil {
		return dst, nil, err
	}
	streams := l.streams(len(filtered))
	n := len(filtered) / streams
	start, leading := len(dst), 0 // leading streams that are stored and not copied yet
	for j := range streams {
		src, stored := filtered[j*n:(j+1)*n], false
		if dst, stored, err = encodeStream(dst, src, enc, room-(len(dst)-start)); err != nil {
			return dst, nil, err
		}
		switch {
		case stored && leading == j:
			leading++
		case stored:
			filters.Copy(dst[len(dst)-n:], src)
		case leading == j && j > 0:
			putStored(dst[start:], filtered[:j*n], n)
		}
	}
	if leading == streams {
		return dst, filtered, nil
	}
	return dst, nil, nil
}

// EncodeShuffled is EncodeBlock for a block that set writes already shuffled, so that Shuffle costs nothing. If Shuffle
// is not the first filter, it does not call set. In that case, or if set returns false, it appends nothing and returns
// false, and EncodeBlock encodes the block.
func (w *Worker) EncodeShuffled(dst []byte, l *Layout, k int, ref []byte, set func(s Shuffled) bool) ([]byte, bool, error) {
	return w.encodeShuffled(dst, l, k, ref, unlimited, set)
}

// encodeShuffled is EncodeShuffled with at most room bytes. See encodeOrKeep.
func (w *Worker) encodeShuffled(dst []byte, l *Layout, k int, ref []byte, room int, set func(s Shuffled) bool) ([]byte, bool, error) {
	steps := &w.encodingOf(l).steps
	n := l.BlockLen(k)
	if steps.planes == 0 || n%steps.planes != 0 {
		return dst, false, nil
	}
	s := Shuffled{w.buf.first(n), steps.planes}
	if !set(s) {
		return dst, false, nil
	}
	filtered, err := steps.forward(s.Bytes, 1, w.describeBlock(l, k, ref), &w.buf)
	if err == nil {
		var kept []byte
		at := len(dst)
		if dst, kept, err = w.encodeStreams(dst, l, filtered, room); kept != nil {
			l.putStored(dst[at:], kept)
		}
	}
	return dst, true, err
}

// storedLen returns the length of a block of n bytes that does not compress, as all its streams.
func (l *Layout) storedLen(n int) int { return n + 4*l.streams(n) }

// putStored writes a filtered block that does not compress to dst, as all its streams.
func (l *Layout) putStored(dst, filtered []byte) {
	putStored(dst, filtered, len(filtered)/l.streams(len(filtered)))
}

// putStored writes streams of n bytes to dst, each with its length.
func putStored(dst, streams []byte, n int) {
	for ; len(streams) > 0; streams = streams[n:] {
		binary.LittleEndian.PutUint32(dst, uint32(n))
		filters.Copy(dst[4:], streams[:n])
		dst = dst[4+n:]
	}
}

// describeBlock returns the description of block k of a chunk to be encoded. It is valid until the worker's next block.
func (w *Worker) describeBlock(l *Layout, k int, ref []byte) *block {
	w.block = block{version: versionRegular, typeSize: l.TypeSize, BlockInfo: BlockInfo{
		Chunk: w.Chunk, Block: k, Offset: k * l.BlockSize,
		TypeSize: w.encodingOf(l).itemSize, Shape: w.o.BlockShape,
	}}
	if k > 0 {
		w.block.ref = ref
	}
	return &w.block
}

// Reference appends the Delta reference block to dst: block 0 as it will be decoded. That is block 0 itself, unless a
// filter is lossy. Errors are those of EncodeBlock.
func (w *Worker) Reference(dst []byte, l *Layout, block0 []byte) ([]byte, error) {
	b := w.describeBlock(l, 0, nil)
	src, err := w.prefilter(block0, b)
	steps := &w.encodingOf(l).steps
	if err != nil || !steps.lossy() {
		return append(dst, src...), err
	}
	if src, err = steps.forward(src, 0, b, &w.buf); err != nil {
		return dst, err
	}
	undo, err := w.o.decodeSteps(&l.p.pipeline, l.TypeSize)
	if err != nil {
		return dst, err
	}
	at := len(dst)
	dst = grow(dst, len(src))
	if err := undo.backward(dst[at:], src, b, &w.buf); err != nil {
		return dst[:at], err
	}
	return dst, nil
}

// prefilter returns the result of Options.Prefilter for the block src in memory of the worker, or src itself if there
// is no Prefilter.
func (w *Worker) prefilter(src []byte, b *block) ([]byte, error) {
	if w.o.Prefilter == nil {
		return src, nil
	}
	w.pre = sized(w.pre, len(src))
	return w.pre, w.o.Prefilter(w.pre, src, b.BlockInfo)
}

// filtered returns the filtered block: the input of the codec.
func (w *Worker) filtered(l *Layout, src []byte, b *block) ([]byte, error) {
	src, err := w.prefilter(src, b)
	if err != nil {
		return nil, err
	}
	return w.encodingOf(l).steps.forward(src, 0, b, &w.buf)
}

// CopyBlock appends block k of a chunk as stored, and returns true, if the block can be part of a chunk with the layout
// l. Both chunks must have the same sizes, codec and filters, and independent blocks; the compression level may differ.
// CopyBlock does not examine the block, so a corrupt block stays corrupt.
func (w *Worker) CopyBlock(dst []byte, l *Layout, r *Reader, k int) ([]byte, bool, error) {
	if !l.accepts(&r.Header) {
		return dst, false, nil
	}
	// In a corrupt chunk, blocks may share bytes. Do not copy more bytes than a block can have.
	if n := int(r.ends[k] - r.starts[k]); n > r.BlockLen(k)+4*r.TypeSize {
		return dst, false, nil
	}
	b, err := r.bytes(k, &w.in[0])
	return append(dst, b...), err == nil, err
}

// accepts reports whether blocks of a chunk with the header h can be copied to a chunk with this layout.
func (l *Layout) accepts(h *Header) bool {
	same := l.Header
	same.CBytes = h.CBytes
	return !l.Stored && !l.p.Dict && len(l.dict) == 0 && !l.p.pipeline.has(Delta) && h.NumBlocks > 0 && *h == same
}

// Encode appends a chunk with the content src to dst. See chunk.Coder.Encode.
func (p *Pool) Encode(dst, src []byte, c Params) ([]byte, error) {
	l, err := p.o.Plugins.Layout(c, len(src))
	if err != nil {
		return dst, err
	}
	return p.EncodeLayout(context.Background(), dst, src, l, -1)
}

// EncodeLayout is Encode with the layout of the chunk, which is for len(src) bytes, its number or -1, see Worker.Chunk,
// and with a context. It returns the error of ctx if ctx is done before the last block.
func (p *Pool) EncodeLayout(ctx context.Context, dst, src []byte, l *Layout, number int64) ([]byte, error) {
	if len(src)+MaxOverhead > math.MaxInt-len(dst) {
		return dst, fmt.Errorf("chunk: %d bytes after %d: %w", len(src), len(dst), errs.ErrTooLarge)
	}
	n := l.NumBlocks
	if l.Stored {
		n = 1 + len(src)/minShared
	}
	workers := p.getWorkers(ctx, n, number)
	out, err := encode(dst, l, workers, src)
	p.putWorkers(workers) // not after a panic: see putWorkers
	return out, err
}

// encode is Encode on the given workers. If dst does not have space for the longest chunk, it makes the chunk in memory
// of the first worker and copies it, because growing dst to that size wastes memory if the chunk is short.
func encode(dst []byte, l *Layout, workers []*Worker, src []byte) ([]byte, error) {
	w := workers[0]
	from := Blocks{content: src}
	if l.Stored {
		out, _, err := store(dst, l, workers, &from)
		return out, err
	}
	var err error
	if l.NeedsDict {
		if l, err = w.Train(l, func(k int) ([]byte, error) { return from.plain(l, k) }); err != nil {
			return dst, err
		}
	}
	var ref []byte
	if l.NeedsReference {
		if w.ref, err = w.Reference(w.ref[:0], l, src[:l.BlockLen(0)]); err != nil {
			return dst, err
		}
		ref = w.ref
	}
	out := dst
	fits := cap(dst)-len(dst) >= l.NBytes+MaxOverhead
	if !fits {
		out = w.scratch[:0]
	}
	out, _, err = build(out, l, workers, ref, &from)
	if !fits {
		w.scratch = out[:0]
	}
	switch {
	case errors.Is(err, errNoRoom):
		out, _, err = store(dst, l, workers, &from)
		return out, err
	case err != nil:
		return dst, err
	case fits:
		return out, nil
	}
	return append(dst, out...), nil
}

// Encode appends a chunk with the content src to dst. It sets up codecs for this one call; a [Pool] keeps them for the
// next. See [Pool.Encode].
func Encode(dst, src []byte, c Params, o *Options) ([]byte, error) {
	return NewPool(o).Encode(dst, src, c)
}
