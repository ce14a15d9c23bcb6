package ndarray

import (
	"context"

	"github.com/goblosc/blosc2/meta"
)

// Reader is what can be read as an N-dimensional array: an *Array, or what shows an array in another way. All that
// only reads takes one. No other package can implement it. It may be used by any number of goroutines.
type Reader interface {
	// Shape returns the shape in items, the first axis first. It is the caller's.
	Shape() []int64
	// NDim returns the number of dimensions.
	NDim() int
	// Size returns the number of items.
	Size() int64
	// DType returns the NumPy dtype of the items.
	DType() meta.DType
	// ItemSize returns the size of an item in bytes.
	ItemSize() int
	// SelectionShape returns the shape of what a selection reads. Errors are ErrBounds and ErrTooLarge.
	SelectionShape(sel ...Index) ([]int64, error)
	// ReadBytes reads a selection into dst, in C order, as the items are stored. See Array.ReadBytes.
	ReadBytes(ctx context.Context, dst []byte, sel ...Index) error
	// Options returns the options that make an array like this: its partition and compression parameters.
	Options() *Options

	// source returns the array that is read, and what is shown of it; nil is the array as it is.
	source() (*Array, *mapping)
}

func (a *Array) source() (*Array, *mapping) { return a, nil }

// Writer is what items can be written to: an *Array or a *View that repeats no item, where each call is one commit, or
// a *Batch. No other package can implement it.
type Writer interface {
	// DType returns the NumPy dtype of the items.
	DType() meta.DType
	// WriteBytes writes src to a selection. See Array.WriteBytes.
	WriteBytes(ctx context.Context, src []byte, sel ...Index) error
	// FillBytes writes the same item to all items of a selection. See Array.FillBytes.
	FillBytes(ctx context.Context, item []byte, sel ...Index) error

	source() (*Array, *mapping)
}
