package table

import "github.com/goblosc/blosc2/internal/errs"

// Errors, besides fs.ErrNotExist for a column or an attribute, and errors.ErrUnsupported. Test with errors.Is.
var (
	// ErrFormat is returned for a store without a table.
	ErrFormat = errs.ErrFormat
	// ErrCorrupt is returned for a table that violates the format.
	ErrCorrupt = errs.ErrCorrupt
	// ErrBounds is returned for a row that does not exist.
	ErrBounds = errs.ErrBounds
	// ErrTooLarge is returned for rows that take more memory than the stored bytes or MaxBytes allow.
	ErrTooLarge = errs.ErrTooLarge
	// ErrType is returned for a Go type that does not fit the values of a column.
	ErrType = errs.ErrType
)
