package storage

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// System is the part of the operating system that frames need. Tests use a System that fails.
//
// Its names come from the caller, and symbolic links in them are followed. Files inside an opened directory are reached
// through a Root instead, which does not leave the directory.
type System interface {
	Directory
	OpenRoot(dir string) (Root, error)
	Link(old, name string) error // gives a file another name, which must be free
	RemoveAll(name string) error
	Stat(name string) (fs.FileInfo, error)
	Resolve(name string) (string, error) // follows symbolic links
	Same(a, b fs.FileInfo) bool
}

// Root is an opened directory. Its names are those of files in the directory. It continues to be the directory that was
// opened if another one gets the name.
type Root interface {
	Directory
	io.Closer
	ReadDir(dir string) ([]fs.DirEntry, error) // sorted by name
	Stat() (fs.FileInfo, error)                // of the directory
	Sync(dir string) error                     // syncs the names in dir; "." is the directory itself
}

// Directory has the common methods of System and Root. Open with O_EXCL, Rename, Remove and Lstat do not follow a
// symbolic link at the end of a name.
type Directory interface {
	Open(name string, flag int, mode fs.FileMode) (File, error)
	Mkdir(name string, mode fs.FileMode) error
	Rename(old, name string) error
	Remove(name string) error
	Lstat(name string) (fs.FileInfo, error)
}

// File is an opened file or directory.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	Truncate(size int64) error
	Sync() error
}

// ErrNotFile is the error for a name of something other than a file.
var ErrNotFile = errors.New("not a regular file")

// OS returns the operating system.
func OS() System { return osSystem{} }

type osSystem struct{}

func (osSystem) Open(name string, flag int, mode fs.FileMode) (File, error) {
	return openKind(name, flag, regularOrDir,
		func(flag int) (*os.File, error) { return os.OpenFile(name, flag, mode) },
		func() (fs.FileInfo, error) { return os.Stat(name) })
}

func (osSystem) OpenRoot(dir string) (Root, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return osRoot{r}, nil
}

func (osSystem) Mkdir(name string, mode fs.FileMode) error { return os.Mkdir(name, mode) }
func (osSystem) Rename(old, name string) error             { return os.Rename(old, name) }
func (osSystem) Remove(name string) error                  { return os.Remove(name) }
func (osSystem) Link(old, name string) error               { return os.Link(old, name) }
func (osSystem) RemoveAll(name string) error               { return os.RemoveAll(name) }
func (osSystem) Stat(name string) (fs.FileInfo, error)     { return os.Stat(name) }
func (osSystem) Lstat(name string) (fs.FileInfo, error)    { return os.Lstat(name) }
func (osSystem) Resolve(name string) (string, error)       { return filepath.EvalSymlinks(name) }
func (osSystem) Same(a, b fs.FileInfo) bool                { return os.SameFile(a, b) }

// osRoot is a directory of the operating system.
type osRoot struct{ dir *os.Root }

// Open follows a symbolic link only to a file in the directory, and not with O_EXCL. It returns ErrCorrupt if the name
// is not that of a regular file.
func (r osRoot) Open(name string, flag int, mode fs.FileMode) (File, error) {
	f, err := openKind(name, flag, fs.FileMode.IsRegular,
		func(flag int) (*os.File, error) { return r.dir.OpenFile(name, flag, mode) },
		func() (fs.FileInfo, error) { return r.dir.Stat(name) })
	if err == nil {
		return f, nil
	}
	if fi, e := r.dir.Lstat(name); e == nil && flag&os.O_EXCL == 0 && !fi.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: corrupt("%w", ErrNotFile)}
	}
	return nil, r.inDir(err)
}

func (r osRoot) Rename(old, name string) error { return r.inDir(r.dir.Rename(old, name)) }
func (r osRoot) Remove(name string) error      { return r.inDir(r.dir.Remove(name)) }
func (r osRoot) Stat() (fs.FileInfo, error)    { return r.dir.Stat(".") }
func (r osRoot) Close() error                  { return r.dir.Close() }

func (r osRoot) Lstat(name string) (fs.FileInfo, error) {
	fi, err := r.dir.Lstat(name)
	return fi, r.inDir(err)
}

func (r osRoot) Mkdir(name string, mode fs.FileMode) error { return r.inDir(r.dir.Mkdir(name, mode)) }

func (r osRoot) Sync(dir string) error { return r.inDir(SyncOpened(r.dir.Open(dir))) }

func (r osRoot) ReadDir(dir string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(r.dir.FS(), filepath.ToSlash(dir))
	return list, r.inDir(err)
}

// inDir adds the name of the directory to an error of the os.Root.
func (r osRoot) inDir(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		e.Path = filepath.Join(r.dir.Name(), e.Path)
	case *os.LinkError:
		e.Old, e.New = filepath.Join(r.dir.Name(), e.Old), filepath.Join(r.dir.Name(), e.New)
	}
	return err
}

func regularOrDir(m fs.FileMode) bool { return m.IsRegular() || m.IsDir() }

// openKind opens a file whose mode fits. It checks the mode of the opened file, because another file may get the name
// at any time, and does not wait for the other end of a named pipe.
func openKind(name string, flag int, fits func(fs.FileMode) bool, open func(flag int) (*os.File, error), stat func() (fs.FileInfo, error)) (File, error) {
	if noWait == 0 { // open may wait
		if fi, err := stat(); err == nil && flag&os.O_EXCL == 0 && !fits(fi.Mode()) {
			return nil, &fs.PathError{Op: "open", Path: name, Err: ErrNotFile}
		}
	}
	f, err := open(flag | noWait)
	if mustWait(err) { // for the lease of another process, which only regular files have
		if fi, e := stat(); e == nil && fi.Mode().IsRegular() {
			f, err = open(flag)
		}
	}
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fits(fi.Mode()) {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNotFile}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// SyncDir syncs the entry of name in its directory.
func SyncDir(sys System, name string, noSync bool) error {
	if noSync || runtime.GOOS == "windows" { // Windows cannot sync a directory
		return nil
	}
	return SyncOpened(sys.Open(filepath.Dir(name), os.O_RDONLY, 0))
}

// SyncRoot syncs the names in a directory.
func SyncRoot(r Root, noSync bool) error {
	if noSync || runtime.GOOS == "windows" {
		return nil
	}
	return r.Sync(".")
}

// SyncOpened syncs a directory that was just opened, and closes it. err is the error of opening it.
func SyncOpened[F File](dir F, err error) error {
	if err != nil {
		return err
	}
	// Some systems cannot sync a directory.
	if err := dir.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		dir.Close()
		return err
	}
	return dir.Close()
}
