//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package frame

import (
	"errors"
	"os"
)

// canLock tells whether this system has locks of files.
const canLock = false

func tryLockFile(*os.File, bool) (bool, error) { return false, errors.ErrUnsupported }

func countNames(*os.File) (uint64, error) { return 0, errors.ErrUnsupported }

func unlockFile(*os.File) error { return nil }
