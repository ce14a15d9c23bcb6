package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray"
)

// OpenTensor opens a file of python-blosc2's save_tensor, save_array or pack_array2 as an array in memory. It uses only
// the option Frames. Other options return ErrParam. The files of save_array in old versions, and the results of pack
// and pack_array, hold pickles: OpenTensor returns errors.ErrUnsupported for them, because loading a pickle can execute
// any code.
func OpenTensor(ctx context.Context, name string, o *OpenOptions) (*ndarray.Array, error) {
	ctx = task.Context(ctx)
	a, err := openTensor(ctx, name, o)
	if err != nil {
		return nil, fmt.Errorf("store: opening %s: %w", name, err)
	}
	return a, nil
}

func openTensor(ctx context.Context, name string, o *OpenOptions) (*ndarray.Array, error) {
	if err := o.check(false); err != nil {
		return nil, err
	}
	if o != nil && o.MaxLeaves != 0 {
		return nil, fmt.Errorf("option MaxLeaves is for stores: %w", ErrParam)
	}
	file, err := o.system().Open(name, os.O_RDONLY, 0) // not a pipe, which would wait for a writer
	if err != nil {
		return nil, err
	}
	defer file.Close()
	fi, err := file.Stat()
	if err != nil {
		return nil, err
	}
	fo := o.frames()
	f, err := frame.OpenReaderAt(ctx, file, fi.Size(), &fo)
	if errors.Is(err, ErrFormat) && isPickledChunk(file, fi.Size(), fo.MaxBytes) {
		return nil, errPickle()
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if kindOf(f) != KindTensor {
		return nil, notTensor(ctx, f)
	}
	return copyTensor(ctx, f)
}

// notTensor returns the error for a frame that holds no tensor.
func notTensor(ctx context.Context, f *frame.Frame) error {
	var head [2]byte
	if _, err := f.Content(ctx).ReadAt(head[:], 0); err == nil && frames.IsPickle(head[:]) {
		return errPickle()
	}
	return faults.Formatf("%s, not a tensor", kindOf(f))
}

// errPickle returns the error for pickles.
func errPickle() error {
	return faults.Unsupportedf("a pickled Python object, which is not loaded because it can execute any code; save it with save_tensor")
}

// isPickledChunk reports whether a file holds a chunk with a pickle. It decodes the first block at most.
func isPickledChunk(r io.ReaderAt, size, maxBytes int64) bool {
	var head [2]byte
	c := chunk.Coder{MaxBytes: maxBytes}
	n, err := c.DecodeAt(head[:], io.NewSectionReader(r, 0, size), 0)
	return n == len(head) && (err == nil || err == io.EOF) && frames.IsPickle(head[:])
}
