//go:build unix

package storage

import (
	"errors"
	"syscall"
)

// noWait are the flags for opening a file without waiting for the other end, if it is a named pipe, and without taking
// a terminal over.
const noWait = syscall.O_NONBLOCK | syscall.O_NOCTTY

// noFollow is the flag for not opening what a symbolic link leads to.
const noFollow = syscall.O_NOFOLLOW

// mustWait reports whether a file could not be opened without waiting.
func mustWait(err error) bool { return errors.Is(err, syscall.EAGAIN) }
