package chunk

import (
	"errors"
	"fmt"

	"github.com/goblosc/blosc2/internal/filters"
)

// block is what filters know of the block they work on.
type block struct {
	BlockInfo
	version uint8  // of the chunk
	ref     []byte // plain block 0, for Delta; nil in block 0 itself
}

// width returns the number of byte streams of a Shuffle.
func (b *block) width(f Filter) int {
	if f.Meta != 0 {
		return int(f.Meta)
	}
	return b.TypeSize
}

// streams returns the number of byte streams of a ByteDelta.
func (b *block) streams(f Filter) int {
	if f.Meta != 0 {
		return int(f.Meta)
	}
	return b.ItemSize
}

// works tells whether a filter changes bytes when decoding, or fails with ErrUnsupported where it cannot be undone.
func (w *Worker) works(f Filter, b *block) (bool, error) {
	if _, ok := w.o.Filters.find(f.ID); ok {
		return true, nil
	}
	switch f.ID {
	case NoFilter, TruncPrec, IntTrunc:
		return false, nil
	case Shuffle:
		return b.width(f) > 1, nil
	case BitShuffle, Delta:
		return true, nil
	case ByteDelta, ByteDeltaOld:
		// A typesize of 1 may stand for any size above 255.
		if f.Meta == 0 && w.o.ItemSize == 0 && b.TypeSize == 1 {
			return false, fmt.Errorf("filter %v without the item size of the frame (Options.ItemSize): %w", f.ID, ErrUnsupported)
		}
		return true, nil
	case NDCell, NDMean:
		if len(b.Shape) == 0 {
			return false, fmt.Errorf("filter %v without the block shape of the array (Options.BlockShape): %w", f.ID, ErrUnsupported)
		}
		return true, nil
	}
	return false, unsupportedFilter(f)
}

// check tells whether a pipeline can be undone here.
func (w *Worker) check(p *Pipeline, b *block) error {
	for _, f := range p {
		if _, err := w.works(f, b); err != nil {
			return err
		}
	}
	return nil
}

// active returns the number of filters that decoding must undo.
func (w *Worker) active(p *Pipeline, b *block) int {
	n := 0
	for _, f := range p {
		if ok, _ := w.works(f, b); ok {
			n++
		}
	}
	return n
}

// backward undoes the pipeline: src, which may be one of the worker's buffers, becomes dst. The last filter writes
// straight into dst.
func (w *Worker) backward(dst, src []byte, p *Pipeline, b *block) error {
	left := w.active(p, b)
	if left == 0 {
		copy(dst, src)
		return nil
	}
	for i := NumFilters - 1; i >= 0; i-- {
		ok, err := w.works(p[i], b)
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
		if err := w.undo(p[i], out, src, b); err != nil {
			return fmt.Errorf("filter %v: %w", p[i].ID, err)
		}
		src = out
	}
	return nil
}

// undo applies one filter backward.
func (w *Worker) undo(f Filter, dst, src []byte, b *block) error {
	if u, ok := w.o.Filters.find(f.ID); ok {
		return u.Backward(dst, src, b.info(f))
	}
	switch f.ID {
	case Shuffle:
		filters.Unshuffle(dst, src, b.width(f))
	case BitShuffle:
		if b.version <= versionBlosc1 {
			filters.BitUnshuffleV2(dst, src, b.TypeSize)
		} else {
			filters.BitUnshuffle(dst, src, b.TypeSize)
		}
	case Delta:
		filters.DeltaDecode(dst, src, b.ref, b.TypeSize)
	case ByteDelta:
		filters.ByteDeltaDecode(dst, src, b.streams(f))
	case ByteDeltaOld:
		filters.ByteDeltaDecodeV1(dst, src, b.streams(f))
	case NDCell:
		return decodeError(filters.CellDecode(dst, src, b.ItemSize, int(f.Meta), b.Shape))
	case NDMean:
		return decodeError(filters.MeanDecode(dst, src, b.ItemSize, int(f.Meta), b.Shape))
	}
	return nil
}

// decodeError gives an error of package shuffle the kind of error that it is when decoding.
func decodeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, filters.ErrUnsupported):
		return fmt.Errorf("%v: %w", err, ErrUnsupported)
	}
	return fmt.Errorf("%v: %w", err, ErrCorrupt)
}

// forward applies the pipeline to src, which stays as it is, and returns the result: src itself when no filter is
// set, else one of the worker's buffers.
func (w *Worker) forward(src []byte, p *Pipeline, b *block) ([]byte, error) {
	for _, f := range p {
		if idle(f, b) {
			continue
		}
		dst := w.other(src, len(src))
		if err := w.apply(f, dst, src, b); err != nil {
			return nil, fmt.Errorf("filter %v: %w", f.ID, err)
		}
		src = dst
	}
	return src, nil
}

// idle tells whether a filter changes nothing when encoding.
func idle(f Filter, b *block) bool { return f.ID == NoFilter || f.ID == Shuffle && b.width(f) == 1 }

// apply applies one filter forward.
func (w *Worker) apply(f Filter, dst, src []byte, b *block) error {
	if u, ok := w.o.Filters.find(f.ID); ok {
		return u.Forward(dst, src, b.info(f))
	}
	switch f.ID {
	case Shuffle:
		filters.Shuffle(dst, src, b.width(f))
	case BitShuffle:
		filters.BitShuffle(dst, src, b.TypeSize)
	case Delta:
		filters.DeltaEncode(dst, src, b.ref, b.TypeSize)
	case TruncPrec:
		return encodeError(filters.TruncPrec(dst, src, b.TypeSize, int8(f.Meta)))
	case IntTrunc:
		return encodeError(filters.IntTrunc(dst, src, b.TypeSize, int8(f.Meta)))
	case ByteDelta:
		filters.ByteDeltaEncode(dst, src, b.streams(f))
	case NDCell:
		return encodeError(filters.CellEncode(dst, src, b.ItemSize, int(f.Meta), b.Shape))
	case NDMean:
		return encodeError(filters.MeanEncode(dst, src, b.ItemSize, int(f.Meta), b.Shape))
	default:
		return unsupportedFilter(f)
	}
	return nil
}

// encodeError makes an error of package shuffle the caller's mistake that it is when encoding.
func encodeError(err error) error {
	if err != nil {
		return fmt.Errorf("%v: %w", err, ErrParam)
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
