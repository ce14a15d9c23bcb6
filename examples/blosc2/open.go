package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/internal/paths"
	"github.com/goblosc/blosc2/ndarray"
)

// source is an open frame, which may hold an array, or an open file with a single chunk.
type source struct {
	path    string
	frame   *frame.Frame
	array   *ndarray.Array // nil if the frame holds no array
	damaged error          // error of opening the array of a frame with the metalayer of an array
	chunk   *chunkFile
	file    *os.File       // of the chunk
	remote  *remote.Object // of a URL
	dir     *remote.Dir    // of the URL of a directory
	store   *openStore     // of a leaf
}

// openSource opens a frame, or a file with a single chunk, for reading.
func openSource(e *env, path string) (*source, error) {
	e.opened = shownPath(path)
	switch {
	case path == "-":
		return openStdin(e)
	case isURL(path):
		return openURL(e, path)
	}
	if s := openTracked(e, path); s != nil {
		return s, nil
	}
	f, err := openFile(e, path)
	if err != nil {
		if c := openChunk(path, err); c.chunk != nil {
			return c, nil
		} else if c.damaged != nil {
			return nil, c.damaged
		}
		return openInStore(e, path, err)
	}
	s := &source{path: path, frame: f}
	s.findArray()
	e.track.followReads(f.Info().CBytes)
	return s, nil
}

// openFile opens the frame in a file or a directory for reading. If its lock file cannot be used, it reads without it.
func openFile(e *env, path string) (*frame.Frame, error) {
	name, locking := shared(e, path)
	if locking {
		if f, err := frame.Open(e.ctx, name, &frame.OpenOptions{Locking: true}); err == nil {
			return f, nil
		}
	}
	return frame.Open(e.ctx, path, nil)
}

// editFile opens the frame in a file or a directory for editing.
func editFile(e *env, path string) (*frame.Frame, error) {
	name, locking := shared(e, path)
	return frame.Edit(e.ctx, name, &frame.OpenOptions{Locking: locking})
}

// shared reports whether other processes may use a file or a directory under its lock file: there is one, or it is a
// frame and BLOSC_LOCKING asks for it, as C-Blosc2 understands it. It also returns the name to open, which is that of
// the target if path is a symbolic link and only the target has a lock file.
func shared(e *env, path string) (name string, locking bool) {
	plain := paths.Trim(strings.TrimPrefix(path, "file://"))
	if hasLock(plain) {
		return path, true
	}
	if target, err := filepath.EvalSymlinks(plain); err == nil && hasLock(target) {
		return target, true
	}
	switch os.Getenv("BLOSC_LOCKING") {
	case "", "0":
		return path, false
	}
	f, err := frame.Open(e.ctx, path, nil) // opening anything else with its lock file would leave a new one
	if err == nil {
		f.Close()
	}
	return path, err == nil || hasLock(plain)
}

// hasLock reports whether a file or a directory has a lock file.
func hasLock(name string) bool {
	lock := name + ".b2lock"
	if fi, err := os.Stat(name); err == nil && fi.IsDir() {
		lock = paths.Join(name, ".b2lock")
	}
	_, err := os.Lstat(lock)
	return err == nil
}

// arrayIn returns the array in an open frame. It closes the frame after an error.
func arrayIn(f *frame.Frame, err error) (*ndarray.Array, error) {
	if err != nil {
		return nil, err
	}
	a, err := ndarray.OpenFrame(f)
	if err != nil {
		f.Close()
	}
	return a, err
}

// openStdin opens a frame or a chunk on standard input, which it holds in memory.
func openStdin(e *env) (*source, error) {
	b, err := e.stdin()
	if err != nil {
		return nil, err
	}
	s := &source{path: "-"}
	if s.frame, err = openMemory(e, b); err == nil {
		s.findArray()
		return s, nil
	}
	if errors.Is(err, frame.ErrFormat) {
		if c, chunkErr := newChunkFile(bytes.NewReader(b), int64(len(b))); chunkErr == nil {
			s.chunk, s.frame = c, nil
			return s, nil
		}
	}
	err = fmt.Errorf("standard input: %w", err)
	if st, storeErr := newStore(e, "-"); storeErr == nil {
		defer st.close()
		err = storeError(e, st, "-", "/", err)
	}
	return nil, err
}

// openFrame opens a frame for reading. Unlike openSource, it returns an error for a single chunk.
func openFrame(e *env, path string) (*source, error) {
	s, err := openSource(e, path)
	if err == nil && s.frame == nil {
		s.close()
		err = fmt.Errorf("%s: a single chunk, want a frame: %w", s.path, frame.ErrFormat)
	}
	return s, err
}

