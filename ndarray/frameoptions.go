package ndarray

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/task"
)

// place is where an array is opened.
type place int

const (
	inFile   place = iota // for reading
	inEdited              // a file or directory, for reading and writing
	inMemory              // memory or an io.ReaderAt, for reading
)

// frameOptions returns the options for opening the frame of an array.
func (o *OpenOptions) frameOptions(at place) (*frame.Options, error) {
	if o == nil {
		return nil, nil
	}
	switch {
	case o.NoSync && at != inEdited:
		return nil, paramError("OpenOptions.NoSync applies only to Edit")
	case o.Mmap && at != inFile:
		return nil, paramError("OpenOptions.Mmap applies only to files that are opened for reading")
	case o.Locking && at == inMemory:
		return nil, paramError("OpenOptions.Locking applies only to files and directories")
	case o.Cache < 0 || o.MaxMeta < 0 || o.MaxChunks < 0 || o.MaxBytes < -1 || o.Concurrency < 0:
		return nil, paramError("OpenOptions has a negative number")
	}
	to := &frame.Options{
		Concurrency: o.Concurrency, Cache: o.Cache, Mmap: o.Mmap, Locking: o.Locking, NoSync: o.NoSync,
		Verify: o.Verify, RequireChecksums: o.RequireChecksums,
		MaxBytes: o.MaxBytes, MaxMeta: o.MaxMeta, MaxChunks: o.MaxChunks,
	}
	if err := setUserCode(to, o.Codecs, o.UserFilters); err != nil {
		return nil, err
	}
	return to, nil
}

// frameOptions returns the options for creating the frame of an array with a name. It does not set what follows from
// the shape and dtype: the item size, the size of blocks and chunks, and the metalayer with the shapes.
func (o *CreateOptions) frameOptions(name string) (frame.Options, error) {
	for _, l := range o.Meta {
		if l.Name == "b2nd" {
			return frame.Options{}, paramError("CreateOptions.Meta has a metalayer b2nd, which holds the shapes")
		}
	}
	switch memory := name == ""; {
	case o.Storage != nil && !memory:
		return frame.Options{}, paramError("CreateOptions.Storage and a name, want one of them")
	case o.Sparse && memory:
		return frame.Options{}, paramError("CreateOptions.Sparse applies only to an array with a name")
	case o.Overwrite && memory:
		return frame.Options{}, paramError("CreateOptions.Overwrite applies only to an array with a name")
	case o.Locking && memory:
		return frame.Options{}, paramError("CreateOptions.Locking applies only to an array with a name")
	case o.Concurrency < 0:
		return frame.Options{}, paramError("CreateOptions.Concurrency is negative")
	case o.Storage != nil:
		return frame.Options{}, fmt.Errorf("ndarray: CreateOptions.Storage: %w", errors.ErrUnsupported)
	}
	to := frame.Options{
		Params: o.params(), Meta: o.Meta, Sparse: o.Sparse, Overwrite: o.Overwrite, Checksums: o.Checksums,
		Concurrency: o.Concurrency, Locking: o.Locking, NoSync: o.NoSync,
	}
	err := setUserCode(&to, o.Codecs, o.UserFilters)
	return to, err
}

// paramError returns an error about options.
func paramError(what string) error { return fmt.Errorf("ndarray: %s: %w", what, ErrParam) }

// setUserCode sets the codecs and filters of a program.
func setUserCode(to *frame.Options, codecs []codec.Codec, userFilters []chunk.UserFilter) error {
	for _, c := range codecs {
		if c == nil {
			return paramError("options: a codec is nil")
		}
		to.Codecs = to.Codecs.With(c)
	}
	for _, f := range userFilters {
		if f == nil {
			return paramError("options: a user filter is nil")
		}
		to.Filters = to.Filters.With(f)
	}
	return nil
}

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

// settings are the options of an open array that other calls use.
type settings struct {
	concurrency int
	maxBytes    int64
	codecs      []codec.Codec
	userFilters []chunk.UserFilter
	maxMeta     int64
	maxChunks   int
}

// settingsOf returns the settings of an open frame.
func settingsOf(f *frame.Frame) settings {
	o := f.Options()
	return settings{concurrency: o.Concurrency, maxBytes: o.MaxBytes, maxMeta: o.MaxMeta, maxChunks: o.MaxChunks}
}

// innerOptions returns the options for opening an array that is stored as an attribute.
func (s *settings) innerOptions() *OpenOptions {
	return &OpenOptions{Concurrency: s.concurrency, MaxBytes: s.maxBytes, MaxMeta: s.maxMeta, MaxChunks: s.maxChunks,
		Codecs: s.codecs, UserFilters: s.userFilters}
}

// openFrame opens the frame in a file or directory.
func openFrame(ctx context.Context, name string, o *OpenOptions, at place) (*frame.Frame, error) {
	fo, err := o.frameOptions(at)
	if err == nil {
		err = task.Context(ctx).Err()
	}
	if err != nil {
		return nil, err
	}
	if at == inEdited {
		return frame.Edit(name, fo)
	}
	return frame.Open(name, fo)
}

// openFrameAt opens the frame in a reader.
func openFrameAt(ctx context.Context, r io.ReaderAt, size int64, o *OpenOptions) (*frame.Frame, error) {
	fo, err := o.frameOptions(inMemory)
	if err == nil {
		err = task.Context(ctx).Err()
	}
	if err != nil {
		return nil, err
	}
	return frame.OpenReaderAt(r, size, fo)
}

// openFrameBytes opens the frame in memory.
func openFrameBytes(b []byte, o *OpenOptions) (*frame.Frame, error) {
	fo, err := o.frameOptions(inMemory)
	if err != nil {
		return nil, err
	}
	return frame.OpenBytes(b, fo)
}

// createFrame creates a frame, in memory if the name is empty.
func createFrame(ctx context.Context, name string, o *frame.Options, fill func(b *frame.Batch) error) (*frame.Frame, error) {
	if name == "" {
		return frame.CreateMemory(o, fill)
	}
	return frame.CreateContext(ctx, name, o, fill)
}

// saveFrame writes a frame without dead bytes.
func saveFrame(ctx context.Context, w io.Writer, f *frame.Frame) (int64, error) {
	if err := task.Context(ctx).Err(); err != nil {
		return 0, err
	}
	b, err := f.AppendTo(nil)
	if err != nil {
		return 0, err
	}
	n, err := w.Write(b)
	return int64(n), err
}

// refreshFrame switches a frame to the state that is stored now.
func refreshFrame(ctx context.Context, f *frame.Frame) (bool, error) {
	if err := task.Context(ctx).Err(); err != nil {
		return false, err
	}
	return f.Refresh()
}
