package filters

import "github.com/goblosc/blosc2/internal/errs"

var (
	// errParam is returned for a parameter that violates the rules of a filter: a cell edge of zero, more bits than a
	// word has, a block shape that does not match the block. No reader can apply such a filter.
	errParam = errs.Kind("invalid filter parameter", errs.ErrParam)

	// errUnsupported is returned for a valid parameter that the filter is not defined for, such as a type size or a
	// number of dimensions.
	errUnsupported = errs.Kind("unsupported filter parameter", errs.ErrUnsupported)
)
