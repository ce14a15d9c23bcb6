//go:build !windows && !linux

package storage

import (
	"errors"
	"syscall"
)

// IsBadSector reports whether an error of reading is that of a bad sector, or of another fault of the disk.
func IsBadSector(err error) bool { return errors.Is(err, syscall.EIO) }
