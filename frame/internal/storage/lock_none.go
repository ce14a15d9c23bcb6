//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package storage

import (
	"errors"
	"os"
)

// CanLock reports whether this system has locks of files.
const CanLock = false

// TryLockFile fails.
func TryLockFile(*os.File, bool) (bool, error) { return false, errors.ErrUnsupported }

func countNames(*os.File) (uint64, error) { return 0, errors.ErrUnsupported }

// UnlockFile releases the lock on a file.
func UnlockFile(*os.File) error { return nil }
