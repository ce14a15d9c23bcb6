package frame

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// system is what frames in files and directories need of the operating system. Tests have one that fails.
type system interface {
	open(name string, flag int, mode fs.FileMode) (systemFile, error)
	mkdir(name string, mode fs.FileMode) error
	rename(old, name string) error
	remove(name string) error
	removeAll(name string) error
	stat(name string) (fs.FileInfo, error)
	lstat(name string) (fs.FileInfo, error)
	readDir(name string) ([]fs.DirEntry, error)
	chmod(name string, mode fs.FileMode) error
	resolve(name string) (string, error) // follows symbolic links
	same(a, b fs.FileInfo) bool
}

// systemFile is an opened file or directory.
type systemFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

var errNotFile = errors.New("not a regular file")

// osSystem is the system.
type osSystem struct{}

// open refuses what is neither a file nor a directory: opening a named pipe would wait for who writes to it.
func (osSystem) open(name string, flag int, mode fs.FileMode) (systemFile, error) {
	if fi, err := os.Stat(name); err == nil && !fi.Mode().IsRegular() && !fi.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotFile}
	}
	f, err := os.OpenFile(name, flag, mode)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osSystem) mkdir(name string, mode fs.FileMode) error  { return os.Mkdir(name, mode) }
func (osSystem) rename(old, name string) error              { return os.Rename(old, name) }
func (osSystem) remove(name string) error                   { return os.Remove(name) }
func (osSystem) removeAll(name string) error                { return os.RemoveAll(name) }
func (osSystem) stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (osSystem) lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (osSystem) readDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (osSystem) chmod(name string, mode fs.FileMode) error  { return os.Chmod(name, mode) }
func (osSystem) resolve(name string) (string, error)        { return filepath.EvalSymlinks(name) }
func (osSystem) same(a, b fs.FileInfo) bool                 { return os.SameFile(a, b) }

// system returns the system of a frame.
func (o *Options) system() system {
	if o == nil || o.sys == nil {
		return osSystem{}
	}
	return o.sys
}

// syncDir makes the entry of name in its directory last.
func syncDir(sys system, name string, noSync bool) error {
	if noSync || runtime.GOOS == "windows" { // there a directory cannot be synced
		return nil
	}
	dir, err := sys.open(filepath.Dir(name), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	// Some systems cannot sync a directory; then there is nothing more to do.
	if err := dir.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		dir.Close()
		return err
	}
	return dir.Close()
}
