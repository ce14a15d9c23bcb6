package storage

import (
	"fmt"

	"github.com/goblosc/blosc2/internal/errs"
)

func corrupt(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, errs.ErrCorrupt)...)
}