// findArray opens the array of the frame, if there is one.
func (s *source) findArray() {
	var err error
	if s.array, err = ndarray.OpenFrame(s.frame); err != nil && !errors.Is(err, ndarray.ErrNotArray) {
		s.damaged = err
	}
}

// openChunk opens a file that is not a frame, according to err, as a single chunk. If that fails, it sets damaged if
// the name of the file ends in ".chunk".
func openChunk(path string, err error) *source {
	s := &source{path: path}
	if !errors.Is(err, frame.ErrFormat) {
		return s
	}
	f, size, openErr := openRegular(path)
	if openErr != nil {
		return s
	}
	var chunkErr error
	if s.chunk, chunkErr = newChunkFile(f, size); chunkErr == nil {
		s.file = f
		return s
	}
	if strings.HasSuffix(path, ".chunk") {
		s.damaged = s.chunkError(chunkErr)
	}
	f.Close()
	return s
}

// openRegular opens a regular file and returns its size. Opening a pipe would wait until a process writes to it.
func openRegular(name string) (*os.File, int64, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return nil, 0, err
	}
	if !fi.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: %w", name, errNotRegular)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	if fi, err = f.Stat(); err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, fi.Size(), nil
}

var errNotRegular = errors.New("not a regular file")

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
	if s.remote != nil {
		s.remote.Close()
	}
	if s.dir != nil {
		s.dir.Close()
	}
	if s.store != nil {
		s.store.close()
	}
}

// openReadable is like openSource, but returns an error for a frame with a damaged array.
func openReadable(e *env, path string) (*source, error) {
	s, err := openSource(e, path)
	if err == nil && s.damaged != nil {
		s.close()
		return nil, s.damaged
	}
	return s, err
}

// openArray opens an array for reading. The caller calls done at the end.
func openArray(e *env, path string) (a *ndarray.Array, done func(), err error) {
	e.opened = shownPath(path)
	if s := openTracked(e, path); s != nil && s.array != nil {
		return s.array, s.close, nil
	} else if s != nil {
		s.close()
	}
	if path != "-" && !isURL(path) {
		if a, err = arrayIn(openFile(e, path)); err == nil {
			e.track.followReads(a.Frame().Info().CBytes)
			return a, func() { a.Close() }, nil
		}
		if errors.Is(err, ndarray.ErrNotArray) || errors.Is(err, ndarray.ErrFormat) {
			if a, err := store.OpenTensor(e.ctx, path, nil); err == nil {
				return a, func() { a.Close() }, nil
			} else if errors.Is(err, errors.ErrUnsupported) {
				return nil, nil, err
			}
		}
	}
	openErr := err
	var s *source
	switch {
	case path == "-":
		s, err = openStdin(e)
	case isURL(path):
		s, err = openURL(e, path)
	default:
		s, err = openInStore(e, path, openErr)
	}
	switch {
	case errors.Is(err, ndarray.ErrNotArray):
		return nil, nil, pathKindError(e, path, "an array", err)
	case err != nil:
		return nil, nil, err
	case s.damaged != nil:
		err = s.damaged
	case s.array == nil:
		err = kindError(e, s, "an array", fmt.Errorf("%s: %w", s.path, ndarray.ErrNotArray))
	default:
		return s.array, s.close, nil
	}
	s.close()
	return nil, nil, err
}

// editArray opens an array for editing.
func editArray(e *env, path string) (*ndarray.Array, error) {
	file, err := changePath(e, path)
	if err != nil {
		return nil, err
	}
	a, err := arrayIn(editFile(e, file))
	if errors.Is(err, ndarray.ErrNotArray) {
		err = pathKindError(e, path, "an array", err)
	}
	if err != nil {
		return nil, editError(e, path, err)
	}
	return a, nil
}

// chunkFile is an open file with a single chunk.
type chunkFile struct {
	h     chunk.Header
	src   *io.SectionReader
	coder chunk.Coder
}

// newChunkFile opens the chunk in the first size bytes of r. The chunk can be decoded, as far as its header tells.
func newChunkFile(r io.ReaderAt, size int64) (*chunkFile, error) {
	c := &chunkFile{src: io.NewSectionReader(r, 0, size)}
	var head [32]byte
	n, err := c.src.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if c.h, err = chunk.ParseHeader(head[:n], size); err != nil {
		return nil, err
	}
	if _, err := c.ReadAt(nil, 0); err != nil && err != io.EOF {
		return nil, err
	}
	return c, nil
}

// Header returns the header of the chunk.
func (c *chunkFile) Header() *chunk.Header { return &c.h }

// Size returns the decoded size of the chunk in bytes.
func (c *chunkFile) Size() int64 { return int64(c.h.NBytes) }

// ReadAt decodes the bytes of the chunk from off up into p.
func (c *chunkFile) ReadAt(p []byte, off int64) (int, error) { return c.coder.DecodeAt(p, c.src, off) }
