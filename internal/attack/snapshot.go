package attack

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// snapshot describes a file or the files of a folder: names, kinds, sizes, and the content up to a size. It is "" if
// there is nothing. Lock files do not count, as readers make them.
func snapshot(path string) string {
	var list []string
	filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".b2lock" {
			return nil // nothing there
		}
		fi, err := d.Info()
		if err != nil {
			return nil
		}
		line := fmt.Sprintf("%s %v", strings.TrimPrefix(p, path), fi.Mode())
		if fi.Mode().IsRegular() {
			line += fmt.Sprintf(" %d", fi.Size())
			if fi.Size() < 1<<16 {
				b, err := os.ReadFile(p)
				line += fmt.Sprintf(" %08x %v", crc(b), err)
			} else {
				line += fi.ModTime().String()
			}
		} else if target, err := os.Readlink(p); err == nil {
			line += " " + target
		}
		list = append(list, line)
		return nil
	})
	slices.Sort(list)
	return strings.Join(list, "\n")
}
