package meta

import "errors"

// Errors. Test with errors.Is; every error says in words what was wrong and where.
var (
	// ErrCorrupt: bytes that break the format. A count that no reader accepts wraps ErrLimit as well.
	ErrCorrupt = errors.New("corrupt metadata")
	// ErrUnsupported: well formed, but of a kind that this package does not know, such as a NumPy
	// long double.
	ErrUnsupported = errors.New("unsupported")
	// ErrLimit: too many layers or dimensions, a name that is not 1 to 31 bytes long or given twice,
	// values nested too deep, or sizes beyond what the format can hold.
	ErrLimit = errors.New("beyond the limits of the format")
	// ErrType: a Go value that has no encoding, an encoded value that does not fit the Go type asked
	// for, or text that is not a NumPy dtype.
	ErrType = errors.New("wrong type")
)
