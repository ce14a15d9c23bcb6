package frame

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/errs"
)

// Errors of this package, by what the caller can do about them. Test for them with errors.Is. Other errors match
// fs.ErrNotExist for a missing file or metalayer, fs.ErrExist for a file that already exists, fs.ErrClosed for a closed
// frame or batch, and errors.ErrUnsupported if the frame may be intact but uses something that is not available.
var (
	// ErrFormat: the bytes are not a Blosc2 frame.
	ErrFormat = errs.ErrFormat
	// ErrCorrupt: the frame breaks the format; the data, or the part that the error names, is lost.
	ErrCorrupt = errs.ErrCorrupt
	// ErrChecksum: a part of the frame does not match its checksum. The error wraps ErrCorrupt as well.
	ErrChecksum = errs.ErrChecksum
	// ErrTooLarge: something is larger than the format or the options allow, or there are too many metalayers.
	ErrTooLarge = errs.ErrTooLarge
	// ErrParam: an option or argument is invalid, does not apply to the call, or cannot be stored in the format.
	ErrParam = errs.ErrParam
	// ErrReadOnly: the frame was opened for reading.
	ErrReadOnly = errs.ErrReadOnly
	// ErrUnfinished: several writers fill the frame, and it is not finished. See Regions.
	ErrUnfinished = errs.ErrUnfinished
	// ErrBounds: there is no chunk with that number, or no byte at that position.
	ErrBounds = errs.ErrBounds
	// ErrChanged: another process edited or replaced the frame while it was read. Read again, or open it again.
	ErrChanged = errs.ErrChanged
)

// Error is an error with the part of the frame that it belongs to. It unwraps to its cause.
type Error struct {
	Path  string // name of the file, directory or Source; empty in memory, for readers and a Source without a name
	Part  string // "header", "index", "trailer", "chunk", "metalayer b2nd", ...
	Chunk int    // chunk number, or -1
	Off   int64  // offset of the part in bytes from the start of the frame, or the number of a chunk file; or -1
	Err   error  // the cause

	file bool // Off is the number of a chunk file
}

// Error returns "frame PATH: PART N at byte OFF: cause", or for a sparse frame "frame PATH: chunk N in FILE: cause".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("frame")
	if e.Path != "" {
		b.WriteString(" " + e.Path)
	}
	b.WriteString(": " + printable(e.Part))
	if e.Chunk >= 0 {
		fmt.Fprintf(&b, " %d", e.Chunk)
	}
	switch {
	case e.Off < 0:
	case e.file && e.Chunk < 0:
		b.WriteString(" " + chunkFileName(e.Off))
	case e.file:
		b.WriteString(" in " + chunkFileName(e.Off))
	default:
		fmt.Fprintf(&b, " at byte %d", e.Off)
	}
	return b.String() + ": " + e.Err.Error()
}

// printable returns s with escapes if it holds what must not reach a terminal: a name in a file may hold any bytes.
func printable(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }) < 0 {
		return s
	}
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func corrupt(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, ErrCorrupt)...)
}

// chunkFileName returns the name of a chunk file of a sparse frame.
func chunkFileName(n int64) string { return fmt.Sprintf("%08X.chunk", n) }

// checkLayerName returns ErrParam for the name of a new metalayer that other libraries misread.
func checkLayerName(name string) error {
	if fault := engine.NameFault(name); fault != "" {
		return fmt.Errorf("%s: %w", fault, ErrParam)
	}
	return nil
}

// concernsAll reports whether an error of a source with many files concerns all of them: the call with this context has
// ended, the frame was changed or closed, or the server is down.
func concernsAll(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, ErrChanged) || errors.Is(err, fs.ErrClosed) || errors.Is(err, errs.ErrNoAnswer)
}
