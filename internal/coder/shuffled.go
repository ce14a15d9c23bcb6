package coder

import "github.com/goblosc/blosc2/internal/filters"

// Shuffled is a block with the bytes of its items in byte planes, as the filter Shuffle orders them. In decoding, only
// unshuffling is left to do. In encoding, shuffling is done already. A Shuffled is valid until its worker is used
// again.
type Shuffled struct {
	Bytes []byte
	Width int // of an item, in bytes
}

// Unshuffle writes the unshuffled block to dst, which has the length of the block.
func (s Shuffled) Unshuffle(dst []byte) { filters.Unshuffle(dst, s.Bytes, s.Width) }

// RowsFaster reports whether unshuffling n items of the block, in rows of length items, is faster than unshuffling the
// whole block.
func (s Shuffled) RowsFaster(n, length int) bool {
	return n <= len(s.Bytes)/s.Width/32 || filters.UnshuffleRowsFaster(s.Width, length)
}

// DecodeShuffled decodes block k of an opened chunk without unshuffling it, and returns true, if Shuffle is its only
// filter. It decodes at least the items in the first n bytes of the block; the other items are undefined. If it returns
// false, it did nothing, and DecodePrefix decodes the block. Errors are those of DecodePrefix.
func (w *Worker) DecodeShuffled(r *Reader, k, n int) (Shuffled, bool, error) {
	if !r.byPlane || k < 0 || k >= r.NumBlocks {
		return Shuffled{}, false, nil
	}
	in, err := r.bytes(k, &w.in[0])
	if err != nil {
		return Shuffled{}, false, err
	}
	c := cursor{b: in}
	out := w.buf.first(r.BlockLen(k))
	if err := w.decodeStreams(out, r, &c, r.steps.partOf(len(out), n)); err != nil {
		return Shuffled{}, false, &Error{Block: k, Off: int64(r.starts[k]) + int64(c.at), Err: err}
	}
	return Shuffled{out, r.steps.planes}, true, nil
}

// EncodeShuffled is EncodeBlock for a block that set writes already shuffled, so that Shuffle costs nothing. If Shuffle
// is not the first filter, it does not call set. In that case, or if set returns false, it appends nothing and returns
// false, and EncodeBlock encodes the block.
func (w *Worker) EncodeShuffled(dst []byte, l *Layout, k int, ref []byte, set func(s Shuffled) bool) ([]byte, bool, error) {
	return w.encodeShuffled(dst, l, k, ref, unlimited, set)
}

// encodeShuffled is EncodeShuffled with at most room bytes. See encodeOrKeep.
func (w *Worker) encodeShuffled(dst []byte, l *Layout, k int, ref []byte, room int, set func(s Shuffled) bool) ([]byte, bool, error) {
	steps := w.stepsOf(l)
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
