package storage

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// CanLock reports whether this system has file locks.
const CanLock = true

// tryLock takes the lock of the operating system on a file, in place of the lock that f has. If others hold it, it
// returns false, and f has no lock.
func tryLock(f *os.File, exclusive bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	unlock(f) // f would wait for its own lock; fails if there is none
	err := withHandle(f, func(h windows.Handle) error {
		return windows.LockFileEx(h, flags, 0, 1, 0, new(windows.Overlapped))
	})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// countNames returns the number of names of a file: 1, and 1 more for each other hard link.
func countNames(f *os.File) (uint64, error) {
	var info windows.ByHandleFileInformation
	err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info)
	return uint64(info.NumberOfLinks), err
}

// unlock releases the lock on a file.
func unlock(f *os.File) error {
	return withHandle(f, func(h windows.Handle) error {
		return windows.UnlockFileEx(h, 0, 1, 0, new(windows.Overlapped))
	})
}

// withHandle calls do with the handle of f. The handle is not closed during the call. After Close, withHandle returns
// os.ErrClosed.
func withHandle(f *os.File, do func(h windows.Handle) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	e := conn.Control(func(fd uintptr) { err = do(windows.Handle(fd)) })
	return errors.Join(e, err)
}
