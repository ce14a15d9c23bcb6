package store

import (
	"fmt"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
)

// Errors. Test with errors.Is. For the rest: fs.ErrNotExist for a key, a group or an attribute that does not exist,
// fs.ErrClosed after Close, and errors.ErrUnsupported for what this package can name but not read.
var (
	// ErrFormat is returned for bytes that are not a store, or a leaf that is not of the requested kind.
	ErrFormat = faults.ErrFormat
	// ErrCorrupt is returned for a store or a leaf that violates the format.
	ErrCorrupt = faults.ErrCorrupt
	// ErrTooLarge is returned for something that exceeds a limit of OpenOptions.
	ErrTooLarge = faults.ErrTooLarge
	// ErrReadOnly is returned for edits of a store that was opened for reading.
	ErrReadOnly = frame.ErrReadOnly
	// ErrParam is returned for a key that cannot be stored.
	ErrParam = frame.ErrParam
	// ErrType is returned for a Go type that does not fit a value.
	ErrType = faults.ErrType
)

// atKey adds the key of a leaf to an error.
func atKey(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store: %s: %w", key, err)
}
