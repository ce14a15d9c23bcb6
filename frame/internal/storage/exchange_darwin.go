package storage

import "golang.org/x/sys/unix"

// exchange exchanges two names.
func exchange(a, b string) error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) }
