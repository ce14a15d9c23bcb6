// Package frames holds all calls of packages chunk, frame and ndarray that open something or read bytes.
package frames

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// OpenFrame opens the frame in the first size bytes of r.
func OpenFrame(ctx context.Context, r io.ReaderAt, size int64, o *frame.Options) (*frame.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return frame.OpenReaderAt(r, size, o)
}

// Content returns the decoded bytes of a frame.
func Content(_ context.Context, f *frame.Frame) *io.SectionReader { return f.Reader() }

// ReadChunk appends the decoded bytes of chunk i to dst.
func ReadChunk(ctx context.Context, f *frame.Frame, dst []byte, i int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return f.ReadChunk(dst, i)
}

// ReadBlock appends the decoded bytes of block k of chunk i to dst.
func ReadBlock(ctx context.Context, f *frame.Frame, dst []byte, i, k int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return f.ReadBlock(dst, i, k)
}

// ChunkInfo describes chunk i.
func ChunkInfo(ctx context.Context, f *frame.Frame, i int) (frame.ChunkInfo, error) {
	if err := ctx.Err(); err != nil {
		return frame.ChunkInfo{}, err
	}
	return f.ChunkInfo(i)
}

// OpenArray returns the array in a frame, which it then owns.
func OpenArray(_ context.Context, f *frame.Frame) (*ndarray.Array, error) {
	return ndarray.OpenFrame(f)
}

// DecodedSize returns the number of decoded bytes of a frame.
func DecodedSize(f *frame.Frame) int64 { return f.Info().NBytes }

// MetaLayer returns the content of a fixed metalayer, and whether it exists.
func MetaLayer(f *frame.Frame, name string) ([]byte, bool) {
	for _, l := range f.Meta() {
		if l.Name == name {
			return l.Content, true
		}
	}
	return nil, false
}

// VLMeta returns the content of a variable-length metalayer, and whether it exists.
func VLMeta(f *frame.Frame, name string) ([]byte, bool, error) {
	if !slices.Contains(f.VLMetaNames(), name) {
		return nil, false, nil
	}
	b, err := f.VLMeta(name)
	return b, err == nil, err
}

// ArrayFromReader returns an array in memory with items from r.
func ArrayFromReader(ctx context.Context, shape []int64, dtype string, r io.Reader) (*ndarray.Array, error) {
	return ndarray.FromReader(ctx, "", shape, dtype, r, nil)
}

// IsPickledChunk reports whether b is a chunk that holds a pickle.
func IsPickledChunk(b []byte) bool {
	content, err := chunk.Decode(nil, b, nil)
	return err == nil && IsPickle(content)
}

// IsPickle reports whether bytes begin as a pickle of protocol 2 to 5 does.
func IsPickle(b []byte) bool { return len(b) >= 2 && b[0] == 0x80 && b[1] >= 2 && b[1] <= 5 }

// Unmarshal is meta.Unmarshal with the errors of this package.
func Unmarshal(b []byte, v any) error {
	err := meta.Unmarshal(b, v)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, meta.ErrType):
		return fmt.Errorf("%w (%w)", faults.ErrType, err)
	}
	return fmt.Errorf("%w (%w)", faults.ErrCorrupt, err)
}

// UnmarshalMeta is meta.Unmarshal for values of the format: any other value is corrupt.
func UnmarshalMeta(b []byte, v any) error {
	if err := meta.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w (%w)", faults.ErrCorrupt, err)
	}
	return nil
}
