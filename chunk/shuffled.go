package chunk

import "github.com/goblosc/blosc2/shuffle"

// Shuffled is a block that is decoded but for the last step: the bytes of its items lie apart, as the filter Shuffle has
// put them. It is valid until the worker that decoded it is used again.
type Shuffled struct {
	b     []byte
	width int
}

// Rows are runs of items of a block, and where they go. See [shuffle.Rows].
type Rows = shuffle.Rows

// Width returns the size of the items in bytes.
func (s Shuffled) Width() int { return s.width }

// Items returns the number of items.
func (s Shuffled) Items() int { return len(s.b) / s.width }

// Unshuffle writes the block to dst, which is as long.
func (s Shuffled) Unshuffle(dst []byte) { shuffle.Unshuffle(dst, s.b, s.width) }

// Rows writes some items of the block to where they belong in dst. It panics when they do not lie inside of both.
func (s Shuffled) Rows(dst []byte, r *Rows) { shuffle.UnshuffleRows(dst, s.b, s.width, r) }

// RowsPay tells whether Rows is the fastest way to write n items of the block in rows of so many.
func (s Shuffled) RowsPay(n, length int) bool {
	return n <= s.Items()/32 || shuffle.RowsPay(s.width, length)
}

// DecodeShuffled decodes block k of an opened chunk but for undoing Shuffle, and returns true, if that is all there would
// be left to do. Otherwise it does nothing, and DecodeBlock decodes the block. Errors are those of DecodeBlock.
func (w *Worker) DecodeShuffled(r *Reader, k int) (Shuffled, bool, error) {
	if k < 0 || k >= r.h.nblocks || w.o.Postfilter != nil || r.h.Special() != Regular || r.h.Stored() || r.h.VLBlocks() {
		return Shuffled{}, false, nil
	}
	b := w.readerBlock(r, k)
	width := w.shuffledOnly(&r.h.Filters, &b)
	if width == 0 {
		return Shuffled{}, false, nil
	}
	in, err := w.bytes(r, k)
	if err != nil {
		return Shuffled{}, false, err
	}
	c := cursor{b: in}
	out := w.scratch(0, r.BlockLen(k))
	if err := w.decodeStreams(out, r, &c); err != nil {
		return Shuffled{}, false, &Error{Block: k, Off: int64(r.starts[k]) + int64(c.at), Err: err}
	}
	return Shuffled{out, width}, true, nil
}

// shuffledOnly returns the number of byte streams of Shuffle, if that is the only filter that decoding must undo, or 0.
func (w *Worker) shuffledOnly(p *Pipeline, b *block) int {
	if w.active(p, b) != 1 {
		return 0
	}
	for _, f := range p {
		if _, users := w.o.Filters.find(f.ID); f.ID == Shuffle && !users && b.width(f) > 1 {
			return b.width(f)
		}
	}
	return 0
}
