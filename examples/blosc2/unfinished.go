package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/goblosc/blosc2/frame"
)

// verifyUnfinished decodes the chunks that are written of a frame that several processes fill. It reports damaged ones
// as faults, and returns an error with the number of intact ones. Writers may go on at the same time.
func verifyUnfinished(e *env, path string, report func(error) error) error {
	r, err := frame.OpenRegions(e.ctx, path, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	missing := map[int]bool{} // or with a wrong header or length
	for i, err := range r.Missing(e.ctx) {
		if err != nil {
			return err
		}
		missing[i] = true
	}
	n, intact, damaged := r.Layout().NumChunks(), 0, 0
	for i := range n {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		fault, err := verifyChunkFile(filepath.Join(path, fmt.Sprintf("%08X.chunk", i)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case fault == nil && missing[i]:
			fault = fmt.Errorf("wrong header or length: %w", frame.ErrCorrupt)
		}
		if fault == nil {
			intact++
			continue
		}
		damaged++
		if err := report(&frame.Error{Path: path, Part: "chunk", Chunk: i, Off: -1, Err: fault}); err != nil {
			return err
		}
	}
	if damaged > 0 {
		return fmt.Errorf("%s: faults found: %d; intact: %d of %d chunks: %w", path, damaged, intact, n, frame.ErrUnfinished)
	}
	return fmt.Errorf("%s: no faults; %d of %d chunks are written: %w", path, intact, n, frame.ErrUnfinished)
}

// verifyChunkFile decodes the chunk in a file and returns its first fault. The error is one of the operating system.
func verifyChunkFile(name string) (fault, err error) {
	f, size, err := openRegular(name)
	switch {
	case errors.Is(err, errNotRegular):
		return err, nil
	case err != nil:
		return nil, err
	}
	defer f.Close()
	c, err := newChunkFile(f, size)
	if err != nil {
		return err, nil
	}
	errFault := errors.New("fault")
	err = verifyChunk(&source{path: name, chunk: c}, func(err error) error {
		var at *frame.Error
		if fault = err; errors.As(err, &at) {
			fault = at.Err // without the path
		}
		return errFault
	})
	if err == errFault {
		err = nil
	}
	return fault, err
}
