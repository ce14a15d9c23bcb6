package storage

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/goblosc/blosc2/internal/paths"
)

// System is the part of the operating system that frames need. Tests use a System that fails.
//
// Its names come from the caller, and symbolic links in them are followed. Files inside an opened directory are reached
// through a Root instead, which does not leave the directory.
type System interface {
	Directory
	OpenRoot(dir string) (Root, error)
	Link(old, name string) error // gives a file another name, which must be free

	// Exchange exchanges two names in one step, also those of a file and a directory. Both must exist. It returns
	// errors.ErrUnsupported if the operating system or the file system cannot do so.
	Exchange(a, b string) error

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
	OpenDir() (File, error)                    // opens the directory to sync its names
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

// osSystem is the operating system. Relative names count from the directory wd; if that is empty, from the working
// directory of the process at each call.
type osSystem struct {
	wd  string
	dir fs.FileInfo // of wd, which may have been renamed since
}

// At returns the system for a frame with a name: if the name is relative, it continues to count from the present
// working directory after the process has changed to another one, or that directory has got another name. Errors have
// the relative name. On js it returns sys, so that pages in a browser, which have no directories, do not contain the
// code.
func At(sys System, name string) System {
	if _, ok := sys.(osSystem); runtime.GOOS == "js" || !ok || name == "" || filepath.IsAbs(name) {
		return sys
	}
	wd, err := filepath.Abs(".")
	if err != nil {
		return sys
	}
	if to, err := filepath.EvalSymlinks(wd); err == nil { // a link may lead to another directory later
		wd = to
	}
	// The process may be in a directory that it cannot reach by name.
	is, err := os.Stat(wd)
	if here, e := os.Stat("."); err != nil || e != nil || !os.SameFile(is, here) {
		return sys
	}
	return osSystem{wd, is}
}

// path returns the name for the operating system. It does not clean the name, because of links before "..".
func (s osSystem) path(name string) string {
	switch {
	case s.wd == "" || name == "" || filepath.IsAbs(name):
		return name
	case runtime.GOOS == "windows" && (filepath.VolumeName(name) != "" || os.IsPathSeparator(name[0])):
		// It is a part of an absolute name.
		if abs, err := filepath.Abs(name); err == nil {
			return abs
		}
		return name
	case s.renamed():
		return name
	}
	return paths.Join(s.wd, name)
}

// renamed reports whether the directory is not wd any more, but still the working directory of the process.
func (s osSystem) renamed() bool {
	if is, err := os.Stat(s.wd); err == nil && os.SameFile(is, s.dir) {
		return false
	}
	here, err := os.Stat(".")
	return err == nil && os.SameFile(here, s.dir)
}

// pathIn returns the name that a file of a directory has in errors of the operating system, if in is a System.
func pathIn(in Directory, name string) string {
	if s, ok := in.(osSystem); ok {
		return s.path(name)
	}
	return name
}

// short undoes path.
func (s osSystem) short(name string) string {
	if rest, ok := strings.CutPrefix(name, s.wd); ok && s.wd != "" && rest != "" {
		if os.IsPathSeparator(rest[0]) {
			return rest[1:]
		}
		if os.IsPathSeparator(s.wd[len(s.wd)-1]) {
			return rest
		}
	}
	return name
}

// error returns err with names as the caller gave them.
func (s osSystem) error(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		e.Path = s.short(e.Path)
	case *os.LinkError:
		e.Old, e.New = s.short(e.Old), s.short(e.New)
	}
	return err
}

func (s osSystem) Open(name string, flag int, mode fs.FileMode) (File, error) {
	path := s.path(name)
	f, err := openKind(path, flag, regularOrDir,
		func(flag int) (*os.File, error) { return os.OpenFile(path, flag, mode) },
		func() (fs.FileInfo, error) { return os.Stat(path) }, os.Remove)
	return f, s.error(err)
}

func (s osSystem) OpenRoot(dir string) (Root, error) {
	r, err := os.OpenRoot(s.path(dir))
	if err != nil {
		return nil, s.error(err)
	}
	return osRoot{r, dir}, nil
}

