package storage

import (
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// TestIsBadSector compares the errors of damaged disks and file systems with others.
func TestIsBadSector(t *testing.T) {
	for err, want := range map[error]bool{
		syscall.EIO: true, syscall.EUCLEAN: true, syscall.EBADMSG: true, syscall.ENODATA: true,
		syscall.EACCES: false, syscall.EMFILE: false, syscall.ENOMEM: false, fs.ErrNotExist: false,
	} {
		if got := IsBadSector(fmt.Errorf("reading: %w", &fs.PathError{Op: "read", Path: "x", Err: err})); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}
