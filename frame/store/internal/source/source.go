// Package source holds the sources of bytes that the files of a store are read from.
package source

import (
	"context"
	"fmt"
	"io"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/internal/storage"
)

// Source is frame.Source.
type Source interface {
	ReadAtContext(ctx context.Context, p []byte, off int64) (int, error)
	Size() int64
}

// FromReader returns the first size bytes of r. A context is looked at before each read.
func FromReader(r io.ReaderAt, size int64) Source { return reader{r, size} }

type reader struct {
	r    io.ReaderAt
	size int64
}

func (s reader) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.ReadAt(p, off)
}

func (s reader) Size() int64 { return s.size }

// RangeReader is an optional interface of a frame.Source.
type RangeReader interface {
	ReadRanges(ctx context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error
}

// Gapper is an optional interface of a RangeReader: see frame.Source.
type Gapper = storage.Gapper

// Costs are the optional methods of a RangeReader with a Gap.
type Costs = storage.Costs

// Refresh calls the Refresh of src if it has one.
func Refresh(ctx context.Context, src Source) error {
	if r, ok := src.(storage.Refresher); ok {
		return r.Refresh(ctx)
	}
	return nil
}

// Section returns the size bytes of src that start at off. They must exist. It is a RangeReader and a Gapper if src is
// one. Its Refresh is that of src.
func Section(src Source, off, size int64) Source {
	s := section{src, off, size}
	r, ok := src.(RangeReader)
	if !ok {
		return s
	}
	if g, ok := src.(Gapper); ok {
		return gappedSection{rangedSection{s, r}, Costs{Gapper: g}}
	}
	return rangedSection{s, r}
}

// gappedSection is a section of a RangeReader with a Gap.
type gappedSection struct {
	rangedSection
	Costs
}

// rangedSection is a section of a RangeReader.
type rangedSection struct {
	section
	whole RangeReader
}

func (s rangedSection) ReadRanges(ctx context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error {
	moved := make([]frame.Range, len(want))
	for i, r := range want {
		if r.Off < 0 || r.Len < 0 || r.Off > s.size-r.Len {
			return fmt.Errorf("%d bytes at %d of %d bytes: %w", r.Len, r.Off, s.size, frame.ErrBounds)
		}
		moved[i] = frame.Range{Off: s.off + r.Off, Len: r.Len}
	}
	return s.whole.ReadRanges(ctx, moved, got)
}

// Named returns src as a fmt.Stringer with a name. It is a RangeReader and a Gapper if src is one. Its Refresh is that
// of src.
func Named(src Source, name string) Source {
	n := named{src, name}
	r, ok := src.(RangeReader)
	if !ok {
		return n
	}
	if g, ok := src.(Gapper); ok {
		return gappedNamed{rangedNamed{n, r}, Costs{Gapper: g}}
	}
	return rangedNamed{n, r}
}

type named struct {
	Source
	name string
}

func (n named) String() string { return n.name }

func (n named) Refresh(ctx context.Context) error { return Refresh(ctx, n.Source) }

// rangedNamed is a named RangeReader.
type rangedNamed struct {
	named
	RangeReader
}

// gappedNamed is a named RangeReader with a Gap.
type gappedNamed struct {
	rangedNamed
	Costs
}

type section struct {
	src       Source
	off, size int64
}

func (s section) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 || off >= s.size {
		return 0, io.EOF
	}
	most := s.size - off
	if int64(len(p)) <= most {
		return s.src.ReadAtContext(ctx, p, s.off+off)
	}
	n, err := s.src.ReadAtContext(ctx, p[:most], s.off+off)
	if err == nil {
		err = io.EOF
	}
	return n, err
}

func (s section) Size() int64 { return s.size }

func (s section) Refresh(ctx context.Context) error { return Refresh(ctx, s.src) }

// Reader returns a reader of src under a context.
func Reader(ctx context.Context, src Source) *io.SectionReader {
	return io.NewSectionReader(bound{ctx, src}, 0, src.Size())
}

type bound struct {
	ctx context.Context
	src Source
}

func (b bound) ReadAt(p []byte, off int64) (int, error) { return b.src.ReadAtContext(b.ctx, p, off) }
