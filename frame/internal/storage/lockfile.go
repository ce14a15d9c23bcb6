package storage

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goblosc/blosc2/internal/errs"
)

// place returns the directory of the lock file, and its name there.
func (l *Lock) place() (Directory, string) {
	if l.root != nil {
		return l.root, filepath.Base(l.path)
	}
	return l.sys, l.path
}

// open opens or creates the lock file.
func (l *Lock) open() (LockFile, error) {
	in, name := l.place()
	f, err := openLockFile(in, name, l.edit, l.sys.Same)
	if err != nil {
		return nil, err
	}
	var file LockFile
	switch f := f.(type) {
	case *os.File:
		file = osLockFile{f}
	case LockFile: // of a test
		file = f
	default:
		f.Close()
		return nil, errors.ErrUnsupported
	}
	if n, err := file.Names(); l.edit && (n > 1 || err != nil) {
		f.Close()
		return nil, cmp.Or(err, fmt.Errorf("the file has %d names, so writing to it would change another file; if no process uses the frame, remove it", n))
	}
	return file, nil
}

// lockTries is the largest number of attempts to open or lock a file that other processes create, remove or exchange.
const lockTries = 10

// openLockFile opens or creates a regular file, but not through a symbolic link. It opens only a file that lstat
// reports as regular, because opening a device may have effects, and returns an error for any other file.
func openLockFile(in Directory, name string, edit bool, same func(a, b fs.FileInfo) bool) (File, error) {
	flag := os.O_RDONLY | noFollow
	if edit {
		flag = os.O_RDWR | noFollow
	}
	for range lockTries {
		was, err := in.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			f, err := in.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			return f, err
		}
		if err != nil {
			return nil, err
		}
		if !was.Mode().IsRegular() {
			return nil, ErrNotFile
		}
		f, err := in.Open(name, flag, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		is, err := f.Stat()
		if err == nil && same(was, is) {
			return f, nil
		}
		f.Close()
	}
	return nil, errOtherFile()
}

func errOtherFile() error {
	return fmt.Errorf("another file at each of %d tries: %w", lockTries, errs.ErrChanged)
}

// tryNamed tries to take the lock of the operating system on the file that has the name of the lock file now.
func (l *Lock) tryNamed(exclusive bool) (bool, error) {
	for range lockTries {
		if ok, err := l.File.TryLock(exclusive); !ok || err != nil {
			return false, l.errorOf(err)
		}
		named, err := l.named()
		if named && err == nil {
			return true, nil
		}
		if err = l.errorOf(err); err == nil && (exclusive || l.root != nil) {
			_, err = l.user.Stored() // the lock file of another frame is of no use; readers of a file follow its name
		}
		if err == nil {
			err = l.errorOf(l.exchange(exclusive))
		}
		if err != nil {
			l.File.Unlock()
			return false, err
		}
	}
	l.File.Unlock()
	return false, l.error(errOtherFile())
}

// named reports whether the opened lock file still has its name.
func (l *Lock) named() (bool, error) {
	in, name := l.place()
	is, err := l.File.Stat()
	if err != nil {
		return false, err
	}
	now, err := in.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && l.sys.Same(is, now), err
}

// exchange opens the file that has the name of the lock file now, in place of the opened one. With edit, it changes the
// counter of the old file, so that readers who still use that notice.
func (l *Lock) exchange(edit bool) error {
	file, err := l.open()
	if err != nil {
		return err
	}
	seq, err := countOf(l.File)
	if err == nil && edit {
		_, err = l.File.WriteAt(binary.NativeEndian.AppendUint64(nil, seq+1), 8)
	}
	if err == nil {
		seq, err = countOf(file)
	}
	if err != nil {
		file.Close()
		return err
	}
	l.File.Close()
	l.File, l.seq = file, seq-1 // the counter differs from now on: the frame may have changed
	return nil
}

// countOf reads the counter of a lock file.
func countOf(f LockFile) (uint64, error) {
	var b [8]byte
	n, err := f.ReadAt(b[:], 8)
	switch {
	case n == len(b):
		return binary.NativeEndian.Uint64(b[:]), nil
	case errors.Is(err, io.EOF):
		return 0, nil
	}
	return 0, err
}
