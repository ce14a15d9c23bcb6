package ndarray

import (
	"errors"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// The errors of this package wrap one of these errors. Errors that package frame also defines have the same values
// here.
var (
	// ErrShape reports a shape, chunk shape, block shape or buffer that does not match the others.
	ErrShape = grid.ErrShape
	// ErrBounds reports a selection outside the array, or text that is not a selection.
	ErrBounds = frame.ErrBounds
	// ErrType reports a Go type or dtype that does not match the dtype of the items.
	ErrType = convert.ErrType
	// ErrValue reports an item that the requested type cannot hold: a time out of range, or text that is too long or
	// invalid.
	ErrValue = convert.ErrValue
	// ErrNotArray reports a frame that holds no array.
	ErrNotArray = errors.New("not an array")
	// ErrFormat reports input that is not a Blosc2 frame, or for package npy not a .npy file.
	ErrFormat = frame.ErrFormat
	// ErrCorrupt reports a frame that breaks the format.
	ErrCorrupt = frame.ErrCorrupt
	// ErrChecksum reports data that does not match its checksum.
	ErrChecksum = frame.ErrChecksum
	// ErrChanged reports a file that another process has replaced or truncated.
	ErrChanged = frame.ErrChanged
	// ErrParam reports options or arguments that are invalid, or that do not fit together.
	ErrParam = frame.ErrParam
	// ErrNotFound reports an attribute that the array does not have.
	ErrNotFound = frame.ErrNotFound
	// ErrLimit reports more attributes or bytes of metadata than the format or Options.MaxMeta allow.
	ErrLimit = frame.ErrLimit
	// ErrUnsupported reports valid input or a valid request that this package does not support.
	ErrUnsupported = frame.ErrUnsupported
	// ErrTooLarge reports a size above the limits of the format, of the machine or of Options.MaxBytes.
	ErrTooLarge = frame.ErrTooLarge
	// ErrReadOnly reports an edit of an array that was opened for reading.
	ErrReadOnly = frame.ErrReadOnly
	// ErrClosed reports the use of a closed array.
	ErrClosed = frame.ErrClosed
	// ErrExists reports the creation of an array where a file or directory already exists.
	ErrExists = frame.ErrExists
)
