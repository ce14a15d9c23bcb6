// Package npy reads and writes NumPy's .npy files:
//
//	a, err := npy.Read(ctx, "data.b2nd", file, nil)    // numpy.load
//	err = npy.Write(ctx, file, a, ndarray.Span(0, 10)) // numpy.save(file, a[:10])
//
// A file has a header with the dtype, shape and order of the items, which follow uncompressed. All versions of the
// format are read. Files with Python objects are rejected.
package npy

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/paths"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray"
)

// Read creates an array from a .npy file with items in either order, of any dtype except Python objects. It reads r
// once, up to the last item. name and o are those of ndarray.Create; o.DType does not apply. Read uses as much memory
// as ndarray.FromReader. Items in Fortran order pass through a compressed file beside the array, or through memory if
// the array is in memory. The error wraps ErrFormat or ErrType of package ndarray, or ErrShape if items are missing, or
// is an error of ndarray.FromReader.
func Read(ctx context.Context, name string, r io.Reader, o *ndarray.CreateOptions) (*ndarray.Array, error) {
	h, err := ReadHeader(task.Reader(task.Context(ctx), r))
	if err != nil {
		return nil, err
	}
	return ReadItems(ctx, name, h, r, o)
}

// ReadItems is like Read, for a file whose header h was read from r before.
func ReadItems(ctx context.Context, name string, h Header, r io.Reader, o *ndarray.CreateOptions) (*ndarray.Array, error) {
	if h.DType.Kind == 'O' {
		return nil, fmt.Errorf("npy: %w: .npy file with Python objects", ndarray.ErrType)
	}
	if h.Fortran && longAxes(h.Shape) > 1 {
		return readFortran(ctx, name, h, r, o)
	}
	return ndarray.FromReader(ctx, name, h.Shape, h.DType.String(), r, o)
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

// readFortran creates an array from items in Fortran order. They are the items in C order of an array whose axes are in
// reverse order, which it stores temporarily.
func readFortran(ctx context.Context, name string, h Header, r io.Reader, o *ndarray.CreateOptions) (*ndarray.Array, error) {
	to, err := resolve(ctx, name, h, o)
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(h.Shape)
	slices.Reverse(shape)
	part, err := automatic(ctx, shape, h.DType, &ndarray.CreateOptions{})
	if err != nil {
		return nil, err
	}
	temp := ""
	if name != "" {
		path := strings.TrimPrefix(name, "file://")
		dir, err := os.MkdirTemp(paths.Dir(path), ".b2nd-")
		if err != nil {
			return nil, fmt.Errorf("npy: create %s: %w", path, errs.NoDirectory(path, err))
		}
		defer os.RemoveAll(dir)
		temp = paths.Join(dir, "items")
	}
	part.Level, part.NoSync, part.Concurrency = 1, temp != "", to.Concurrency
	part.Blocks = blocksWithin(to.Chunks, part, h.DType.Size)
	t, err := ndarray.FromReader(ctx, temp, shape, h.DType.String(), r, part)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	v, err := ndarray.Transpose(t)
	if err != nil {
		return nil, err
	}
	return ndarray.Copy(ctx, name, v, to)
}

// resolve returns the options of the new array with its partition and compression chosen.
func resolve(ctx context.Context, name string, h Header, o *ndarray.CreateOptions) (*ndarray.CreateOptions, error) {
	var to ndarray.CreateOptions
	if o != nil {
		to = *o
	}
	all, err := automatic(ctx, h.Shape, h.DType, &to)
	if err != nil {
		return nil, err
	}
	if name != "" && !to.Overwrite {
		if _, err := os.Lstat(strings.TrimPrefix(name, "file://")); err == nil {
			return nil, fmt.Errorf("npy: %s: %w", name, errs.EditOrOverwrite(errs.ErrExist))
		}
	}
	if to.Goal == 0 {
		to.Codec, to.CodecMeta, to.Level, to.Filters, to.Split, to.Dict = all.Codec, all.CodecMeta, all.Level, all.Filters, all.Split, all.Dict
	}
	to.Chunks, to.Blocks = all.Chunks, all.Blocks
	return &to, nil
}

// automatic returns the options that an array of zeros gets: those of o, and for those that o leaves out the defaults
// for the shape and dtype.
func automatic(ctx context.Context, shape []int64, d ndarray.DType, o *ndarray.CreateOptions) (*ndarray.CreateOptions, error) {
	z, err := ndarray.Zeros(ctx, "", shape, d.String(), &ndarray.CreateOptions{
		Codec: o.Codec, CodecMeta: o.CodecMeta, Level: o.Level, Filters: o.Filters, Split: o.Split, Dict: o.Dict, Goal: o.Goal,
		DType: o.DType, Chunks: o.Chunks, Blocks: o.Blocks, MaxMemory: o.MaxMemory, Concurrency: o.Concurrency, Codecs: o.Codecs, UserFilters: o.UserFilters,
	})
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.CreateOptions(), nil
}

// blocksWithin returns the shape of the blocks of the temporary array, whose axes are in reverse order. A block that
// lies in one chunk of the new array is decoded only once. Smaller blocks than 4 KiB would cost more than that saves.
func blocksWithin(chunks []int64, temp *ndarray.CreateOptions, itemSize int) []int64 {
	blocks := slices.Clone(chunks)
	slices.Reverse(blocks)
	size := int64(itemSize)
	for i, n := range temp.Chunks {
		blocks[i] = min(blocks[i], n)
		size *= blocks[i]
	}
	if size < 4<<10 {
		return temp.Blocks
	}
	return blocks
}

// Write writes r, or a selection of it, as a .npy file in C order. See ndarray.ToWriter for its memory, its limits, the
// state that it writes, and Locking. It checks the selection before it writes; an error of reading may come after the
// first bytes. The error wraps ErrType of package ndarray if .npy files cannot hold the items, or is an error of
// reading or of w.
func Write(ctx context.Context, w io.Writer, r ndarray.Reader, sel ...ndarray.Index) error {
	ctx = task.Context(ctx)
	held, release, err := ndarray.Hold(ctx, []ndarray.Reader{r}, engine.Internal{}) // header and items are of one state
	if err != nil {
		return err
	}
	defer release()
	r = held[0]
	shape, err := r.SelectionShape(sel...)
	if err != nil {
		return err
	}
	h, err := Header{DType: r.DType(), Shape: shape}.Append(nil)
	if err != nil {
		return err
	}
	if _, err := errs.Write(w, h); err != nil {
		return err
	}
	return ndarray.ToWriter(ctx, w, r, sel...)
}
