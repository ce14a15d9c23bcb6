package engine

import (
	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/meta"
)

// Options are the settings of a frame that is opened or created: the fields of frame.OpenOptions and
// frame.CreateOptions, which document them.
type Options struct {
	// For frames that are created.
	Params     chunk.Params
	Goal       chunk.Goal
	ChunkSize  int
	Meta       []meta.Layer
	VLMeta     []meta.Layer
	Sparse     bool
	Overwrite  bool
	Checksums  bool
	BlockTable bool

	// For all frames.
	UserFilters []chunk.UserFilter
	Prefilter   func(dst, src []byte, b chunk.BlockInfo) error
	Postfilter  func(dst, src []byte, b chunk.BlockInfo) error
	Codecs      []codec.Codec
	Concurrency int
	Locking     bool
	NoSync      bool

	// For frames that are opened.
	MaxBytes         int64
	MaxChunks        int
	MaxMeta          int64
	Verify           bool
	RequireChecksums bool
	Cache            int64
	Mmap             bool
}
