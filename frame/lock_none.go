//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package frame

import (
	"errors"
	"os"
)

// canLock tells whether this system has locks of files.
const canLock = false

func lockFile(*os.File, bool) error { return errors.ErrUnsupported }

func unlockFile(*os.File) error { return nil }
