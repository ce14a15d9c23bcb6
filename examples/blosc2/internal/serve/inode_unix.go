//go:build unix

package serve

import (
	"io/fs"
	"syscall"
)

// inode returns the number that the file system gives a file.
func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}
