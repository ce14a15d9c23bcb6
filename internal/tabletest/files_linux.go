package tabletest

import (
	"os"
	"path/filepath"
	"strings"
)

// OpenFiles returns how many files of the store the process has open.
func (b *Builder) OpenFiles() (n int) {
	b.T.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		b.T.Fatal(err)
	}
	for _, e := range list {
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); err == nil && strings.HasPrefix(to, b.Dir+"/") {
			n++
		}
	}
	return n
}
