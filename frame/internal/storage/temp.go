package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/paths"
)

// Temp is a new file or directory that has a temporary name, next to its final name, until it is published.
type Temp struct {
	Sys      System
	Final    string // the final name
	TempName string // the temporary name; empty after publishing
	NoSync   bool
	New      bool // no file or directory may have the final name; otherwise it is replaced

	// MayReplace returns an error if the directory that has the final name must not be replaced. nil = it may.
	MayReplace func() error
}

// CreateTemp creates a file under a temporary name with the function create.
func CreateTemp(sys System, name string, noSync bool, create func(temp string) (File, error)) (f WritableFile, t Temp, err error) {
	t, err = newTemp(sys, name, noSync, func(temp string) (err error) {
		f.path, f.name = pathIn(sys, temp), name
		f.File, err = create(temp)
		return err
	})
	return f, t, err
}

// CreateTempDir creates a directory under a temporary name, and opens it. It has the permissions and the owner of the
// directory old, unless that is nil.
func CreateTempDir(sys System, name string, old fs.FileInfo, noSync bool) (Root, Temp, error) {
	mode := fs.FileMode(0o777)
	if old != nil {
		mode = 0o700
	}
	t, err := newTemp(sys, name, noSync, func(temp string) error { return sys.Mkdir(temp, mode) })
	if err != nil {
		return nil, t, err
	}
	if old != nil {
		err = keepDirAccess(sys, t.TempName, old)
	}
	var r Root
	if err == nil {
		r, err = sys.OpenRoot(t.TempName)
	}
	if err != nil {
		sys.Remove(t.TempName)
	}
	return r, t, err
}

// keepDirAccess is KeepAccess for a new directory, in which files will be created.
func keepDirAccess(sys System, name string, old fs.FileInfo) error {
	d, err := sys.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(KeepAccess(d, old, 0o700), d.Close())
}

// newTemp calls create with temporary names until one is free.
func newTemp(sys System, name string, noSync bool, create func(temp string) error) (Temp, error) {
	for {
		t := Temp{Sys: sys, Final: name, TempName: fmt.Sprintf("%s.%08x.tmp", name, rand.Uint32()), NoSync: noSync}
		err := create(t.TempName)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		var named *fs.PathError
		if errors.As(err, &named) { // the caller knows the final name
			err = &fs.PathError{Op: "create", Path: name, Err: errs.NoDirectory(name, named.Err)}
		}
		return t, err
	}
}

// PublishFile renames the file b to its final name and returns it, reopened if the operating system cannot rename open
// files. After an error it returns b, which may be closed.
func (t *Temp) PublishFile(b Bytes) (Bytes, error) {
	if runtime.GOOS != "windows" {
		return b, t.replace()
	}
	was, err := b.(WritableFile).Stat()
	if err = errors.Join(err, b.Close()); err != nil {
		return b, err
	}
	if err := t.replace(); err != nil {
		return b, err
	}
	f, err := t.Sys.Open(t.Final, os.O_RDWR, 0)
	if err != nil {
		return b, err
	}
	is, err := f.Stat()
	if err == nil && !t.Sys.Same(was, is) {
		err = fmt.Errorf("another file has taken the place of the new one: %w", errs.ErrChanged)
	}
	return WritableFile{f, pathIn(t.Sys, t.Final), t.Final}, err
}

// PublishDir renames the temporary directory r to its final name and returns it, reopened, because not all operating
// systems can rename an open directory. It returns nil if the directory was closed and cannot be reopened.
func (t *Temp) PublishDir(r Root) (Root, error) {
	was, err := r.Stat()
	err = errors.Join(err, r.Close())
	if err == nil {
		err = t.replace()
	}
	if err != nil {
		return nil, err
	}
	r, err = t.Sys.OpenRoot(t.Final)
	if err == nil {
		is, err := r.Stat()
		if err != nil || t.Sys.Same(was, is) {
			return r, err
		}
	} else if is, e := t.Sys.Lstat(t.Final); e == nil && t.Sys.Same(was, is) || e != nil && !errors.Is(e, fs.ErrNotExist) {
		return nil, err
	}
	return r, fmt.Errorf("another directory has taken the place of the new one: %w", errs.ErrChanged)
}

// replace renames the temporary file or directory to the final name, and unless t.New replaces a file or directory
// there, in one step if both are files or if the system can exchange names.
func (t *Temp) replace() error {
	names, err := OpenNames(t.Sys, t.Final, t.NoSync)
	if err != nil {
		return err
	}
	defer names.Close()
	if t.New {
		err = RenameNew(t.Sys, t.TempName, t.Final)
	} else {
		err = t.overwrite(names)
	}
	if t.New && errors.Is(err, fs.ErrExist) {
		return &fs.PathError{Op: "create", Path: t.Final, Err: errs.EditOrOverwrite(errs.ErrExist)}
	}
	if err != nil {
		return err
	}
	if err := names.Sync(); err != nil {
		return err
	}
	t.TempName = ""
	return nil
}

