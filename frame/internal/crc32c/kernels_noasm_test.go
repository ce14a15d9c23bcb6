//go:build !amd64 || purego

package crc32c

// withVector runs f with the kernel, and returns false where the machine has none.
func withVector(func()) bool { return false }
