package meta

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// UpdateShape returns a copy of an array record, of any form, with another shape of as many dimensions. Its length is
// that of the record, so that it can take its place in a frame with chunks. Errors wrap ErrCorrupt, or ErrUnsupported
// for a record whose lengths do not have the fixed width that every known writer uses.
func UpdateShape(record []byte, shape []int64) ([]byte, error) {
	const head = 4 // markers, version and number of dimensions
	const width = 9
	old, err := ParseArray(record, 1)
	if err != nil {
		return nil, err
	}
	if len(old.Shape) != len(shape) {
		return nil, fmt.Errorf("meta: array record: %d dimensions for one of %d: %w", len(shape), len(old.Shape), ErrType)
	}
	out := slices.Clone(record)
	for i, n := range shape {
		at := head + i*width
		if at+width > len(out) || out[at] != markInt64 || int64(binary.BigEndian.Uint64(out[at+1:])) != old.Shape[i] {
			return nil, fmt.Errorf("meta: array record: dimension %d is not a 64-bit integer: %w", i, ErrUnsupported)
		}
		binary.BigEndian.PutUint64(out[at+1:], uint64(n))
	}
	return out, nil
}
