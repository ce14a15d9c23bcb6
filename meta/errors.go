package meta

import "errors"

// Errors. Test with errors.Is. The text of an error names the fault and its location.
var (
	// ErrCorrupt is returned for bytes that violate the format. For a count that no reader accepts, the error wraps
	// ErrLimit too.
	ErrCorrupt = errors.New("corrupt metadata")
	// ErrUnsupported is returned for valid input of a kind that this package does not know, such as a NumPy long
	// double.
	ErrUnsupported = errors.New("unsupported")
	// ErrLimit is returned for too many metalayers or dimensions, a name that is repeated or not 1 to 31 bytes long,
	// values nested too deep, or sizes that the format cannot express.
	ErrLimit = errors.New("beyond the limits of the format")
	// ErrType is returned for a Go value that has no encoding, an encoded value that does not fit the Go type, or text
	// that is not a NumPy dtype.
	ErrType = errors.New("wrong type")
)
