// Package faults makes the errors of the store packages.
package faults

import (
	"errors"
	"fmt"

	"github.com/goblosc/blosc2/internal/errs"
)

// ErrStop ends a loop early. It never reaches the caller.
var ErrStop = errors.New("stop")

// Corruptf returns an error that wraps ErrCorrupt.
func Corruptf(format string, args ...any) error { return wrap(errs.ErrCorrupt, format, args) }

// Formatf returns an error that matches ErrFormat, without its text: most of these errors are about other kinds of
// frames.
func Formatf(format string, args ...any) error {
	return errs.Kind(fmt.Sprintf(format, args...), errs.ErrFormat)
}

// Unsupportedf returns an error that wraps errors.ErrUnsupported.
func Unsupportedf(format string, args ...any) error {
	return wrap(errs.ErrUnsupported, format, args)
}

// TooLargef returns an error that wraps ErrTooLarge.
func TooLargef(format string, args ...any) error { return wrap(errs.ErrTooLarge, format, args) }

func wrap(err error, format string, args []any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}

// Clip shortens text of a file for an error.
func Clip(s string) string {
	const most = 200
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