func (s osSystem) Stat(name string) (fs.FileInfo, error) {
	fi, err := os.Stat(s.path(name))
	return fi, s.error(err)
}

func (s osSystem) Lstat(name string) (fs.FileInfo, error) {
	fi, err := os.Lstat(s.path(name))
	return fi, s.error(err)
}

func (s osSystem) Resolve(name string) (string, error) {
	to, err := filepath.EvalSymlinks(s.path(name))
	if e, ok := err.(*fs.PathError); ok && strings.HasPrefix(s.wd, e.Path) {
		e.Path = name // the directory is gone
	}
	return s.short(to), s.error(err)
}

func (s osSystem) Mkdir(name string, mode fs.FileMode) error {
	return s.error(os.Mkdir(s.path(name), mode))
}

func (s osSystem) Rename(old, name string) error {
	return s.error(os.Rename(s.path(old), s.path(name)))
}

func (s osSystem) Link(old, name string) error {
	return s.error(os.Link(s.path(old), s.path(name)))
}

func (s osSystem) Exchange(a, b string) error {
	err := exchange(s.path(a), s.path(b))
	if err == nil {
		return nil
	}
	// File systems without the operation return EINVAL, and some sandboxes EPERM.
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EPERM) {
		err = fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
}

func (s osSystem) Remove(name string) error    { return s.error(os.Remove(s.path(name))) }
func (s osSystem) RemoveAll(name string) error { return s.error(os.RemoveAll(s.path(name))) }
func (s osSystem) Same(a, b fs.FileInfo) bool  { return os.SameFile(a, b) }

// osRoot is a directory of the operating system.
type osRoot struct {
	dir  *os.Root
	name string // for errors
}

