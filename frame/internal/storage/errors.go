package storage

import (
	"errors"
	"fmt"

	"github.com/goblosc/blosc2/internal/coder"
)

// Errors of package frame, which has their documentation.
var (
	ErrReadOnly = errors.New("opened for reading only")
	ErrChanged  = errors.New("changed by another process")
)

func corrupt(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, coder.ErrCorrupt)...)
}
