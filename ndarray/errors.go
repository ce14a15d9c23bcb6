package ndarray

import (
	"errors"

	"github.com/goblosc/blosc2/frame"
)

// The errors of this package wrap one of these, by what the caller can do about them. Those with a counterpart in
// package frame are the same values.
var (
	// ErrShape is a shape, chunk shape, block shape or buffer that does not go with the others.
	ErrShape = errShape
	// ErrBounds is a selection that does not fit the array, or text that is no selection.
	ErrBounds = frame.ErrBounds
	// ErrType is an element type that does not go with the array's.
	ErrType = errors.New("wrong type")
	// ErrValue is an item that the wished type cannot hold: a time out of range, text that is too long or not valid.
	ErrValue = errors.New("value out of range")
	// ErrNotArray is a frame that holds no array.
	ErrNotArray = errors.New("not an array")
	// ErrNPY is something that is not a .npy file, or one that breaks its format.
	ErrNPY = errors.New("not a valid .npy file")
	// ErrFormat is something that is not a Blosc2 frame.
	ErrFormat = frame.ErrFormat
	// ErrCorrupt is a frame that breaks the format.
	ErrCorrupt = frame.ErrCorrupt
	// ErrUnsupported is something valid that this package cannot do.
	ErrUnsupported = frame.ErrUnsupported
	// ErrTooLarge is a size above what the format, this machine or Options.MaxBytes allow.
	ErrTooLarge = frame.ErrTooLarge
	// ErrReadOnly is an edit of an array that was opened for reading.
	ErrReadOnly = frame.ErrReadOnly
	// ErrClosed is the use of a closed array.
	ErrClosed = frame.ErrClosed
	// ErrExists is the creation of an array where something is already.
	ErrExists = frame.ErrExists
)
