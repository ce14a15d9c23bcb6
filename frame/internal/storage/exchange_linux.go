// Old versions of Android kill a process for the call.

//go:build !android

package storage

import "golang.org/x/sys/unix"

// exchange exchanges two names.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
