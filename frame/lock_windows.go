package frame

import (
	"os"

	"golang.org/x/sys/windows"
)

// canLock tells whether this system has locks of files.
const canLock = true

// lockFile takes the lock of the system on a file, and waits until it is free. It takes the place of the one that f
// has.
func lockFile(f *os.File, exclusive bool) error {
	flags := uint32(0)
	if exclusive {
		flags = windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	unlockFile(f) // else it would wait for itself; fails when there is none
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
}

func unlockFile(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped))
}
