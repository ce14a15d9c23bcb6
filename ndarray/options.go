package ndarray

import (
	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
)

// Options are the options for opening or creating an array. A nil *Options and zero fields select the defaults. The
// options of the frame are embedded: opts.Params.Codec = codec.LZ4, opts.Sparse = true, opts.Concurrency = 4 and so
// on. Params.TypeSize, Params.BlockSize, ChunkSize and the metalayer "b2nd" are ignored, because they follow from the
// array.
type Options struct {
	frame.Options

	// Chunks and Blocks are the numbers of items in a chunk and in a block along each axis of a new array. nil selects
	// the shapes that python-blosc2 chooses on a machine with a second-level cache of 256 KiB.
	Chunks []int32
	Blocks []int32

	// MaxDims is the limit for opening: an array of more dimensions is rejected with ErrTooLarge. 0 means 16, the limit
	// of the format.
	MaxDims int

	// DType replaces the stored NumPy dtype of an array that is opened. It must have the same item size. Use it for
	// Caterva arrays, which have no stored dtype; without it their items are raw bytes. For Create, DType replaces the
	// result of DTypeOf; "S" and "U" get the length of the longest string.
	DType string
}

// frameOptions returns the options of the frame of an array.
func (o *Options) frameOptions() *frame.Options {
	if o == nil {
		return nil
	}
	return &o.Options
}

// blockHint returns the preferred size of a block in bytes if the codec or a filter depends on the shape of a block, or
// 0.
func blockHint(p chunk.Params) (int64, error) {
	if !p.Shaped() {
		return 0, nil
	}
	p.BlockSize = 0
	n, err := p.BlockSizeFor(8 << 20)
	return int64(n), err
}
