//go:build !unix

package storage

import "io/fs"

// These systems have no such flags.
const noWait, noFollow = 0, 0

func mustWait(error) bool { return false }

// keepOwner does nothing: on these systems a new file has the owner that the system gives it.
func keepOwner(_ File, _, _ fs.FileInfo) bool { return true }
