package chunk

import (
	"fmt"

	"github.com/goblosc/blosc2/shuffle"
)

// block is what filters know of the block they work on.
type block struct {
	typeSize int    // of the chunk header
	version  uint8  // of the chunk
	ref      []byte // plain block 0, for Delta; nil in block 0 itself
}

// width returns the number of byte streams of a Shuffle.
func (b *block) width(f Filter) int {
	if f.Meta != 0 {
		return int(f.Meta)
	}
	return b.typeSize
}

// works tells whether a filter changes bytes when decoding, or fails with ErrUnsupported.
func (f Filter) works(b *block) (bool, error) {
	switch f.ID {
	case NoFilter, TruncPrec:
		return false, nil
	case Shuffle:
		return b.width(f) > 1, nil
	case BitShuffle, Delta:
		return true, nil
	}
	return false, unsupportedFilter(f)
}

// check tells whether the pipeline can be undone here.
func (p *Pipeline) check(b *block) error {
	for _, f := range p {
		if _, err := f.works(b); err != nil {
			return err
		}
	}
	return nil
}

// active returns the number of filters that decoding must undo.
func (p *Pipeline) active(b *block) int {
	n := 0
	for _, f := range p {
		if ok, _ := f.works(b); ok {
			n++
		}
	}
	return n
}

// backward undoes the pipeline: src, which may be one of the worker's buffers, becomes dst. The last filter writes
// straight into dst.
func (w *Worker) backward(dst, src []byte, p *Pipeline, b *block) error {
	left := p.active(b)
	if left == 0 {
		copy(dst, src)
		return nil
	}
	for i := NumFilters - 1; i >= 0; i-- {
		ok, err := p[i].works(b)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		left--
		out := dst
		if left > 0 {
			out = w.other(src, len(src))
		}
		undo(p[i], out, src, b)
		src = out
	}
	return nil
}

// undo applies one filter backward.
func undo(f Filter, dst, src []byte, b *block) {
	switch f.ID {
	case Shuffle:
		shuffle.Unshuffle(dst, src, b.width(f))
	case BitShuffle:
		if b.version <= versionBlosc1 {
			shuffle.BitUnshuffleV2(dst, src, b.typeSize)
		} else {
			shuffle.BitUnshuffle(dst, src, b.typeSize)
		}
	case Delta:
		shuffle.DeltaDecode(dst, src, b.ref, b.typeSize)
	}
}

// forward applies the pipeline to src, which stays as it is, and returns the result: src itself when no filter is
// set, else one of the worker's buffers.
func (w *Worker) forward(src []byte, p *Pipeline, b *block) ([]byte, error) {
	for _, f := range p {
		if f.ID == NoFilter || f.ID == Shuffle && b.width(f) == 1 {
			continue
		}
		dst := w.other(src, len(src))
		if err := apply(f, dst, src, b); err != nil {
			return nil, err
		}
		src = dst
	}
	return src, nil
}

// apply applies one filter forward.
func apply(f Filter, dst, src []byte, b *block) error {
	switch f.ID {
	case Shuffle:
		shuffle.Shuffle(dst, src, b.width(f))
	case BitShuffle:
		shuffle.BitShuffle(dst, src, b.typeSize)
	case Delta:
		shuffle.DeltaEncode(dst, src, b.ref, b.typeSize)
	case TruncPrec:
		if err := shuffle.TruncPrec(dst, src, b.typeSize, int8(f.Meta)); err != nil {
			return fmt.Errorf("%v: %w", err, ErrParam)
		}
	default:
		return unsupportedFilter(f)
	}
	return nil
}

// other returns n bytes of the worker's buffer that does not hold src.
func (w *Worker) other(src []byte, n int) []byte {
	if len(src) > 0 && len(w.buf[0]) > 0 && &src[0] == &w.buf[0][0] {
		return w.scratch(1, n)
	}
	return w.scratch(0, n)
}
