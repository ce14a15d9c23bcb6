package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"time"
)

// tempSuffix is the end of the names that TempName returns.
const tempSuffix = ".tmp"

// TempName returns a name for a temporary file in a directory.
func TempName() string { return fmt.Sprintf("%016x%s", rand.Uint64(), tempSuffix) }

// IsTemp reports whether name may be one that TempName has returned.
func IsTemp(name string) bool {
	digits, ok := strings.CutSuffix(name, tempSuffix)
	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}

// ReplaceFile writes data to a temporary file in the directory dir of r, and renames it to name, which may exist. So
// the file has its old content or all of data, even after a crash, and any number of processes may replace it at the
// same time. The directory of name is not synced. The file has the permissions and the owner of the file like, if that
// exists.
func ReplaceFile(r Root, dir, name, like string, data []byte, noSync bool) error {
	old, err := Existing(r, like)
	if err != nil {
		return err
	}
	temp := dir + "/" + TempName()
	f, err := CreateLike(r, temp, old)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if err = CloseWritten(f, err, noSync); err == nil {
		err = r.Rename(temp, name)
	}
	if err != nil {
		r.Remove(temp)
	}
	return err
}

// CloseWritten syncs and closes a new file. err is the error of writing it; after an error, the file is not synced.
func CloseWritten(f File, err error, noSync bool) error {
	if err == nil && !noSync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// RemoveDir removes a directory of r and the files in it, also files that other processes create during the call. When
// it returns, no process can rename a file of the directory any more. If the directory does not exist, it returns nil.
// If dir is a link or a file, it removes only that.
func RemoveDir(ctx context.Context, r Root, dir string) error {
	if fi, err := r.Lstat(dir); err == nil && !fi.IsDir() { // a link must not lead to other files
		return r.Remove(dir)
	}
	for {
		list, err := r.ReadDir(dir)
		for _, e := range list {
			if err := r.Remove(dir + "/" + e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if err == nil {
			err = r.Remove(dir)
		}
		switch {
		case err == nil || errors.Is(err, fs.ErrNotExist):
			return nil
		case !errors.Is(err, fs.ErrExist): // another reason than a directory that is not empty
			return err
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
