package store

import (
	"fmt"

	"github.com/goblosc/blosc2/internal/errs"
)

// Errors. Test with errors.Is. Other errors match fs.ErrNotExist for a key, a group or an attribute that does not
// exist, fs.ErrClosed after Close, errors.ErrUnsupported for a leaf whose kind this package knows but cannot read, and
// frame.ErrChanged for reads of an embed store that another Store has edited: see Edit.
var (
	// ErrFormat is returned for bytes that are not a store, or a leaf that is not of the requested kind.
	ErrFormat = errs.ErrFormat
	// ErrCorrupt is returned for a store or a leaf that violates the format.
	ErrCorrupt = errs.ErrCorrupt
	// ErrTooLarge is returned for something that exceeds a limit of OpenOptions.
	ErrTooLarge = errs.ErrTooLarge
	// ErrReadOnly is returned for edits of a store that was opened for reading.
	ErrReadOnly = errs.ErrReadOnly
	// ErrParam is returned for a key that cannot be stored, an option that cannot apply, or packing into the store.
	ErrParam = errs.ErrParam
	// ErrType is returned for a Go type that does not fit a value.
	ErrType = errs.ErrType
)

// atKey adds the key of a leaf to an error.
func atKey(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store: %s: %w", key, err)
}
