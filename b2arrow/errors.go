package b2arrow

import (
	"errors"
	"fmt"

	"github.com/goblosc/blosc2/ndarray"
)

// unsupported returns an error that wraps errors.ErrUnsupported.
func unsupported(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), errors.ErrUnsupported)
}

// corrupt returns an error that wraps ndarray.ErrCorrupt.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ndarray.ErrCorrupt)
}

// tooLarge returns an error that wraps ndarray.ErrTooLarge.
func tooLarge(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ndarray.ErrTooLarge)
}
