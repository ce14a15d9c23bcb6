package codec

import (
	"fmt"

	"github.com/goblosc/blosc2/internal/errs"
)

// blockItems returns the number of items of a block, for codecs that work on blocks of least to most dimensions with
// extents of at least min. It returns errors.ErrUnsupported for other blocks.
func blockItems(id ID, p Params, least, most int, min int32) (int, error) {
	if p.BlockShape == nil {
		return 0, fmt.Errorf("codec: %v: the shape of blocks is unknown (only arrays have one): %w", id, errs.ErrUnsupported)
	}
	if n := len(p.BlockShape); n < least || n > most {
		return 0, fmt.Errorf("codec: %v: blocks of %d dimensions, want %d to %d: %w", id, n, least, most, errs.ErrUnsupported)
	}
	items := int64(1)
	for _, n := range p.BlockShape {
		if n < min {
			return 0, fmt.Errorf("codec: %v: blocks of shape %d, want at least %d items along each axis: %w", id, p.BlockShape, min, errs.ErrUnsupported)
		}
		if items *= int64(n); items > maxBlock {
			return 0, fmt.Errorf("codec: %v: blocks of shape %d are too large: %w", id, p.BlockShape, errs.ErrUnsupported)
		}
	}
	return int(items), nil
}

// maxBlock is more bytes than a block can have.
const maxBlock = 1 << 29
