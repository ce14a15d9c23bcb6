//go:build !race

// The race detector needs more memory than the tests allow.

package main

import "syscall"

const canLimit = true

// limitMemory lets the system refuse this process more than so many bytes of memory.
func limitMemory(n uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: n, Max: n})
}
