//go:build linux && !race

// The race detector needs more memory than the tests allow.

package attack

import (
	"time"

	"golang.org/x/sys/unix"
)

// limitMemory lets the operating system refuse this process more than n bytes of memory for data.
func limitMemory(n uint64) error {
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: n, Max: n})
}

// limitTime lets the operating system end this process when it has used so much CPU time. Starting takes
// some, too.
func limitTime(most time.Duration) error {
	n := uint64(most/time.Second) + 2
	return unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: n, Max: n + 1})
}

// limitStacks gives the threads of processes that start before restore is called stacks of 1 MiB. They count as data: 8
// MiB each with the usual limit, if the program uses cgo.
func limitStacks() (restore func(), err error) {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_STACK, &was); err != nil {
		return nil, err
	}
	if err := unix.Setrlimit(unix.RLIMIT_STACK, &unix.Rlimit{Cur: min(1<<20, was.Max), Max: was.Max}); err != nil {
		return nil, err
	}
	return func() { unix.Setrlimit(unix.RLIMIT_STACK, &was) }, nil
}
