package storage

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// IsBadSector reports whether an error of reading is that of a bad sector, or of another fault of the disk.
func IsBadSector(err error) bool {
	for _, e := range []error{
		windows.ERROR_CRC, windows.ERROR_SECTOR_NOT_FOUND, windows.ERROR_READ_FAULT, windows.ERROR_IO_DEVICE,
		windows.ERROR_FILE_CORRUPT, windows.ERROR_DISK_CORRUPT, syscall.EIO,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
