package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/paths"
)

// checkFree returns an error that wraps fs.ErrExist if a new file may not have a name.
func checkFree(d storage.Directory, name string, overwrite bool) error {
	fi, err := d.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && (!overwrite || fi.IsDir()):
		return fs.ErrExist
	}
	return err
}

// checkOverwrite is checkFree for a file, which the option Overwrite replaces.
func checkOverwrite(d storage.Directory, name string, overwrite bool) error {
	err := checkFree(d, name, overwrite)
	if errors.Is(err, fs.ErrExist) && checkFree(d, name, true) == nil {
		return errs.SetOverwrite(err)
	}
	return err
}

// createFile writes a file under a temporary name, and calls rename when it is complete. A file that replaces another
// has its permissions, and its owner where the system permits. The caller must sync the directory.
func createFile(d storage.Directory, temp, name string, noSync bool, rename func(temp, name string) error, fill func(w io.Writer) error) error {
	old, err := storage.Existing(d, name)
	if err == nil {
		err = writeFile(d, temp, old, noSync, fill)
	}
	if err != nil {
		if _, e := d.Lstat(paths.Dir(name)); errors.Is(e, fs.ErrNotExist) {
			err = errs.NoDirectory(name, err)
		}
		return err
	}
	if err = rename(temp, name); err != nil {
		d.Remove(temp)
	}
	return err
}

// renamer returns what gives a new file or directory its name. It replaces a file only with overwrite.
func renamer(sys storage.System, overwrite bool) func(temp, name string) error {
	if overwrite {
		return sys.Rename
	}
	return func(temp, name string) error { return storage.RenameNew(sys, temp, name) }
}

// writeFile writes a new file with the access of the file old, or nil, and removes it after an error.
func writeFile(d storage.Directory, name string, old fs.FileInfo, noSync bool, fill func(w io.Writer) error) error {
	file, err := storage.CreateLike(d, name, old)
	if err != nil {
		return err
	}
	err = fill(io.NewOffsetWriter(file, 0))
	if err = storage.CloseWritten(file, err, noSync); err != nil {
		d.Remove(name)
	}
	return err
}

// tempBeside returns a temporary name for what gets a name outside of a store.
func tempBeside(name string) string { return name + "." + storage.TempName() }

// mkdirAll creates a directory of a store and those above it. It returns fs.ErrExist if the file system takes another
// name for the same, because it ignores case: the keys of leaves in the directory would begin with that name.
func (d *directory) mkdirAll(name string) error {
	if name == "." {
		return nil
	}
	if err := d.mkdirAll(path.Dir(name)); err != nil {
		return err
	}
	if d.names == nil {
		d.names = map[string]bool{}
	}
	err := d.root.Mkdir(name, 0o777)
	if err == nil {
		d.names[name] = true
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	fi, statErr := d.root.Lstat(name)
	switch {
	case statErr != nil:
		return statErr
	case !fi.IsDir():
		return err
	case d.names[name]:
		return nil
	}
	list, listErr := d.root.ReadDir(path.Dir(name))
	for _, e := range list {
		if !e.IsDir() {
			continue
		}
		d.names[path.Join(path.Dir(name), e.Name())] = true
	}
	switch {
	case listErr != nil:
		return listErr
	case !d.names[name]:
		return fmt.Errorf("the directory %s has another name in the file system, which ignores case: %w", name, err)
	}
	return nil
}

// removeEmpty removes a directory of a store and those above it, as far as they are empty, because a file may need the
// name. It returns the first directory that remains.
func (d *directory) removeEmpty(name string) string {
	for ; name != "."; name = path.Dir(name) {
		fi, err := d.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || !fi.IsDir() || d.root.Remove(name) != nil {
			break
		}
		d.names = nil
	}
	return name
}
