package ndarray

import "errors"

// The errors of this package wrap one of these, by what the caller can do about them.
var (
	// ErrShape is a shape, chunk shape, block shape or buffer that does not go with the others.
	ErrShape = errors.New("ndarray: invalid shape")
	// ErrBounds is a selection that does not fit the array, or text that is no selection.
	ErrBounds = errors.New("ndarray: invalid selection")
	// ErrType is an element type that does not go with the array's.
	ErrType = errors.New("ndarray: wrong type")
	// ErrUnsupported is something valid that this package cannot do.
	ErrUnsupported = errors.New("ndarray: not supported")
	// ErrTooLarge is a size above what the format or this machine can hold.
	ErrTooLarge = errors.New("ndarray: too large")
)
