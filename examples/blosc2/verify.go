package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
)

// verifyCmd decodes everything and prints a line for each fault.
type verifyCmd struct {
	progressOption
	RequireChecksums bool   `name:"require-checksums" help:"report missing checksums as a fault"`
	Path             string `arg:"" name:"PATH"`
}

// Help describes the verb.
func (verifyCmd) Help() string {
	return `
Reads all parts of PATH, decodes everything, and compares it with its checksums if it has any (see -checksums of blosc2
create). Another library may have edited PATH without updating the checksums. Each fault is a line on standard output
with its location, and the exit status is then 1. For an intact PATH, nothing is written to standard output. If a frame
has no checksums, a note on standard error says so: damage to data that still decodes is then not detected. If PATH
holds only the metadata of data elsewhere, such as a lazy expression of python-blosc2, or lacks chunks that a cache of
python-blosc2 has not fetched, a note says so.
If several processes fill an array and it is not finished, the chunks that are written are decoded. The error has their
number, and the exit status is 1.
Notes also name temporary files that killed processes have left beside PATH or in it.
`
}

// Run runs the verb.
func (v *verifyCmd) Run(e *env) error {
	defer e.count(v.progressOption)()
	defer noteLeftovers(e, v.Path)
	faults, checked, elsewhere := 0, false, ""
	report := func(err error) error {
		if ctxErr := e.ctx.Err(); ctxErr != nil {
			return ctxErr
		}
		if note := elsewhereNote(err); note != "" {
			elsewhere = note
			return nil
		}
		faults++
		_, err = fmt.Fprintln(e.out, oneLine(named(err, e.opened)))
		return err
	}
	s, err := openSource(e, v.Path)
	switch {
	case errors.Is(err, frame.ErrUnfinished):
		return verifyUnfinished(e, v.Path, report)
	case isFault(err):
		err = report(err)
	case err == nil:
		checked = s.frame != nil && s.frame.Info().Checksums
		if err = verifySource(e.ctx, s, report); err == nil && v.RequireChecksums && !checked {
			err = report(&frame.Error{Path: s.path, Part: "checksums", Chunk: -1, Off: -1, Err: errMissing{}})
		}
		s.close()
	}
	if err == nil && faults == 0 && elsewhere != "" {
		e.note(v.Path + ": " + elsewhere)
	}
	switch {
	case err != nil:
	case faults > 0:
		err = fmt.Errorf("%s: faults found: %d", v.Path, faults)
	case elsewhere == allElsewhere:
	case s.frame != nil && !checked:
		e.note(v.Path + ": no checksums, so damage to data that still decodes is not detected")
	}
	return err
}

// isFault reports whether an error is about the contents of a file, not about the request or the operating system.
func isFault(err error) bool {
	return errors.Is(err, frame.ErrCorrupt) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, frame.ErrTooLarge)
}

// allElsewhere is the note about a frame of which python-blosc2 has stored only metadata.
const allElsewhere = "the data is elsewhere, so only the metadata was checked"

// elsewhereNote returns a note if the fault of an open frame is that python-blosc2 has stored only metadata in it, or
// that a cache has not fetched all chunks. Otherwise it returns "".
func elsewhereNote(err error) string {
	var fault *frame.Error
	switch {
	case !errors.Is(err, errs.ErrElsewhere) || !errors.As(err, &fault):
		return ""
	case fault.Chunk >= 0:
		return "some chunks are elsewhere and were not checked"
	}
	return allElsewhere
}

// verifySource reports the faults of an open source.
func verifySource(ctx context.Context, s *source, report func(error) error) error {
	if s.chunk != nil {
		return verifyChunk(s, report)
	}
	if s.damaged != nil {
		if err := report(s.damaged); err != nil {
			return err
		}
	}
	if s.array != nil {
		if err := verifyDType(s, report); err != nil {
			return err
		}
	}
	return s.frame.Verify(ctx, report)
}

// errMissing is the fault of a frame or chunk without checksums.
type errMissing struct{}

func (errMissing) Error() string { return "missing" }

func (errMissing) Unwrap() error { return frame.ErrChecksum }

// verifyDType checks the dtype of an array against its items.
func verifyDType(s *source, report func(error) error) error {
	text, format := storedDType(s.array)
	if text == "" && format == 0 {
		return nil // none is stored
	}
	d, err := meta.ParseDType(text)
	fault := func(format string, args ...any) error {
		return report(&frame.Error{Path: s.path, Part: "dtype", Chunk: -1, Off: -1, Err: fmt.Errorf(format, args...)})
	}
	switch {
	case format != 0:
		return fault("format %d: %w", format, errors.ErrUnsupported)
	case err != nil:
		return fault("%w", err)
	case d.Size != s.array.DType().Size:
		return fault("%q has %d bytes, but items have %d: %w", text, d.Size, s.array.DType().Size, frame.ErrCorrupt)
	}
	return nil
}

// verifyChunk decodes a single chunk block by block.
func verifyChunk(s *source, report func(error) error) error {
	h := s.chunk.Header()
	if extra := s.chunk.src.Size() - int64(h.CBytes); extra > 0 {
		if err := report(s.chunkError(fmt.Errorf("%d bytes after the end of the chunk: %w", extra, frame.ErrCorrupt))); err != nil {
			return err
		}
	}
	size := s.chunk.Size()
	if h.Special != chunk.Regular || size == 0 {
		return nil
	}
	step := int64(max(h.Params.BlockSize, 1))
	if h.VarBlocks {
		step = size
	}
	buf := make([]byte, min(step, size))
	for at := int64(0); at < size; at += step {
		n := min(step, size-at)
		if _, err := s.chunk.ReadAt(buf[:n], at); err != nil && err != io.EOF {
			if err := report(s.chunkError(err)); err != nil {
				return err
			}
		}
	}
	return nil
}
