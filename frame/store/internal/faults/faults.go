// Package faults makes the errors of the store packages.
package faults

import (
	"errors"
	"fmt"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// The errors that the packages export.
var (
	ErrFormat   = frame.ErrFormat
	ErrCorrupt  = frame.ErrCorrupt
	ErrTooLarge = frame.ErrTooLarge
	ErrBounds   = frame.ErrBounds
	ErrType     = ndarray.ErrType
)

// ErrStop ends a loop early. It never reaches the caller.
var ErrStop = errors.New("stop")

// Corruptf returns an error that wraps ErrCorrupt.
func Corruptf(format string, args ...any) error { return wrap(ErrCorrupt, format, args) }

// Formatf returns an error that wraps ErrFormat.
func Formatf(format string, args ...any) error { return wrap(ErrFormat, format, args) }

// Unsupportedf returns an error that wraps errors.ErrUnsupported.
func Unsupportedf(format string, args ...any) error {
	return wrap(errors.ErrUnsupported, format, args)
}

// TooLargef returns an error that wraps ErrTooLarge.
func TooLargef(format string, args ...any) error { return wrap(ErrTooLarge, format, args) }

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
