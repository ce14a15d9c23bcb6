package objects

import "github.com/goblosc/blosc2/internal/errs"

// Errors, besides errors.ErrUnsupported. Test with errors.Is.
var (
	// ErrFormat is returned for a frame that holds something else.
	ErrFormat = errs.ErrFormat
	// ErrCorrupt is returned for an array that violates the format.
	ErrCorrupt = errs.ErrCorrupt
	// ErrBounds is returned for an item or a batch that does not exist.
	ErrBounds = errs.ErrBounds
	// ErrType is returned for a Go type that does not fit an item.
	ErrType = errs.ErrType
	// ErrTooLarge is returned for items that take more memory than the stored bytes or MaxBytes allow.
	ErrTooLarge = errs.ErrTooLarge
	// ErrParam is returned for options that cannot apply.
	ErrParam = errs.ErrParam
	// ErrReadOnly is returned for an edit of an array whose frame was opened for reading.
	ErrReadOnly = errs.ErrReadOnly
)
