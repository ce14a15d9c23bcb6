package shuffle

import "errors"

var (
	// ErrInvalid is wrapped by errors about parameters that break the rules of a filter: a cell edge of zero, more
	// bits than a word has, a block shape that does not describe the block. No reader can apply such a filter.
	ErrInvalid = errors.New("shuffle: invalid filter parameter")

	// ErrUnsupported is wrapped by errors about parameters that are well formed but outside of what the filter is
	// defined for, such as a type size or a number of dimensions.
	ErrUnsupported = errors.New("shuffle: unsupported filter parameter")
)
