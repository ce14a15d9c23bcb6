package coder

import (
	"errors"
	"fmt"

	"github.com/goblosc/blosc2/codec"
)

// Errors of this package and of all that build on it, told apart by what the caller can do. Test with errors.Is.
var (
	// ErrCorrupt: the bytes break the format; the data, or this part of it, is lost.
	ErrCorrupt = codec.ErrCorrupt
	// ErrUnsupported: the bytes may be sound but use a codec, filter or version that is not available.
	ErrUnsupported = codec.ErrUnsupported
	// ErrTooLarge: the content is larger than the format or Options.MaxBytes allow.
	ErrTooLarge = errors.New("too large")
	// ErrParam: the caller asked for compression parameters that the format cannot express.
	ErrParam = errors.New("bad parameter")
)

// Error says where in a chunk something was wrong. It unwraps to its cause, which wraps one of the errors above.
type Error struct {
	Block int   // block number, or -1 when the header or the offsets are at fault
	Off   int64 // position from the start of the chunk, in bytes
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
	return fmt.Errorf(format+": %w", append(args, ErrCorrupt)...)
}

func paramError(format string, args ...any) error {
	return fmt.Errorf("chunk: "+format+": %w", append(args, ErrParam)...)
}
