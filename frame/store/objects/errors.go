package objects

import (
	"github.com/goblosc/blosc2/frame/store/internal/faults"
)

// Errors, besides errors.ErrUnsupported. Test with errors.Is.
var (
	// ErrFormat is returned for a frame that holds something else.
	ErrFormat = faults.ErrFormat
	// ErrCorrupt is returned for an array that violates the format.
	ErrCorrupt = faults.ErrCorrupt
	// ErrBounds is returned for an item or a batch that does not exist.
	ErrBounds = faults.ErrBounds
	// ErrType is returned for a Go type that does not fit an item.
	ErrType = faults.ErrType
)
