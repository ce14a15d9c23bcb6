package main

import (
	"errors"
	"os"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// source is what a path leads to: a frame, which may hold an array, or a bare chunk.
type source struct {
	path   string
	frame  *frame.Frame
	array  *ndarray.Array // nil when the frame holds none
	broken error          // why the frame, which should hold an array, does not
	chunk  *chunk.ReaderAt
	file   *os.File // of the chunk
}

// openSource opens what a path leads to for reading.
func openSource(path string) (*source, error) {
	f, err := frame.Open(path, nil)
	if err != nil {
		if c := openChunk(path, err); c.chunk != nil {
			return c, nil
		} else if c.broken != nil {
			return nil, c.broken
		}
		return nil, err
	}
	s := &source{path: path, frame: f}
	if s.array, err = ndarray.FromFrame(f); err != nil && !errors.Is(err, ndarray.ErrNotArray) {
		s.broken = err
	}
	return s, nil
}

// openChunk opens a file that is no frame, which err says, as a chunk. A file that is none is broken only when its
// name promises one.
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
			s.broken = s.chunkError(err)
		}
	}
	s.chunk = nil
	f.Close()
	return s
}

// chunkError says which file an error of a bare chunk belongs to.
func (s *source) chunkError(err error) error {
	return &frame.Error{Path: s.path, Part: "chunk", Chunk: -1, Off: -1, Err: err}
}

// close releases what was opened.
func (s *source) close() {
	if s.frame != nil {
		s.frame.Close()
	}
	if s.file != nil {
		s.file.Close()
	}
}

// openReadable is openSource for verbs that need the content: a frame whose array is broken is an error.
func openReadable(path string) (*source, error) {
	s, err := openSource(path)
	if err == nil && s.broken != nil {
		s.close()
		return nil, s.broken
	}
	return s, err
}

// openArray opens an array for reading or, with edit, for writing.
func openArray(path string, edit bool) (*ndarray.Array, error) {
	if edit {
		return ndarray.Edit(path, nil)
	}
	return ndarray.Open(path, nil)
}
