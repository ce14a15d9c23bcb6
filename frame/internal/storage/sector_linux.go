package storage

import (
	"errors"
	"syscall"
)

// IsBadSector reports whether an error of reading is that of a bad sector, or of another fault of the disk. File
// systems return EUCLEAN or EBADMSG for damaged metadata, and some disks ENODATA for a bad sector.
func IsBadSector(err error) bool {
	for _, e := range []error{syscall.EIO, syscall.EUCLEAN, syscall.EBADMSG, syscall.ENODATA} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
