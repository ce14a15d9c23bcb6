package ndarray

import (
	"fmt"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/engine"
)

// frameOptions returns the options for opening the frame of an array. The frame checks them.
func (o *OpenOptions) frameOptions() *frame.OpenOptions {
	if o == nil {
		return nil
	}
	return &frame.OpenOptions{
		Concurrency: o.Concurrency, Cache: o.Cache, Mmap: o.Mmap, Locking: o.Locking, NoSync: o.NoSync,
		Verify: o.Verify, RequireChecksums: o.RequireChecksums,
		MaxBytes: o.MaxBytes, MaxMeta: o.MaxMeta, MaxChunks: o.MaxChunks,
		Codecs: o.Codecs, UserFilters: o.UserFilters,
	}
}

// frameOptions returns the options for creating the frame of an array with a name. It does not set what follows from
// the shape and dtype: the item size, the size of blocks and chunks, and the metalayer with the shapes.
func (o *CreateOptions) frameOptions(name string) (frame.CreateOptions, error) {
	for _, l := range o.Meta {
		if l.Name == "b2nd" {
			return frame.CreateOptions{}, paramError("CreateOptions.Meta has a metalayer b2nd, which holds the shapes")
		}
	}
	if o.Overwrite && name == "" && o.Storage == nil {
		return frame.CreateOptions{}, paramError("CreateOptions.Overwrite applies only to an array with a name or a Storage")
	}
	return frame.CreateOptions{
		Params: o.params(), Meta: o.Meta, Sparse: o.Sparse, Overwrite: o.Overwrite, Checksums: o.Checksums,
		Storage: o.Storage, Concurrency: o.Concurrency, Locking: o.Locking, NoSync: o.NoSync,
		Codecs: o.Codecs, UserFilters: o.UserFilters,
	}, nil
}

// paramError returns an error about options.
func paramError(what string) error { return fmt.Errorf("ndarray: %s: %w", what, ErrParam) }

// params returns the compression parameters.
func (o *CreateOptions) params() chunk.Params {
	return chunk.Params{Codec: o.Codec, CodecMeta: o.CodecMeta, Level: o.Level, Filters: o.Filters, Split: o.Split, Dict: o.Dict}
}

// setParams sets the compression parameters.
func (o *CreateOptions) setParams(p chunk.Params) {
	o.Codec, o.CodecMeta, o.Level, o.Filters, o.Split, o.Dict = p.Codec, p.CodecMeta, p.Level, p.Filters, p.Split, p.Dict
}

// compresses reports whether a compression parameter is set.
func (o *CreateOptions) compresses() bool {
	return o.Codec != 0 || o.CodecMeta != 0 || o.Level != 0 || o.Filters != nil || o.Split != 0 || o.Dict
}

// from returns the options with what they leave out taken from like. Metalayers and attributes are not taken.
func (o *CreateOptions) from(like *CreateOptions) *CreateOptions {
	var next CreateOptions
	if o != nil {
		next = *o
	}
	if !next.compresses() {
		next.setParams(like.params())
	}
	if next.Chunks == nil && next.Blocks == nil {
		next.Chunks, next.Blocks = like.Chunks, like.Blocks
	}
	if next.Concurrency == 0 {
		next.Concurrency = like.Concurrency
	}
	next.Checksums = next.Checksums || like.Checksums
	if next.Codecs == nil {
		next.Codecs = like.Codecs
	}
	if next.UserFilters == nil {
		next.UserFilters = like.UserFilters
	}
	return &next
}

// innerOptions returns the options for opening an array that is stored as an attribute.
func innerOptions(o *engine.Options) *OpenOptions {
	return &OpenOptions{
		Concurrency: o.Concurrency, MaxBytes: o.MaxBytes, MaxMeta: o.MaxMeta, MaxChunks: o.MaxChunks,
		Codecs: o.Codecs, UserFilters: o.UserFilters,
	}
}
