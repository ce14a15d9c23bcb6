package ndarray

import (
	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
)

// Options say how an array is opened or created. A nil *Options and zero fields are the defaults. The options of
// the frame are embedded: opts.CParams.Codec = codec.LZ4, opts.Sparse = true, opts.Concurrency = 4 and so on.
// CParams.TypeSize and CParams.BlockSize, ChunkSize and the metalayer "b2nd" follow from the array and are not read.
type Options struct {
	frame.Options

	// For arrays that are created: items in a chunk and in a block along each axis, the first axis first. nil
	// chooses as python-blosc2 does on a machine with a second-level cache of 256 KiB.
	Chunks []int32
	Blocks []int32

	// For arrays that are opened: those of more dimensions are an ErrTooLarge. 0 = the 16 that the format has.
	MaxDims int

	// For arrays that are opened: the NumPy dtype to take their items for, in place of the stored one. It must have
	// their item size. Arrays of Caterva have no dtype of their own and else read as strings of bytes. For Create: the
	// dtype of the items, in place of that of DTypeOf; "S" and "U" are as long as the longest string.
	DType string
}

// frameOptions returns the options of the frame of an array.
func (o *Options) frameOptions() *frame.Options {
	if o == nil {
		return nil
	}
	return &o.Options
}

// blockHint returns the wished size of a block in bytes for compression parameters that work on the shape of a
// block, or 0.
func blockHint(p chunk.CParams) (int64, error) {
	if !p.Shaped() {
		return 0, nil
	}
	p.BlockSize = 0
	n, err := p.BlockSizeFor(8 << 20)
	return int64(n), err
}
