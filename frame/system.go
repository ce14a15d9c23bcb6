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
//
// Its names come from the caller, and symbolic links in them are followed. Files inside the directory of a sparse frame
// are reached through a root instead, which does not leave the directory.
type system interface {
	directory
	openRoot(dir string) (root, error)
	mkdir(name string, mode fs.FileMode) error
	removeAll(name string) error
	stat(name string) (fs.FileInfo, error)
	resolve(name string) (string, error) // follows symbolic links
	same(a, b fs.FileInfo) bool
}

// root is an opened directory. Its names are those of files in the directory. It keeps to the directory that was opened,
// even when another one gets the name.
type root interface {
	directory
	io.Closer
	readDir() ([]fs.DirEntry, error)
	stat() (fs.FileInfo, error) // of the directory
	sync() error                // makes the names in the directory last
}

// directory is what a system and a root have in common. Neither open with O_EXCL nor rename, remove and lstat follow a
// symbolic link at the end of a name.
type directory interface {
	open(name string, flag int, mode fs.FileMode) (systemFile, error)
	rename(old, name string) error
	remove(name string) error
	lstat(name string) (fs.FileInfo, error)
}

// systemFile is an opened file or directory.
type systemFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Chmod(mode fs.FileMode) error
	Truncate(size int64) error
	Sync() error
}

var errNotFile = errors.New("not a regular file")

// osSystem is the operating system.
type osSystem struct{}

func (osSystem) open(name string, flag int, mode fs.FileMode) (systemFile, error) {
	return openKind(name, flag, regularOrDir,
		func(flag int) (*os.File, error) { return os.OpenFile(name, flag, mode) },
		func() (fs.FileInfo, error) { return os.Stat(name) })
}

func (osSystem) openRoot(dir string) (root, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return osRoot{r}, nil
}

func (osSystem) mkdir(name string, mode fs.FileMode) error { return os.Mkdir(name, mode) }
func (osSystem) rename(old, name string) error             { return os.Rename(old, name) }
func (osSystem) remove(name string) error                  { return os.Remove(name) }
func (osSystem) removeAll(name string) error               { return os.RemoveAll(name) }
func (osSystem) stat(name string) (fs.FileInfo, error)     { return os.Stat(name) }
func (osSystem) lstat(name string) (fs.FileInfo, error)    { return os.Lstat(name) }
func (osSystem) resolve(name string) (string, error)       { return filepath.EvalSymlinks(name) }
func (osSystem) same(a, b fs.FileInfo) bool                { return os.SameFile(a, b) }

// osRoot is a directory of the operating system.
type osRoot struct{ dir *os.Root }

// open follows a symbolic link only to a file in the directory, and not with O_EXCL. What is not a regular file is
// ErrCorrupt: nothing else belongs there under the name of a file.
func (r osRoot) open(name string, flag int, mode fs.FileMode) (systemFile, error) {
	f, err := openKind(name, flag, fs.FileMode.IsRegular,
		func(flag int) (*os.File, error) { return r.dir.OpenFile(name, flag, mode) },
		func() (fs.FileInfo, error) { return r.dir.Stat(name) })
	if err == nil {
		return f, nil
	}
	if fi, e := r.dir.Lstat(name); e == nil && flag&os.O_EXCL == 0 && !fi.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: corrupt("%w", errNotFile)}
	}
	return nil, r.inDir(err)
}

func (r osRoot) rename(old, name string) error { return r.inDir(r.dir.Rename(old, name)) }
func (r osRoot) remove(name string) error      { return r.inDir(r.dir.Remove(name)) }
func (r osRoot) stat() (fs.FileInfo, error)    { return r.dir.Stat(".") }
func (r osRoot) sync() error                   { return syncOpened(r.dir.Open(".")) }
func (r osRoot) Close() error                  { return r.dir.Close() }

func (r osRoot) lstat(name string) (fs.FileInfo, error) {
	fi, err := r.dir.Lstat(name)
	return fi, r.inDir(err)
}

func (r osRoot) readDir() ([]fs.DirEntry, error) { return fs.ReadDir(r.dir.FS(), ".") }

// inDir returns an error of the os.Root with the name of the directory.
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

// openKind opens a file whose mode fits. It checks the mode of the opened file, as the name may get another file at any
// time, and does not wait for the other end of a named pipe.
func openKind(name string, flag int, fits func(fs.FileMode) bool, open func(flag int) (*os.File, error), stat func() (fs.FileInfo, error)) (systemFile, error) {
	if noWait == 0 { // open may wait
		if fi, err := stat(); err == nil && flag&os.O_EXCL == 0 && !fits(fi.Mode()) {
			return nil, &fs.PathError{Op: "open", Path: name, Err: errNotFile}
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
		err = &fs.PathError{Op: "open", Path: name, Err: errNotFile}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

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
	return syncOpened(sys.open(filepath.Dir(name), os.O_RDONLY, 0))
}

// syncOpened syncs a directory that was just opened, and closes it.
func syncOpened[F systemFile](dir F, err error) error {
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
