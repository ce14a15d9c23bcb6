package errs_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/goblosc/blosc2/internal/errs"
)

// TestRelations checks which errors match which, for all pairs.
func TestRelations(t *testing.T) {
	all := []error{
		errs.ErrFormat, errs.ErrNotArray, errs.ErrCorrupt, errs.ErrChecksum, errs.ErrChanged, errs.ErrTooLarge, errs.ErrUnfinished, errs.ErrReadOnly,
		errs.ErrParam, errs.ErrShape, errs.ErrBounds, errs.ErrType, errs.ErrValue,
		errs.ErrExist, errs.ErrNotExist, errs.ErrClosed, errs.ErrUnsupported,
		fs.ErrExist, fs.ErrNotExist, fs.ErrClosed, errors.ErrUnsupported,
	}
	parents := map[error]error{
		errs.ErrNotArray: errs.ErrFormat, errs.ErrChecksum: errs.ErrCorrupt,
		errs.ErrExist: fs.ErrExist, errs.ErrNotExist: fs.ErrNotExist, errs.ErrClosed: fs.ErrClosed, errs.ErrUnsupported: errors.ErrUnsupported,
	}
	for _, err := range all {
		for _, target := range all {
			if got, want := errors.Is(err, target), err == target || parents[err] == target; got != want {
				t.Errorf("%q matches %q: %v, want %v", err, target, got, want)
			}
		}
	}
}
