package coder

import "github.com/goblosc/blosc2/internal/filters"

// Shuffled is a block whose items have their bytes apart, as the filter Shuffle puts them: one that is decoded but for
// the last step, or to be encoded but for the first. It is valid until its worker is used again.
type Shuffled struct {
	b     []byte
	width int
}

// Rows are runs of items of a block, and where they are whole. See [filters.Rows].
type Rows = filters.Rows

// Width returns the size of the items in bytes.
func (s Shuffled) Width() int { return s.width }

// Items returns the number of items.
func (s Shuffled) Items() int { return len(s.b) / s.width }

// Unshuffle writes the block to dst, which is as long.
func (s Shuffled) Unshuffle(dst []byte) { filters.Unshuffle(dst, s.b, s.width) }

// Rows writes some items of the block to where they belong in dst. It panics when they do not lie inside of both.
func (s Shuffled) Rows(dst []byte, r *Rows) { filters.UnshuffleRows(dst, s.b, s.width, r) }

// SetRows writes some items of the block, which are taken from where they lie in src. It panics when they do not lie
// inside of both.
func (s Shuffled) SetRows(src []byte, r *Rows) { filters.ShuffleRows(s.b, src, s.width, r) }

// Clear makes all items zeros.
func (s Shuffled) Clear() { clear(s.b) }

// SetRowsPay tells whether SetRows is the fastest way to make a block of rows of so many items.
func (s Shuffled) SetRowsPay(length int) bool { return filters.ShuffleRowsFaster(s.width, length) }

// RowsPay tells whether Rows is the fastest way to write n items of the block in rows of so many.
func (s Shuffled) RowsPay(n, length int) bool {
	return n <= s.Items()/32 || filters.UnshuffleRowsFaster(s.width, length)
}

// DecodeShuffled decodes block k of an opened chunk but for undoing Shuffle, and returns true, if that is all there would
// be left to do: the items that the first n bytes of the block are in, as DecodePrefix does, while other items are
// undefined. Otherwise it does nothing, and DecodePrefix decodes the block. Errors are those of DecodePrefix.
func (w *Worker) DecodeShuffled(r *Reader, k, n int) (Shuffled, bool, error) {
	if !r.planes || k < 0 || k >= r.h.nblocks {
		return Shuffled{}, false, nil
	}
	in, err := r.bytes(k, &w.in[0])
	if err != nil {
		return Shuffled{}, false, err
	}
	c := cursor{b: in}
	out := w.buf.first(r.BlockLen(k))
	if err := w.decodeStreams(out, r, &c, r.steps.wanted(len(out), n)); err != nil {
		return Shuffled{}, false, &Error{Block: k, Off: int64(r.starts[k]) + int64(c.at), Err: err}
	}
	return Shuffled{out, r.steps.planes}, true, nil
}

// EncodeShuffled is EncodeBlock for a block that set, which returns true then, writes with the bytes of its items apart,
// so that Shuffle costs nothing. It returns false and appends nothing if set returns false, or where Shuffle is not what
// comes first: then set is not called, and EncodeBlock encodes the block.
func (w *Worker) EncodeShuffled(dst []byte, l *Layout, k int, ref []byte, set func(s Shuffled) bool) ([]byte, bool, error) {
	return w.encodeShuffled(dst, l, k, ref, unlimited, set)
}

// encodeShuffled is EncodeShuffled in at most room bytes. See encodeOrKeep.
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
	filtered, err := steps.forward(s.b, 1, w.layoutBlock(l, k, ref), &w.buf)
	if err == nil {
		dst, err = w.encodeStreams(dst, l, filtered, room)
	}
	return dst, true, err
}
