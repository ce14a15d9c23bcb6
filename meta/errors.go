package meta

import "github.com/goblosc/blosc2/internal/errs"

// Errors. Test with errors.Is. The text of an error names the fault and its location. For valid input of a kind that
// this package does not know, such as the dtype "longdouble", whose size depends on the machine, errors match
// errors.ErrUnsupported.
var (
	// ErrCorrupt is returned for bytes that violate the format. For a count that no reader accepts, the error wraps
	// ErrTooLarge too.
	ErrCorrupt = errs.ErrCorrupt
	// ErrTooLarge is returned for too many metalayers or dimensions, values nested too deep, or sizes that the format
	// cannot express.
	ErrTooLarge = errs.ErrTooLarge
	// ErrType is returned for a Go value that has no encoding, an encoded value that does not fit the Go type, or text
	// that is not a NumPy dtype.
	ErrType = errs.ErrType
)
