//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package storage

import (
	"errors"
	"os"
)

func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) error { return nil }
