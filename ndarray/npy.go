package ndarray

import (
	"context"
	"fmt"
	"io"

	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/npy"
)

// NPYHeader describes the items of a .npy file.
type NPYHeader struct {
	DType   meta.DType
	Fortran bool // the items are in Fortran order
	Shape   []int64
}

// Append appends the header that numpy.save writes. Sub-arrays become axes of the shape, as in NumPy. It returns
// ErrType for items that .npy files cannot hold: Python objects, structures with fields that overlap or are out of
// order, and sub-arrays in Fortran order.
func (h NPYHeader) Append(dst []byte) ([]byte, error) {
	dst, err := npy.Header(h).Append(dst)
	if err != nil {
		return dst, fmt.Errorf("ndarray: %w: %v", ErrType, err)
	}
	return dst, nil
}

// ReadNPYHeader reads the header of a .npy file of any version, up to the items. The error wraps ErrFormat or is an
// error of r.
func ReadNPYHeader(r io.Reader) (NPYHeader, error) {
	h, err := npy.Read(r)
	if err != nil {
		return NPYHeader{}, fmt.Errorf("ndarray: %w", err)
	}
	return NPYHeader(h), nil
}

// ReadNPY creates an array from a .npy file with items in either order, of any dtype except Python objects. It reads
// src once, up to the last item. It uses as much memory as FromReader. Items in Fortran order pass through a compressed
// file beside the array, or through memory if the array is in memory. The error wraps ErrFormat, ErrType, or ErrShape
// if items are missing, or is an error of Create.
func ReadNPY(ctx context.Context, name string, src io.Reader, o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	h, err := ReadNPYHeader(src)
	if err != nil {
		return nil, err
	}
	return FromNPY(ctx, name, h, src, o)
}

// FromNPY is like ReadNPY, for a file whose header h was read from src before.
func FromNPY(ctx context.Context, name string, h NPYHeader, src io.Reader, o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	if h.DType.Kind == 'O' {
		return nil, fmt.Errorf("ndarray: %w: .npy file with Python objects", ErrType)
	}
	l, err := newLayout(h.Shape, h.DType.String(), o)
	if err != nil {
		return nil, err
	}
	return l.collect(ctx, name, h.Fortran && longAxes(h.Shape) > 1, defaultBounds, readFrom(src))
}

// longAxes returns the number of axes with several items. With at most one, C and Fortran order are the same.
func longAxes(shape []int64) (n int) {
	for _, k := range shape {
		if k > 1 {
			n++
		}
	}
	return n
}

// WriteNPY writes r, or a selection of it, as a .npy file in C order. It uses memory like WriteItems. The error wraps
// ErrType if .npy files cannot hold the items, or is an error of reading or of dst.
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
