package meta

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/internal/errs"
)

// UpdateShape returns a copy of an array record, in any of its forms, with a new shape of the same number of
// dimensions. The copy has the length of the record, so it can replace the record in a frame with chunks. The error
// wraps ErrCorrupt, or errors.ErrUnsupported if the extents do not have the fixed width that every known writer uses.
func UpdateShape(record []byte, shape []int64) ([]byte, error) {
	const head = 4 // markers, version and number of dimensions
	const width = 9
	old, err := ParseArray(record, 1)
	if err != nil {
		return nil, err
	}
	if len(old.Shape) != len(shape) {
		return nil, fmt.Errorf("meta: array record: new shape of %d dimensions, want %d: %w", len(shape), len(old.Shape), ErrType)
	}
	out := slices.Clone(record)
	for i, n := range shape {
		at := head + i*width
		if at+width > len(out) || out[at] != markInt64 || int64(binary.BigEndian.Uint64(out[at+1:])) != old.Shape[i] {
			return nil, fmt.Errorf("meta: array record: dimension %d is not a 64-bit integer: %w", i, errs.ErrUnsupported)
		}
		binary.BigEndian.PutUint64(out[at+1:], uint64(n))
	}
	return out, nil
}
