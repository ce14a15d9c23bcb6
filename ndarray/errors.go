package ndarray

import (
	"fmt"
	"math/cmplx"
	"reflect"
	"strconv"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/float16"
)

// The errors of this package wrap one of these errors, or one of the standard library: fs.ErrExist for the creation of
// an array where a file or directory already exists, fs.ErrNotExist for a file or attribute that does not exist,
// fs.ErrClosed for the use of a closed array or batch, and errors.ErrUnsupported for valid input or a valid request
// that this package does not support. The other packages export the same values.
var (
	// ErrFormat reports input that is not a Blosc2 frame, or not a .npy file.
	ErrFormat = errs.ErrFormat
	// ErrNotArray reports a frame that holds no array. It matches ErrFormat, too.
	ErrNotArray = errs.ErrNotArray
	// ErrCorrupt reports a frame that breaks the format.
	ErrCorrupt = errs.ErrCorrupt
	// ErrChecksum reports data that does not match its checksum. It matches ErrCorrupt, too.
	ErrChecksum = errs.ErrChecksum
	// ErrChanged reports a file that another process has replaced or truncated.
	ErrChanged = errs.ErrChanged
	// ErrTooLarge reports a size or number above the limits of the format, of the machine or of the options.
	ErrTooLarge = errs.ErrTooLarge
	// ErrReadOnly reports an edit of an array that was opened for reading.
	ErrReadOnly = errs.ErrReadOnly
	// ErrParam reports options or arguments that are invalid, or that do not fit together.
	ErrParam = errs.ErrParam
	// ErrUnfinished reports an array that several writers fill and that is not finished. See Regions.
	ErrUnfinished = errs.ErrUnfinished
	// ErrShape reports a shape, chunk shape, block shape or buffer that does not match the others, and an invalid axis
	// of a view, of Concat or of Stack.
	ErrShape = errs.ErrShape
	// ErrBounds reports a selection that is outside the array or does not fit it (two ellipses, index arrays for a
	// view), text that is not a selection, and an invalid axis of ByRows, an edit or a reduction.
	ErrBounds = errs.ErrBounds
	// ErrType reports a Go type or dtype that does not match the dtype of the items.
	ErrType = errs.ErrType
	// ErrValue reports an item that the requested type cannot hold: a number that it cannot represent exactly, a time
	// out of range, or text that is too long or invalid.
	ErrValue = errs.ErrValue
)

// lengthError is the error for a slice of the caller that has the wrong length.
type lengthError struct {
	what       string // "buffer" or "data"
	have, want int64  // in bytes
	itemSize   int
	multiple   bool   // want is a unit, of which a multiple would do
	of         string // what has this length
	items      bool   // count items: the caller passed values
}

// Error returns "ndarray: invalid shape: buffer has 3 items, want 4 for ...".
func (e *lengthError) Error() string {
	unit, size, with := "bytes", int64(1), fmt.Sprintf(" with items of %d bytes", e.itemSize)
	if e.items {
		unit, size, with = "items", int64(e.itemSize), ""
	}
	multiple := ""
	if e.multiple {
		multiple = "a multiple of "
	}
	return fmt.Sprintf("ndarray: %v: %s has %d %s, want %s%d for %s%s", ErrShape, e.what, e.have/size, unit, multiple, e.want/size, e.of, with)
}

// Unwrap returns ErrShape.
func (e *lengthError) Unwrap() error { return ErrShape }

// rounding returns how to round a number to the nearest one of a dtype, or "" if that is not finite.
func rounding(d meta.DType, v reflect.Value) string {
	var x complex128
	switch {
	case v.CanFloat():
		x = complex(v.Float(), 0)
	case v.CanInt():
		x = complex(float64(v.Int()), 0)
	case v.CanUint():
		x = complex(float64(v.Uint()), 0)
	case v.CanComplex() && d.Kind == 'c':
		x = v.Complex()
	default:
		return ""
	}
	text := ""
	switch kind := string(d.Kind) + strconv.Itoa(d.Size); {
	case kind == "f2":
		x, text = complex(float16.Of(real(x)).Float64(), 0), "ndarray.Float16Of(float64(%v))"
	case kind == "c8" && v.CanComplex():
		x, text = complex128(complex64(x)), "complex64%v" // the text of v has parentheses
	case kind == "f4" || kind == "c8":
		x, text = complex128(complex64(x)), "float32(%v)"
	case kind == "f8" || kind == "c16":
		text = "float64(%v)"
	}
	if text == "" || cmplx.IsInf(x) || cmplx.IsNaN(x) {
		return ""
	}
	return fmt.Sprintf("; convert it first, as in "+text, v)
}
