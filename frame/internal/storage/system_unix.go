//go:build unix

package storage

import (
	"errors"
	"io/fs"
	"syscall"
)

// noWait are the flags for opening a file without waiting for the other end of a named pipe, and without making a
// terminal the controlling one.
const noWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// noFollow is the flag for not following a symbolic link.
const noFollow = syscall.O_NOFOLLOW

// mustWait reports whether a file could not be opened without waiting.
func mustWait(err error) bool { return errors.Is(err, syscall.EAGAIN) }

// keepOwner gives the file f, described by is, the owner and the group of the file old, as far as the system permits.
// It reports whether f has the group.
func keepOwner(f File, is, old fs.FileInfo) bool {
	want, ok := old.Sys().(*syscall.Stat_t)
	have, known := is.Sys().(*syscall.Stat_t)
	switch {
	case !ok || !known: // files of a test
		return true
	case have.Uid == want.Uid && have.Gid == want.Gid:
		return true
	case f.Chown(int(want.Uid), int(want.Gid)) == nil:
		return true
	}
	return have.Gid == want.Gid || f.Chown(-1, int(want.Gid)) == nil
}
