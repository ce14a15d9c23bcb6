package storage

import (
	"context"
	"fmt"
	"io"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/ranges"
)

// Source is frame.Source.
type Source interface {
	ReadAtContext(ctx context.Context, p []byte, off int64) (int, error)
	Size() int64
}

// Refresher is an optional interface of a Source: it updates the size of the stored bytes.
type Refresher interface {
	Refresh(ctx context.Context) error
}

// RangeReader is an optional interface of a Source: it reads many ranges with few requests. See frame.Source.
type RangeReader interface {
	ReadRanges(ctx context.Context, want []ranges.Range, got func(i int, at int64, b []byte) error) error
}

// Gapper is an optional interface of a RangeReader: Gap returns the largest gap between two ranges that ReadRanges
// reads with them.
type Gapper interface{ Gap() int64 }

// MaxRoundTripBytes is the largest number of bytes that a read takes to save a round trip.
const MaxRoundTripBytes = 1 << 20

// Costs are the optional methods Gap and RoundTripBytes of a RangeReader with a Gap.
type Costs struct{ Gapper }

// RoundTripBytes returns the number of bytes that arrive in the time of a round trip, at most MaxRoundTripBytes: that
// number if the method is missing, and 0 if the gap is 0.
func (c Costs) RoundTripBytes() int64 {
	n := int64(MaxRoundTripBytes)
	if r, ok := c.Gapper.(interface{ RoundTripBytes() int64 }); ok {
		n = min(n, max(r.RoundTripBytes(), 0))
	}
	if c.Gap() == 0 {
		n = 0
	}
	return n
}

// ChunkFiles is an optional interface of a Source, for a sparse frame: it returns the offset of a chunk file.
type ChunkFiles interface{ ChunkOffset(n int64) int64 }

// Ranges returns the source of src if it is a RangeReader, or nil.
func Ranges(src io.ReaderAt) RangeReader {
	if s, ok := src.(*SourceBytes); ok {
		r, _ := s.src.(RangeReader)
		return r
	}
	return nil
}

// Owned is a Source that belongs to the frame that reads it: Close closes it.
type Owned struct {
	Source
	io.Closer
}

// SourceBytes is a Source as read-only Bytes. Its methods without a context wait as long as the source does.
type SourceBytes struct {
	src    Source
	closer io.Closer // nil if the source does not belong to the frame
}

// FromSource returns the bytes of src. Close closes an Owned source, and no other.
func FromSource(src Source) *SourceBytes {
	if o, ok := src.(Owned); ok {
		return &SourceBytes{o.Source, o.Closer}
	}
	return &SourceBytes{src: src}
}

// FromReader returns the first size bytes of r. Each read checks its context first. Close does nothing.
func FromReader(r io.ReaderAt, size int64) *SourceBytes { return FromSource(readerSource{r, size}) }

// ReadAt implements io.ReaderAt.
func (s *SourceBytes) ReadAt(p []byte, off int64) (int, error) {
	return s.src.ReadAtContext(context.Background(), p, off)
}

// Refresh calls the Refresh of the source if it has one.
func (s *SourceBytes) Refresh(ctx context.Context) error {
	if r, ok := s.src.(Refresher); ok {
		return r.Refresh(ctx)
	}
	return nil
}

// Size returns the size of the source.
func (s *SourceBytes) Size() (int64, error) { return s.src.Size(), nil }

// Name returns the name of the source if it is a fmt.Stringer, or "".
func (s *SourceBytes) Name() string {
	if n, ok := s.src.(fmt.Stringer); ok {
		return n.String()
	}
	return ""
}

// Files returns the source if it is the source of a sparse frame, or nil.
func (s *SourceBytes) Files() ChunkFiles {
	f, _ := s.src.(ChunkFiles)
	return f
}

// WriteAt returns ErrReadOnly.
func (s *SourceBytes) WriteAt([]byte, int64) (int, error) { return 0, errs.ErrReadOnly }

// Truncate returns ErrReadOnly.
func (s *SourceBytes) Truncate(int64) error { return errs.ErrReadOnly }

// Sync returns ErrReadOnly.
func (s *SourceBytes) Sync() error { return errs.ErrReadOnly }

// Close closes a source that belongs to the frame.
func (s *SourceBytes) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// readerSource is an io.ReaderAt as a Source.
type readerSource struct {
	r    io.ReaderAt
	size int64
}

func (s readerSource) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.ReadAt(p, off)
}

func (s readerSource) Size() int64 { return s.size }

// Bound reads from a Source with the context of one call.
type Bound struct {
	ctx context.Context
	src Source
}

// Bind returns b as a reader of src with a context, or src if that takes none.
func (b *Bound) Bind(ctx context.Context, src io.ReaderAt) io.ReaderAt {
	s, ok := src.(*SourceBytes)
	if !ok {
		return src
	}
	b.ctx, b.src = ctx, s.src
	return b
}

// Bind returns a reader of src with a context, or src if that takes none.
func Bind(ctx context.Context, src io.ReaderAt) io.ReaderAt {
	if _, ok := src.(*SourceBytes); !ok {
		return src
	}
	return new(Bound).Bind(ctx, src)
}

// ReadAt implements io.ReaderAt.
func (b *Bound) ReadAt(p []byte, off int64) (int, error) { return b.src.ReadAtContext(b.ctx, p, off) }
