// Package paths takes the names of files apart. Unlike package filepath it does not remove elements "..": after a
// symbolic link they lead to the directory above its target.
package paths

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Trim returns name without separators and elements "." after its last other element.
func Trim(name string) string {
	for {
		dir, last := filepath.Split(name)
		above := strings.TrimRightFunc(dir, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(byte(r)) })
		if last != "" && last != "." || above == filepath.VolumeName(dir) {
			return name
		}
		name = above
	}
}

// Dir returns the name of the directory that name is in.
func Dir(name string) string {
	dir, _ := filepath.Split(Trim(name))
	if dir == "" {
		return "."
	}
	return Trim(dir)
}

// Abs returns an absolute name of a file.
func Abs(name string) (string, error) {
	switch {
	case filepath.IsAbs(name):
		return name, nil
	case runtime.GOOS == "windows": // which removes ".." by name, too
		return filepath.Abs(name)
	}
	wd, err := filepath.Abs(".")
	return Join(wd, name), err
}

// Join returns the name of a file in a directory.
func Join(dir, name string) string {
	switch {
	case dir == ".":
		return name
	case dir == "" || os.IsPathSeparator(dir[len(dir)-1]):
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}
