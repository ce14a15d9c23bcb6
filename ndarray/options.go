package ndarray

import (
	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/engine"
)

// Options are the options for opening or creating an array. A nil *Options and zero fields select the defaults. The
// options of the frame are embedded: opts.Params.Codec = codec.LZ4, opts.Sparse = true, opts.Concurrency = 4 and so
// on. Params.TypeSize, Params.BlockSize, ChunkSize and the metalayer "b2nd" are ignored, because they follow from the
// array.
type Options struct {
	engine.Options

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

// openOptions returns the options for opening the frame of an array: those that apply if it is opened for editing or not,
// and by a name or not.
func (o *Options) openOptions(edit, named bool) *frame.OpenOptions {
	if o == nil {
		return nil
	}
	f := &frame.OpenOptions{
		Concurrency: o.Concurrency, Cache: o.Cache, Mmap: o.Mmap && named && !edit, Locking: o.Locking && named, NoSync: o.NoSync && edit,
		Verify: o.Verify, RequireChecksums: o.RequireChecksums, MaxBytes: o.MaxBytes, MaxMeta: o.MaxMeta, MaxChunks: o.MaxChunks,
		Codecs: o.Codecs, Filters: o.Filters, Postfilter: o.Postfilter,
	}
	if edit {
		f.Prefilter = o.Prefilter
	}
	if o.Postfilter != nil {
		f.Cache = 0
	}
	return f
}

// createOptions returns the options for creating the frame of an array.
func createOptions(o *engine.Options, name string) *frame.CreateOptions {
	return &frame.CreateOptions{
		Params: o.Params, ChunkSize: o.ChunkSize, Meta: o.Meta, VLMeta: o.VLMeta, Checksums: o.Checksums || o.RequireChecksums,
		Sparse: o.Sparse && name != "", Overwrite: o.Overwrite, Concurrency: o.Concurrency, Locking: o.Locking && name != "", NoSync: o.NoSync,
		Codecs: o.Codecs, Filters: o.Filters, Prefilter: o.Prefilter, Postfilter: o.Postfilter,
	}
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
