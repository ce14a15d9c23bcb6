//go:build !unix

package storage

// These systems have no such flags.
const noWait, noFollow = 0, 0

func mustWait(error) bool { return false }