// Open follows a symbolic link only to a file in the directory, and not with O_EXCL. It returns ErrCorrupt if the name
// is not that of a regular file.
func (r osRoot) Open(name string, flag int, mode fs.FileMode) (File, error) {
	f, err := openKind(name, flag, fs.FileMode.IsRegular,
		func(flag int) (*os.File, error) { return r.dir.OpenFile(name, flag, mode) },
		func() (fs.FileInfo, error) { return r.dir.Stat(name) }, r.dir.Remove)
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

func (r osRoot) Sync(dir string) error {
	return r.withDir(dir, func(d *os.File) error { return syncNames(d) })
}

func (r osRoot) OpenDir() (File, error) {
	d, err := r.dir.Open(".")
	if err != nil {
		return nil, r.inDir(err)
	}
	return WritableFile{d, d.Name(), r.name}, nil
}

// withDir calls do with an opened directory. The errors of do have the name of an opened file, which begins with that
// of the os.Root.
func (r osRoot) withDir(dir string, do func(d *os.File) error) error {
	d, err := r.dir.Open(dir)
	if err != nil {
		return r.inDir(err)
	}
	f := WritableFile{d, d.Name(), filepath.Join(r.name, dir)}
	return cmp.Or(f.named(do(d)), f.Close())
}

// mostListed is the largest number of times that ReadDir lists a directory from which names disappear.
const mostListed = 20

// ReadDir lists a directory twice. Package os leaves out a file that gets another name before it is looked at, and the
// system may do so if it lists the directory in several steps.
func (r osRoot) ReadDir(dir string) ([]fs.DirEntry, error) {
	for try := 1; ; try++ {
		var list []fs.DirEntry
		gone := false
		err := r.withDir(dir, func(d *os.File) (err error) {
			list, err = d.ReadDir(-1)
			return err
		})
		if err == nil {
			slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			list, gone, err = r.readAgain(dir, list)
		}
		if err != nil || !gone || try == mostListed {
			return list, err
		}
	}
}

// readAgain adds the names to a sorted list of a directory that it does not have, and removes those that have gone. It
// reports whether there were any, as their files may have a name that is not in the list.
func (r osRoot) readAgain(dir string, list []fs.DirEntry) (all []fs.DirEntry, gone bool, err error) {
	var names []string
	err = r.withDir(dir, func(d *os.File) (err error) {
		names, err = d.Readdirnames(-1)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	slices.Sort(names)
	all = make([]fs.DirEntry, 0, len(list))
	for len(list)+len(names) > 0 {
		var name string
		switch {
		case len(names) == 0 || len(list) > 0 && list[0].Name() < names[0]:
			name, list = list[0].Name(), list[1:]
		case len(list) == 0 || names[0] < list[0].Name():
			name, names = names[0], names[1:]
		default:
			all, list, names = append(all, list[0]), list[1:], names[1:]
			continue
		}
		fi, err := r.dir.Lstat(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			gone = gone || !strings.HasSuffix(name, tempSuffix) // a new file is complete under another name
		case err != nil:
			return nil, false, r.inDir(err)
		case len(all) == 0 || all[len(all)-1].Name() != name: // a system may list a name twice
			all = append(all, fs.FileInfoToDirEntry(fi))
		}
	}
	return all, gone, nil
}

// inDir adds the name of the directory to an error of the os.Root.
func (r osRoot) inDir(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		e.Path = filepath.Join(r.name, e.Path)
	case *os.LinkError:
		e.Old, e.New = filepath.Join(r.name, e.Old), filepath.Join(r.name, e.New)
	}
	return err
}

func regularOrDir(m fs.FileMode) bool { return m.IsRegular() || m.IsDir() }

// openKind opens a file whose mode fits. It checks the mode of the opened file, because another file may get the name
// at any time, and does not wait for the other end of a named pipe. After an error it removes a file that it created
// with O_EXCL. Errors have the name as it is given.
func openKind(name string, flag int, fits func(fs.FileMode) bool, open func(flag int) (*os.File, error), stat func() (fs.FileInfo, error),
	remove func(name string) error) (File, error) {
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
	if e, ok := err.(*fs.PathError); ok {
		e.Path = name // the opened file has one with the directory
	}
	if err == nil && !fits(fi.Mode()) {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNotFile}
	}
	if err != nil {
		f.Close()
		if flag&os.O_EXCL != 0 {
			remove(name)
		}
		return nil, err
	}
	return f, nil
}

// Names is an opened directory whose names are synced after a change, or nil. A caller opens it before the change: if
// that fails, for instance because too many files are open, nothing has changed.
type Names struct{ dir File }

// OpenNames opens the directory of name, unless it need not or cannot be synced.
func OpenNames(sys System, name string, noSync bool) (*Names, error) {
	return openNames(noSync, func() (File, error) { return sys.Open(paths.Dir(name), os.O_RDONLY, 0) })
}

// OpenNamesIn opens the directory r again, unless it need not or cannot be synced.
func OpenNamesIn(r Root, noSync bool) (*Names, error) { return openNames(noSync, r.OpenDir) }

func openNames(noSync bool, open func() (File, error)) (*Names, error) {
	if noSync || runtime.GOOS == "windows" { // Windows cannot sync a directory
		return nil, nil
	}
	d, err := open()
	if err != nil {
		return nil, err
	}
	return &Names{d}, nil
}

// Sync syncs the names.
func (n *Names) Sync() error {
	if n == nil {
		return nil
	}
	return syncNames(n.dir)
}

// Close closes the directory.
func (n *Names) Close() {
	if n != nil {
		n.dir.Close()
	}
}

// SyncDir syncs the entry of name in its directory.
func SyncDir(sys System, name string, noSync bool) error {
	if noSync || runtime.GOOS == "windows" { // Windows cannot sync a directory
		return nil
	}
	return SyncOpened(sys.Open(paths.Dir(name), os.O_RDONLY, 0))
}

// SettleName syncs the name of a file or directory that is opened for editing. A process that was killed may have
// renamed a new one to it without a sync, and a power failure would bring back the old one, without the edits made
// since. It does nothing if the directory may not be listed.
func SettleName(sys System, name string, noSync bool) error {
	err := SyncDir(sys, name, noSync)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
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
	return cmp.Or(syncNames(dir), dir.Close())
}

// syncNames syncs an opened directory. Some systems cannot do so.
func syncNames(dir File) error {
	err := dir.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}
