// Package storage holds the bytes of frames in files, directories and memory. It knows offsets, names and syncs, but
// not the format of frames.
package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/goblosc/blosc2/internal/errs"
)

// Bytes is frame.Storage.
type Bytes interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error
}

// Segment is the storage of a frame.
type Segment struct {
	Bytes
	NoSync  bool
	Aligned bool // offset 0 is the start of a sector; otherwise any offset may be one
}

// SyncError is an error of a sync after a successful write.
type SyncError struct{ error }

// Unwrap returns the error.
func (e SyncError) Unwrap() error { return e.error }

// Write writes b at off of the segment and syncs it. An error of the sync is a SyncError.
func (s *Segment) Write(b []byte, off int64) error {
	if _, err := s.WriteAt(b, off); err != nil {
		return err
	}
	if s.NoSync {
		return nil
	}
	if err := s.Sync(); err != nil {
		return SyncError{err}
	}
	return nil
}

// Settle syncs the storage before it is edited. The process that wrote the last commit may have been killed before its
// sync. A power failure may then restore the state before, which no edit may have overwritten.
func (s *Segment) Settle() error {
	if s.NoSync {
		return nil
	}
	return s.Sync()
}

// WritableFile is the Bytes of a file.
type WritableFile struct {
	File
	path, name string // errors replace the path by the name, which is that of the caller and not temporary
}

// named returns err with the name of the file for the caller.
func (f WritableFile) named(err error) error {
	if e, ok := err.(*fs.PathError); ok && f.path != "" && e.Path == f.path {
		return &fs.PathError{Op: e.Op, Path: f.name, Err: e.Err}
	}
	return err
}

// ReadAt implements io.ReaderAt.
func (f WritableFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	return n, f.named(err)
}

// WriteAt implements io.WriterAt.
func (f WritableFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	return n, f.named(err)
}

// Truncate changes the size of the file.
func (f WritableFile) Truncate(size int64) error { return f.named(f.File.Truncate(size)) }

// Sync returns when everything written before is on the disk.
func (f WritableFile) Sync() error { return f.named(f.File.Sync()) }

// Close closes the file.
func (f WritableFile) Close() error { return f.named(f.File.Close()) }

// Size returns the size of the file, or ErrNotFile for a directory.
func (f WritableFile) Size() (int64, error) {
	fi, err := f.Stat()
	switch {
	case err != nil:
		return 0, err
	case fi.IsDir():
		return 0, &fs.PathError{Op: "open", Path: fi.Name(), Err: ErrNotFile}
	}
	return fi.Size(), nil
}

// ReadOnlyFile is the Bytes of a file that is only read.
type ReadOnlyFile struct{ WritableFile }

// WriteAt returns ErrReadOnly.
func (ReadOnlyFile) WriteAt([]byte, int64) (int, error) { return 0, errs.ErrReadOnly }

// Truncate returns ErrReadOnly.
func (ReadOnlyFile) Truncate(int64) error { return errs.ErrReadOnly }

// Sync returns ErrReadOnly.
func (ReadOnlyFile) Sync() error { return errs.ErrReadOnly }

// OpenFile opens a file of a directory. It may open a directory for reading; Size then returns ErrNotFile.
func OpenFile(in Directory, name string, write bool) (Bytes, error) {
	flag := os.O_RDONLY
	if write {
		flag = os.O_RDWR
	}
	f, err := in.Open(name, flag, 0)
	if err != nil {
		return nil, err
	}
	file := WritableFile{f, pathIn(in, name), name}
	if write {
		return file, nil
	}
	return ReadOnlyFile{file}, nil
}

// IsFile reports whether r is a file that is not mapped. Only files are fast at reading a few bytes.
func IsFile(r io.ReaderAt) bool {
	switch r.(type) {
	case WritableFile, ReadOnlyFile:
		return true
	}
	return false
}

// CreateNew is CreateLike, but removes a file or link with that name, which a crash may have left, and does not open
// it.
func CreateNew(r Root, name string, old fs.FileInfo) (File, error) {
	f, err := CreateLike(r, name, old)
	if !errors.Is(err, fs.ErrExist) {
		return f, err
	}
	fi, err := r.Lstat(name)
	if err != nil {
		return nil, err
	}
	if t := fi.Mode().Type(); t != 0 && t != fs.ModeSymlink {
		return nil, &fs.PathError{Op: "create", Path: name, Err: corrupt("in its place is what is %w", ErrNotFile)}
	}
	if err := r.Remove(name); err != nil {
		return nil, err
	}
	return CreateLike(r, name, old)
}

// ReadAll reads n bytes at off. n was checked against the size of the storage.
func ReadAll(src io.ReaderAt, off, n int64) ([]byte, error) { return ReadLeast(src, off, n, n) }

// ReadLeast is ReadAll, but returns fewer bytes, at least least, if an error ends the read.
func ReadLeast(src io.ReaderAt, off, n, least int64) ([]byte, error) {
	if n > int64(^uint(0)>>1) {
		return nil, fmt.Errorf("%d bytes: %w", n, errs.ErrTooLarge)
	}
	b := make([]byte, n)
	got, err := src.ReadAt(b, off)
	if int64(got) >= least && got <= len(b) {
		return b[:got], nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return nil, corrupt("the file ends at byte %d", off+int64(got))
	}
	return nil, err
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, errs.ErrCorrupt)...)
}
