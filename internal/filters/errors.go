package filters

import "errors"

var (
	// ErrInvalid is returned for a parameter that violates the rules of a filter: a cell edge of zero, more bits than a
	// word has, a block shape that does not match the block. No reader can apply such a filter.
	ErrInvalid = errors.New("shuffle: invalid filter parameter")

	// ErrUnsupported is returned for a valid parameter that the filter is not defined for, such as a type size or a
	// number of dimensions.
	ErrUnsupported = errors.New("shuffle: unsupported filter parameter")
)
