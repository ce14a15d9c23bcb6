//go:build !race

// The race detector needs more memory than the tests allow.

package main

import "syscall"

const canLimit = true

// limitMemory limits the memory of this process to n bytes.
func limitMemory(n uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: n, Max: n})
}
