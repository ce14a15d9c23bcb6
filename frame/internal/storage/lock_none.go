//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package storage

import (
	"errors"
	"os"
)

// CanLock reports whether this system has file locks.
const CanLock = false

// tryLock fails.
func tryLock(*os.File, bool) (bool, error) { return false, errors.ErrUnsupported }

func countNames(*os.File) (uint64, error) { return 0, errors.ErrUnsupported }

// unlock releases the lock on a file.
func unlock(*os.File) error { return nil }
