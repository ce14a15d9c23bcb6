package serve

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/ndarray"
)

// entry is an open file: a frame, with an array if it has one, or a store.
type entry struct {
	key    entryKey
	stamp  stamp  // guarded by the cache while the entry is being opened
	parent *entry // the store of a leaf
	cache  *cache
	refs   int           // guarded by the cache
	size   int64         // bytes in memory, guarded by the cache; 0 while the entry is being opened
	ready  chan struct{} // closed when the fields below are set
	err    error

	file    *os.File // nil for a leaf and a sparse frame
	frame   *frame.Frame
	array   *ndarray.Array
	noArray error // why array is nil
	store   *store.Store
}

// close closes the files of an entry.
func (e *entry) close() {
	switch {
	case e.array != nil:
		e.array.Close()
	case e.frame != nil:
		e.frame.Close()
	}
	if e.store != nil {
		e.store.Close()
	}
	if e.file != nil {
		e.file.Close()
	}
}

// memory returns about how many bytes an open entry takes. A leaf keeps its store open, and has the bytes of both.
func (e *entry) memory() int64 {
	n := int64(9000)
	if e.frame != nil {
		n += 8 * int64(e.frame.Info().NumChunks)
	}
	if e.parent != nil {
		n += e.parent.size
	}
	return n
}

// release gives up the reference of a request.
func (e *entry) release() { e.cache.release(e) }

// open returns the open frame of a target. The caller releases it.
func (s *Server) open(ctx context.Context, t target) (*entry, error) {
	switch {
	case t.info.IsDir():
		index, err := s.sparseIndex(t)
		if err != nil {
			return nil, fmt.Errorf("a directory that holds no sparse frame: %w", ndarray.ErrNotArray)
		}
		return s.cache.acquire(ctx, entryKey{t.name, ""}, stampOf(index), nil, func(ctx context.Context, e *entry) error {
			return s.openSparse(ctx, e, t)
		})
	case t.key == "" && filepath.Ext(t.name) != ".b2z":
		return s.cache.acquire(ctx, entryKey{t.name, ""}, stampOf(t.info), nil, func(ctx context.Context, e *entry) error {
			return s.openFile(ctx, e, false)
		})
	}
	st, err := s.openStore(ctx, t)
	if err != nil {
		return nil, err
	}
	defer st.release()
	if t.key == "" {
		return nil, noLeaf(ctx, st, t, ndarray.ErrNotArray)
	}
	return s.cache.acquire(ctx, entryKey{t.name, "/" + t.key}, st.stamp, st, func(ctx context.Context, e *entry) error {
		f, err := st.store.Frame(ctx, e.key.leaf)
		if err != nil {
			return noLeaf(ctx, st, t, err)
		}
		e.setFrame(f)
		return nil
	})
}

// noLeaf returns the error for a target in a store that is no leaf but a group or a table, or otherwise err.
func noLeaf(ctx context.Context, st *entry, t target, err error) error {
	found, statErr := st.store.Stat(ctx, "/"+t.key)
	at := path.Join("/", filepath.ToSlash(t.name), t.key)
	switch {
	case statErr == nil && found.Kind == store.KindTable:
		return fmt.Errorf("%s is a table; select from one of its columns, %s/_cols/NAME: %w", at, at, ndarray.ErrNotArray)
	case statErr == nil && found.Kind == store.KindGroup:
		return fmt.Errorf("%s holds arrays; select from one of them, which %s/ lists: %w", at, at, ndarray.ErrNotArray)
	}
	return err
}

// openStore returns the open store in the file of a target. The caller releases it.
func (s *Server) openStore(ctx context.Context, t target) (*entry, error) {
	return s.cache.acquire(ctx, entryKey{t.name, "/"}, stampOf(t.info), nil, func(ctx context.Context, e *entry) error {
		return s.openFile(ctx, e, true)
	})
}

// openFile opens the file of an entry, as a store or as a frame.
func (s *Server) openFile(ctx context.Context, e *entry, asStore bool) (err error) {
	var info fs.FileInfo
	if e.file, info, err = s.openRegular(e.key.name); err != nil {
		return err
	}
	s.cache.setStamp(e, stampOf(info))
	if asStore {
		e.store, err = store.OpenReaderAt(ctx, e.file, info.Size(), &store.OpenOptions{Frames: s.limits.frameOptions()})
		return err
	}
	f, err := frame.OpenReaderAt(ctx, e.file, info.Size(), s.limits.frameOptions())
	if err == nil {
		e.setFrame(f)
	}
	return err
}

// openRegular opens a regular file.
func (s *Server) openRegular(name string) (*os.File, fs.FileInfo, error) {
	f, err := s.root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// openSparse opens the sparse frame in the directory of an entry.
func (s *Server) openSparse(ctx context.Context, e *entry, t target) error {
	name, err := s.sparsePath(t)
	if err != nil {
		return err
	}
	f, err := frame.Open(ctx, name, s.limits.frameOptions())
	if err != nil {
		return err
	}
	if !s.samePlace(name, t) {
		f.Close()
		return fs.ErrNotExist
	}
	e.setFrame(f)
	return nil
}

// setFrame sets the frame of an entry, and its array if it has one.
func (e *entry) setFrame(f *frame.Frame) {
	e.frame = f
	e.array, e.noArray = ndarray.OpenFrame(f)
}
