//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package frame

import (
	"errors"
	"os"
	"syscall"
)

// canLock tells whether this system has locks of files.
const canLock = true

// lockFile takes the lock of the system on a file, and waits until it is free. It takes the place of the one that f
// has.
func lockFile(f *os.File, exclusive bool) error {
	if exclusive {
		return flock(f, syscall.LOCK_EX)
	}
	return flock(f, syscall.LOCK_SH)
}

func unlockFile(f *os.File) error { return flock(f, syscall.LOCK_UN) }

func flock(f *os.File, how int) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	e := conn.Control(func(fd uintptr) {
		for {
			if err = syscall.Flock(int(fd), how); !errors.Is(err, syscall.EINTR) {
				return
			}
		}
	})
	return errors.Join(e, err)
}
