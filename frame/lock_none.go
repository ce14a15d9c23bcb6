//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package frame

import (
	"errors"
	"fmt"
	"os"
)

func lockFile(*os.File, bool) error {
	return fmt.Errorf("this system has no locks of files: %w", errors.ErrUnsupported)
}

func unlockFile(*os.File) error { return nil }
