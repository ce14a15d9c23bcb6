// Package errs holds the errors of the module, one value for each kind of failure. The public packages export those
// that they return, as the same values. For the rest they use values of the standard library, which match the errors of
// this package that carry a shorter text.
package errs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/goblosc/blosc2/internal/paths"
)

// The errors that public packages export. They differ in what the caller can do.
var (
	// ErrFormat: the input has another format.
	ErrFormat = errors.New("not a Blosc2 frame")
	// ErrNotArray: the frame holds no array. It matches ErrFormat, too.
	ErrNotArray = Kind("not an array", ErrFormat)
	// ErrCorrupt: the input breaks the format.
	ErrCorrupt = errors.New("corrupt data")
	// ErrChecksum: the input does not match its checksum. It matches ErrCorrupt, too.
	ErrChecksum = Kind("checksum mismatch: corrupt data", ErrCorrupt)
	// ErrChanged: another process replaced or edited what is open.
	ErrChanged = errors.New("changed by another process")
	// ErrTooLarge: a size or count is above the limits of the format, of the options or of the machine.
	ErrTooLarge = errors.New("too large")
	// ErrUnfinished: not all chunks of a frame that several writers fill are written, or no writer has finished it.
	ErrUnfinished = errors.New("unfinished")
	// ErrReadOnly: an edit of something that is open for reading.
	ErrReadOnly = errors.New("opened for reading only")
	// ErrParam: an option or argument is invalid, or does not fit the others.
	ErrParam = errors.New("bad parameter")
	// ErrShape: a shape or buffer does not match the others.
	ErrShape = errors.New("invalid shape")
	// ErrBounds: a position or selection is outside what it selects from.
	ErrBounds = errors.New("out of bounds")
	// ErrType: a Go type or dtype does not match the value.
	ErrType = errors.New("wrong type")
	// ErrValue: a type cannot hold a value.
	ErrValue = errors.New("invalid value")
)

// Errors of the standard library, with a text that suits more than files. Documentation and tests name the value of the
// standard library that each one matches.
var (
	// ErrExist matches fs.ErrExist.
	ErrExist = Kind("already exists", fs.ErrExist)
	// ErrNotExist matches fs.ErrNotExist.
	ErrNotExist = Kind("not found", fs.ErrNotExist)
	// ErrClosed matches fs.ErrClosed.
	ErrClosed = Kind("closed", fs.ErrClosed)
	// ErrUnsupported matches errors.ErrUnsupported.
	ErrUnsupported = Kind("unsupported", errors.ErrUnsupported)
	// ErrElsewhere is ErrUnsupported for data that is not in an intact frame, because python-blosc2 keeps it elsewhere.
	ErrElsewhere = Kind("unsupported", ErrUnsupported)
)

// ErrNoAnswer marks an error of a source that answers no request, so that reads of its other bytes would fail, too.
var ErrNoAnswer = errors.New("no answer")

// MostUnread is the number of errors in a row, of those of MayBeDown, after which a source is given up.
const MostUnread = 4

// MayBeDown reports whether a source that is down may return an error. It cannot if the error is that something is
// damaged, of another kind, missing, forbidden or closed.
func MayBeDown(err error) bool {
	for _, e := range []error{
		ErrCorrupt, ErrFormat, ErrTooLarge, ErrUnfinished, ErrParam, ErrShape, ErrBounds, ErrType, ErrValue,
		errors.ErrUnsupported, fs.ErrNotExist, fs.ErrPermission, fs.ErrClosed,
	} {
		if errors.Is(err, e) {
			return false
		}
	}
	return err != nil
}

// SetOverwrite adds the advice to set Overwrite to an error for an existing name.
func SetOverwrite(err error) error { return fmt.Errorf("%w; set Overwrite to replace it", err) }

// EditOrOverwrite is SetOverwrite for a name that a frame may have. It names the call for adding to that frame first,
// because Overwrite removes its data.
func EditOrOverwrite(err error) error {
	return fmt.Errorf("%w; open it with Edit, or set Overwrite to replace it", err)
}

// NoDirectory returns an error of creating a file with a name, also under a temporary name beside it. If nothing was
// found, it is the directory that does not exist.
func NoDirectory(name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return Kind(fmt.Sprintf("directory %s does not exist", paths.Dir(name)), err)
}

// Write writes p to w. It returns an error if w writes less than p without one, or an impossible number of bytes.
func Write(w io.Writer, p []byte) (int, error) {
	n, err := w.Write(p)
	switch {
	case n < 0 || n > len(p):
		return 0, cmp.Or(err, fmt.Errorf("Write of a %T returns %d for %d bytes", w, n, len(p)))
	case n < len(p):
		return n, cmp.Or(err, io.ErrShortWrite)
	}
	return n, err
}

// SeeURL adds advice to the error of opening a file: the package for URLs if the name is a URL, or that the name is
// empty.
func SeeURL(name string, err error) error {
	if name == "" {
		return fmt.Errorf("%w; the name is empty", err)
	}
	switch scheme, _, _ := strings.Cut(name, "://"); scheme {
	case "http", "https":
		return fmt.Errorf("%w; see package frame/remote for URLs", err)
	case "s3", "gs", "azblob":
		return fmt.Errorf("%w; see module cloud for buckets", err)
	}
	return err
}

// Kind returns an error with a text of its own that matches parent under errors.Is.
func Kind(text string, parent error) error { return &kind{text, parent} }

type kind struct {
	text   string
	parent error
}

func (k *kind) Error() string { return k.text }

func (k *kind) Unwrap() error { return k.parent }
