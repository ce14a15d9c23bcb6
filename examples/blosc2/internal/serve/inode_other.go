//go:build !unix

package serve

import "io/fs"

// inode returns 0: the number of a file is not known without opening it.
func inode(fs.FileInfo) uint64 { return 0 }
