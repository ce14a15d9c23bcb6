package main

import (
	"errors"
	"os"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/ndarray"
)

// source is an open frame, which may hold an array, or an open file with a single chunk.
type source struct {
	path    string
	frame   *frame.Frame
	array   *ndarray.Array // nil if the frame holds no array
	damaged error          // error of opening the array of a frame with the metalayer of an array
	chunk   *chunk.ReaderAt
	file    *os.File     // of the chunk
	store   *store.Store // of a leaf
}

// openSource opens a frame or a file with a single chunk for reading.
func openSource(path string) (*source, error) {
	f, err := frame.Open(path, nil)
	if err != nil {
		if c := openChunk(path, err); c.chunk != nil {
			return c, nil
		} else if c.damaged != nil {
			return nil, c.damaged
		}
		return openInStore(path, err)
	}
	s := &source{path: path, frame: f}
	if s.array, err = ndarray.OpenFrame(f); err != nil && !errors.Is(err, ndarray.ErrNotArray) {
		s.damaged = err
	}
	return s, nil
}

// openChunk opens a file that is not a frame, according to err, as a single chunk. If that fails, it sets damaged if
// the name of the file ends in ".chunk".
func openChunk(path string, err error) *source {
	s := &source{path: path}
	if !errors.Is(err, frame.ErrFormat) {
		return s
	}
	f, openErr := os.Open(path)
	if openErr != nil {
		return s
	}
	if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
		if s.chunk, err = chunk.NewReaderAt(f, fi.Size(), nil); err == nil {
			s.file = f
			return s
		}
		if strings.HasSuffix(path, ".chunk") {
			s.damaged = s.chunkError(err)
		}
	}
	s.chunk = nil
	f.Close()
	return s
}

// chunkError adds the path to an error of a single chunk.
func (s *source) chunkError(err error) error {
	return &frame.Error{Path: s.path, Part: "chunk", Chunk: -1, Off: -1, Err: err}
}

// close closes the frame or the file.
func (s *source) close() {
	if s.frame != nil {
		s.frame.Close()
	}
	if s.file != nil {
		s.file.Close()
	}
	if s.store != nil {
		s.store.Close()
	}
}

// openReadable is like openSource, but returns an error for a frame with a damaged array.
func openReadable(path string) (*source, error) {
	s, err := openSource(path)
	if err == nil && s.damaged != nil {
		s.close()
		return nil, s.damaged
	}
	return s, err
}

// openArray opens an array for reading, or for writing if edit is set.
func openArray(path string, edit bool) (*ndarray.Array, error) {
	if edit {
		path, err := editPath(path)
		if err != nil {
			return nil, err
		}
		return ndarray.Edit(path, nil)
	}
	a, err := ndarray.Open(path, nil)
	if err != nil {
		return openArrayElsewhere(path, err)
	}
	return a, nil
}
