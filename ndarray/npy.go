package ndarray

import (
	"context"
	"fmt"
	"io"

	"github.com/goblosc/blosc2/internal/task"
)

// ReadNPY makes an array of a .npy file, of any dtype but Python objects, and in either order of items. It reads src once,
// up to the last item, and has as much of it in memory as FromReader; items in Fortran order go through a compressed
// file beside the array, or memory for one in memory. Errors are ErrNPY, ErrType, ErrShape if items are missing, and
// those of Create.
func ReadNPY(ctx context.Context, name string, src io.Reader, o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	h, err := ReadNPYHeader(src)
	if err != nil {
		return nil, err
	}
	return FromNPY(ctx, name, h, src, o)
}

// FromNPY is ReadNPY for a file whose header has been read.
func FromNPY(ctx context.Context, name string, h NPYHeader, src io.Reader, o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	if h.DType.Kind == 'O' {
		return nil, fmt.Errorf("ndarray: %w: the .npy file has Python objects", ErrType)
	}
	l, err := newLayout(h.Shape, h.DType.String(), o)
	if err != nil {
		return nil, err
	}
	return l.gather(ctx, name, h.Fortran && long(h.Shape) > 1, defaultBounds, readFrom(src))
}

// long returns how many axes have several items: with one at most, C and Fortran order are the same.
func long(shape []int64) (n int) {
	for _, k := range shape {
		if k > 1 {
			n++
		}
	}
	return n
}

// WriteNPY writes r, or with indexes a selection of it, as a .npy file in C order. Items go out in pieces of 16 MiB or of
// one row of chunks; selections with lists are read in one piece. Errors are ErrType if NumPy has no such file, those of
// reading, and those of dst.
func WriteNPY(ctx context.Context, dst io.Writer, r Reader, sel ...Index) error {
	ctx = task.Context(ctx)
	shape, err := r.SelectionShape(sel...)
	if err != nil {
		return err
	}
	h, err := NPYHeader{DType: r.DType(), Shape: shape}.Append(nil)
	if err != nil {
		return err
	}
	if _, err := dst.Write(h); err != nil {
		return err
	}
	return WriteItems(ctx, dst, r, sel...)
}
