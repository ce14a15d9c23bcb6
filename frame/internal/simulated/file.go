package simulated

import (
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"time"

	"github.com/goblosc/blosc2/frame/internal/storage"
)

// root is an opened directory.
type root struct {
	names
	dir *File
}

func (r root) Stat() (fs.FileInfo, error) { return r.dir.Stat() }
func (r root) Close() error               { return r.dir.Close() }

func (r root) OpenDir() (storage.File, error) { return r.Open(".", os.O_RDONLY, 0) }

func (r root) Sync(name string) error { return storage.SyncOpened(r.Open(name, os.O_RDONLY, 0)) }

func (r root) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := r.dir.begin("readdir"); err != nil {
		r.mu.Unlock()
		return nil, err
	}
	defer r.mu.Unlock()
	_, _, id := r.find(r.at, name)
	if id < 0 {
		return nil, pathError("readdir", name, fs.ErrNotExist)
	}
	var list []fs.DirEntry
	inDir := r.Image[id].Dir
	for _, base := range slices.Sorted(maps.Keys(inDir)) {
		list = append(list, fs.FileInfoToDirEntry(r.info(base, inDir[base])))
	}
	return list, nil
}

type info struct {
	name string
	id   int
	node Node
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return int64(len(i.node.Data)) }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.node.Dir != nil }
func (i info) Sys() any           { return i.id }
func (i info) Mode() fs.FileMode {
	if i.IsDir() {
		return fs.ModeDir | 0o777
	}
	return 0o666
}

// File is an opened file of a System.
type File struct {
	s      *System
	id     int
	name   string
	closed bool
}

// begin begins a call; s.mu is held after it.
func (f *File) begin(what string) error {
	f.s.lock()
	if f.closed {
		return pathError(what, f.name, fs.ErrClosed)
	}
	if f.s.fails(what) {
		return pathError(what, f.name, ErrDisk)
	}
	return nil
}

// ReadAt reads bytes that were written, synced or not.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	err := f.begin("read")
	defer f.s.mu.Unlock()
	data := f.s.Image[f.id].Data
	if err != nil {
		if f.s.Short && off < int64(len(data)) {
			return copy(p[:len(p)/2], data[off:]), err
		}
		return 0, err
	}
	if off >= int64(len(data)) {
		return 0, io.EOF
	}
	n := copy(p, data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt writes p and records the change.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	err := f.begin("write")
	defer f.s.mu.Unlock()
	n := len(p)
	if err != nil {
		if n /= 2; !f.s.Short || n == 0 {
			return 0, err
		}
	}
	f.s.do(Change{Kind: "write", ID: f.id, off: off, data: slices.Clone(p[:n])})
	return n, err
}

// Truncate shortens the file and records the change.
func (f *File) Truncate(size int64) error {
	err := f.begin("truncate")
	defer f.s.mu.Unlock()
	if err == nil {
		f.s.do(Change{Kind: "truncate", ID: f.id, off: size})
	}
	return err
}

// Sync records that the changes of the file are durable.
func (f *File) Sync() error {
	err := f.begin("sync")
	defer f.s.mu.Unlock()
	if err == nil {
		f.s.do(Change{Kind: "sync", ID: f.id})
	}
	return err
}

// Chmod does nothing.
func (f *File) Chmod(fs.FileMode) error { return nil }

// Chown does nothing.
func (f *File) Chown(int, int) error { return nil }

// Stat describes the file.
func (f *File) Stat() (fs.FileInfo, error) {
	err := f.begin("stat")
	defer f.s.mu.Unlock()
	return f.s.info(path.Base(f.name), f.id), err
}

// TryLock implements storage.LockFile.
func (f *File) TryLock(exclusive bool) (bool, error) {
	ok, err := f.tryLock(exclusive)
	if blocked := f.s.Blocked; blocked != nil && !ok && err == nil {
		blocked()
	}
	return ok, err
}

func (f *File) tryLock(exclusive bool) (bool, error) {
	err := f.begin("lock")
	defer f.s.mu.Unlock()
	if err != nil {
		return false, err
	}
	delete(f.s.locks[f.id], f)
	for _, x := range f.s.locks[f.id] {
		if x || exclusive {
			return false, nil
		}
	}
	if f.s.locks == nil {
		f.s.locks = map[int]map[*File]bool{}
	}
	if f.s.locks[f.id] == nil {
		f.s.locks[f.id] = map[*File]bool{}
	}
	f.s.locks[f.id][f] = exclusive
	return true, nil
}

// Unlock implements storage.LockFile.
func (f *File) Unlock() error {
	err := f.begin("unlock")
	defer f.s.mu.Unlock()
	delete(f.s.locks[f.id], f)
	return err
}

// Names implements storage.LockFile.
func (f *File) Names() (uint64, error) { return 1, nil }

// Close closes the file, which has no effect on the disk.
func (f *File) Close() error {
	f.s.lock()
	defer f.s.mu.Unlock()
	if f.closed {
		return pathError("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	delete(f.s.locks[f.id], f)
	f.s.Opened--
	return nil
}
