package storage

import (
	"errors"
	"io/fs"
	"os"
)

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