// RenameNew renames a file or directory to a name that must be free. Otherwise it returns fs.ErrExist, also if another
// process is faster; only where the file system has no hard links, it may then replace a file.
func RenameNew(sys System, temp, name string) error {
	exists := &fs.PathError{Op: "create", Path: name, Err: errs.ErrExist}
	fi, err := sys.Lstat(temp)
	if err != nil {
		return err
	}
	if !fi.IsDir() { // Rename would replace a file
		err := sys.Link(temp, name)
		if err == nil {
			sys.Remove(temp) // a second name that remains is only in the way
			return nil
		}
		if errors.Is(err, fs.ErrExist) {
			return exists
		}
	}
	if _, err := sys.Lstat(name); err == nil {
		return exists
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err = sys.Rename(temp, name); err != nil {
		if _, e := sys.Lstat(name); e == nil {
			return exists // another process was faster
		}
	}
	return err
}

// overwrite renames what is temporary to the final name. If several processes do so at the same time, the last wins.
func (t *Temp) overwrite(names *Names) error {
	const tries = 20
	temp, err := t.Sys.Lstat(t.TempName)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		if again, err := t.tryOverwrite(temp, names); !again || try == tries {
			return err
		}
	}
}

// tryOverwrite is one try of overwrite. It reports whether it has failed because another process uses the name.
func (t *Temp) tryOverwrite(temp fs.FileInfo, names *Names) (again bool, err error) {
	fi, err := t.Sys.Lstat(t.Final)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err == nil && fi.IsDir() && t.MayReplace != nil {
		if err := t.MayReplace(); err != nil {
			return false, err
		}
	}
	old := ""
	if err == nil && (fi.IsDir() || temp.IsDir()) {
		if err = t.Sys.Exchange(t.TempName, t.Final); err == nil {
			old, t.TempName = t.TempName, ""
			return false, t.removeOld(old, names)
		}
		if errors.Is(err, errors.ErrUnsupported) {
			old = t.TempName + ".old"
			err = t.Sys.Rename(t.Final, old)
		}
		if err != nil {
			return errors.Is(err, fs.ErrNotExist), err
		}
	}
	if err = t.Sys.Rename(t.TempName, t.Final); err != nil {
		now, e := t.Sys.Lstat(t.Final)
		if e != nil && old != "" {
			return false, errors.Join(err, t.Sys.Rename(old, t.Final))
		}
		again = e == nil && (now.IsDir() || temp.IsDir())
	}
	if old == "" {
		return again, err
	}
	return again, errors.Join(err, t.removeOld(old, names))
}

// removeOld syncs the names, then removes the old file or directory. A power failure may restore its name until then,
// so it must be complete.
func (t *Temp) removeOld(old string, names *Names) error {
	if err := names.Sync(); err != nil {
		return err
	}
	t.Sys.RemoveAll(old) // the rest only takes space
	return nil
}

// scratch is a temporary file.
type scratch struct {
	WritableFile
	sys  System
	name string // of the file, if it is not removed yet
}

// CreateScratch creates a file beside a name, which other users cannot read. Closing the file removes it. If the
// operating system can remove an open file, a process that is killed leaves none.
func CreateScratch(sys System, name string) (Bytes, error) {
	f, t, err := CreateTemp(sys, paths.Trim(name), true, func(temp string) (File, error) {
		return sys.Open(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	})
	if err != nil {
		return nil, err
	}
	if sys.Remove(t.TempName) == nil {
		t.TempName = ""
	}
	return &scratch{f, sys, t.TempName}, nil
}

// Close closes and removes the file.
func (s *scratch) Close() error {
	err := s.WritableFile.Close()
	if s.name != "" {
		err = errors.Join(err, s.sys.Remove(s.name))
	}
	return err
}

// Existing returns the description of the regular file with a name, for CreateLike. If there is none, it returns nil.
func Existing(in Directory, name string) (fs.FileInfo, error) {
	fi, err := in.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !fi.Mode().IsRegular() {
		return nil, nil
	}
	return fi, err
}

// CreateLike creates a file with the permissions, owner and group of the file old. At no time does it give more
// permissions than that. If old is nil, the file is as every new one.
func CreateLike(in Directory, name string, old fs.FileInfo) (File, error) {
	const flag = os.O_RDWR | os.O_CREATE | os.O_EXCL
	if old == nil {
		return in.Open(name, flag, 0o666)
	}
	f, err := in.Open(name, flag, 0o600)
	if err != nil {
		return nil, err
	}
	if err := KeepAccess(f, old, 0); err != nil {
		f.Close()
		in.Remove(name)
		return nil, err
	}
	return f, nil
}

// KeepAccess gives the new file f the owner, group and permissions of the file old, and at least the permissions least.
// Of a directory it also keeps the set-group-ID and the sticky bit; other files have no such bits afterwards. If the
// system does not permit the owner, the process remains the owner. If it does not permit the group, the group and all
// others get what both had: they may be other users now.
func KeepAccess(f File, old fs.FileInfo, least fs.FileMode) error {
	is, err := f.Stat()
	if err != nil {
		return err
	}
	kept := fs.ModePerm
	if is.IsDir() {
		kept |= fs.ModeSetgid | fs.ModeSticky
	}
	mode := old.Mode() & kept
	if !keepOwner(f, is, old) {
		both := mode >> 3 & mode & 0o7
		mode = mode&^0o077 | both<<3 | both
	}
	if mode |= least; is.Mode()&kept == mode {
		return nil
	}
	return f.Chmod(mode)
}
