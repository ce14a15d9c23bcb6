package coder

import (
	"errors"
	"fmt"

	"github.com/goblosc/blosc2/internal/errs"
)

// Error reports where in a chunk an error was found. It unwraps to its cause, which wraps an error of package errs.
type Error struct {
	Block int   // block number, or -1 if the header or the block positions are wrong
	Off   int64 // offset from the start of the chunk, in bytes
	Err   error
}

// Error returns "block B at byte N: cause".
func (e *Error) Error() string {
	if e.Block < 0 {
		return fmt.Sprintf("chunk header at byte %d: %v", e.Off, e.Err)
	}
	return fmt.Sprintf("block %d at byte %d: %v", e.Block, e.Off, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func headerError(off int64, sentinel error, format string, args ...any) error {
	return &Error{Block: -1, Off: off, Err: fmt.Errorf(format+": %w", append(args, sentinel)...)}
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, errs.ErrCorrupt)...)
}

func paramError(format string, args ...any) error {
	return fmt.Errorf("chunk: "+format+": %w", append(args, errs.ErrParam)...)
}

// readFault is an error of the source of a chunk.
type readFault struct{ err error }

func (e readFault) Error() string { return "reading: " + e.err.Error() }
func (e readFault) Unwrap() error { return e.err }

// IsRead reports whether an error of a chunk is that of its source.
func IsRead(err error) bool { return errors.As(err, new(readFault)) }
