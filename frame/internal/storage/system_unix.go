//go:build unix

package storage

import (
	"errors"
	"syscall"
)

// noWait are the flags for opening a file without waiting for the other end of a named pipe, and without making a
// terminal the controlling one.
const noWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// noFollow is the flag for not following a symbolic link.
const noFollow = syscall.O_NOFOLLOW

// mustWait reports whether a file could not be opened without waiting.
func mustWait(err error) bool { return errors.Is(err, syscall.EAGAIN) }
