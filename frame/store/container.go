package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/source"
	"github.com/goblosc/blosc2/frame/store/internal/zipdir"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/paths"
)

// container holds the files of a store: a directory or a zip file.
type container interface {
	// files returns the files of the store but the directories. Files that cannot be opened have a fault.
	files(ctx context.Context, most int) ([]file, error)
	opener
	// now returns the bytes of a file, which open has returned before, as many as it has now. It returns nil if another
	// file, or none, has the name.
	now(name string, src source.Source) source.Source
	Close() error
}

// opener opens the files of leaves. Every container is one.
type opener interface {
	// open opens a file. ctx is for the opening.
	open(ctx context.Context, name string) (*openFile, error)
}

// openFile is the bytes of a file in use. Close ends the use.
type openFile struct {
	src   source.Source
	close func() error // nil if nothing is to be closed
}

func (f *openFile) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}

// file is a file of a container.
type file struct {
	name  string
	size  int64
	fault error // why it cannot be opened
}

// zipFile is a zip file as container.
type zipFile struct {
	src     source.Source
	tail    []byte    // the last bytes of src, until files is called
	closer  io.Closer // nil if the caller owns src
	members map[string]*zipdir.Member
}

func (z *zipFile) files(ctx context.Context, most int) ([]file, error) {
	members, src, err := zipdir.Read(ctx, z.src, z.tail, most)
	if err != nil {
		return nil, err
	}
	z.src, z.tail = src, nil
	z.members = make(map[string]*zipdir.Member, len(members))
	list := make([]file, 0, len(members))
	for i := range members {
		m := &members[i]
		if m.Name[len(m.Name)-1] == '/' {
			if m.Size > 0 {
				return nil, faults.Corruptf("the directory %q in the zip file has %d bytes", faults.Clip(m.Name), m.Size)
			}
			continue
		}
		z.members[m.Name] = m
		list = append(list, file{m.Name, m.Size, m.Fault})
	}
	return list, nil
}

func (z *zipFile) open(ctx context.Context, name string) (*openFile, error) {
	m := z.members[name]
	if m == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errs.ErrNotExist}
	}
	src, err := m.Data(ctx, z.src, z.ahead())
	if err != nil {
		return nil, err
	}
	return &openFile{src: src}, nil
}

func (z *zipFile) now(_ string, src source.Source) source.Source { return src }

// ahead returns how many bytes to read with the header of a member. Another read of a file of the operating system
// costs little; other sources may be far away.
func (z *zipFile) ahead() int64 {
	if z.closer != nil {
		return 0
	}
	return 64 << 10
}

func (z *zipFile) Close() error {
	if z.closer == nil {
		return nil
	}
	return z.closer.Close()
}

// directory is a directory as container. All names are opened through its root.
type directory struct {
	sys   storage.System
	root  storage.Root
	temps []string        // temporary files of this package that files found
	names map[string]bool // of directories, as the file system lists them, as far as edits have looked
}

func (d *directory) files(ctx context.Context, most int) ([]file, error) {
	var list []file
	d.temps = nil
	err := d.walk(ctx, ".", func(name string, e fs.DirEntry) error {
		if len(list) == most {
			return faults.TooLargef("more than %d files, as option MaxLeaves allows", most)
		}
		f := file{name: name, size: -1}
		if e.Type()&fs.ModeSymlink != 0 {
			f.fault = faults.Unsupportedf("symbolic link in the directory of a store")
		} else if !e.Type().IsRegular() {
			f.fault = faults.Unsupportedf("not a regular file")
		} else if storage.IsTemp(path.Base(name)) {
			d.temps = append(d.temps, name)
		}
		list = append(list, f)
		return nil
	})
	return list, err
}

// maxDepth is the largest number of directories above a file of a store. Opening a file takes time in proportion to its
// square, because each directory is looked at from the top, and must not be a link.
const maxDepth = 100

// walk calls see for everything in a directory and those below it, except the directories.
func (d *directory) walk(ctx context.Context, dir string, see func(name string, e fs.DirEntry) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if strings.Count(dir, "/") >= maxDepth {
		return faults.TooLargef("directories more than %d deep", maxDepth)
	}
	list, err := d.root.ReadDir(dir)
	if dir != "." && errors.Is(err, fs.ErrNotExist) {
		return nil // an edit has removed it, with the last file
	}
	for _, e := range list {
		if err != nil {
			break
		}
		if name := path.Join(dir, e.Name()); e.IsDir() {
			err = d.walk(ctx, name, see)
		} else {
			err = see(name, e)
		}
	}
	return err
}

// mostReplaced is the largest number of times that open looks at a file which edits replace between two looks.
const mostReplaced = 100

func (d *directory) open(_ context.Context, name string) (*openFile, error) {
	for try := 1; ; try++ {
		fi, err := d.lstat(name)
		if err != nil {
			return nil, err
		}
		f, err := d.root.Open(name, os.O_RDONLY, 0)
		if err != nil {
			return nil, err
		}
		opened, err := f.Stat()
		if err == nil && d.sys.Same(fi, opened) {
			return &openFile{dirFile{source.FromReader(f, opened.Size()), f, opened}, f.Close}, nil
		}
		f.Close()
		if err == nil && try == mostReplaced {
			err = faults.Unsupportedf("%s: replaced while it was opened", name)
		}
		if err != nil {
			return nil, err
		}
	}
}

// dirFile is an open file of the operating system.
type dirFile struct {
	source.Source
	file storage.File
	info fs.FileInfo // of the time when it was opened
}

func (d *directory) now(name string, src source.Source) source.Source {
	f := src.(dirFile)
	fi, err := d.root.Lstat(name)
	if err != nil || !d.sys.Same(fi, f.info) {
		return nil
	}
	return dirFile{source.FromReader(f.file, fi.Size()), f.file, f.info} // an edit in place may have changed the size
}

// lstat describes a regular file that is reached without links.
func (d *directory) lstat(name string) (fs.FileInfo, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		fi, err := d.root.Lstat(dir)
		if err != nil {
			return nil, err
		}
		if !fi.IsDir() {
			return nil, faults.Unsupportedf("%s is not a directory", dir)
		}
	}
	fi, err := d.root.Lstat(name)
	if err == nil && !fi.Mode().IsRegular() {
		err = faults.Unsupportedf("%s: not a regular file", name)
	}
	return fi, err
}

// haveAll reports whether all of these names exist, one after the other.
func (d *directory) haveAll(names ...string) bool {
	for _, name := range names {
		if _, err := d.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// maxAbove is more directories than file systems have above a name.
const maxAbove = 4096

// contains reports whether a name outside of d leads into the directory, as far as that can be found out.
func (d *directory) contains(name string) bool {
	self, err := d.root.Stat()
	if err != nil {
		return false
	}
	dir := paths.Dir(name)
	fi, err := d.sys.Stat(dir)
	for depth := 0; err == nil && depth < maxAbove; depth++ {
		if d.sys.Same(self, fi) {
			return true
		}
		dir += string(filepath.Separator) + ".." // the file system follows symbolic links before it
		up, upErr := d.sys.Stat(dir)
		if upErr == nil && d.sys.Same(up, fi) { // the topmost directory
			return false
		}
		fi, err = up, upErr
	}
	return false
}

func (d *directory) Close() error { return d.root.Close() }
