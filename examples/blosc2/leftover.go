package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/goblosc/blosc2/internal/paths"
)

// Names of temporary files and directories: NAME.0123abcd.tmp beside NAME, with .old for what NAME was where names
// cannot be exchanged, and files inside a directory.
var (
	besideName = regexp.MustCompile(`^\.([0-9a-f]{8}|[0-9a-f]{16}|input-[0-9]+)\.tmp(\.old)?$`)
	insideDir  = regexp.MustCompile(`^([0-9a-f]{16}|chunks\.b2frame)\.tmp$|\.b2(nd|frame|f|b|e|z)\.([0-9a-f]{8}|[0-9a-f]{16})\.tmp$`)
)

// leftovers returns the temporary files and directories of PATH that a process which was killed has left, or which one
// that runs still uses.
func leftovers(path string) ([]string, error) {
	if path == "-" || isURL(path) {
		return nil, nil
	}
	path = paths.Trim(path)
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(paths.Dir(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []string
	for _, x := range entries {
		if name := x.Name(); len(name) > len(base) && name[:len(base)] == base && besideName.MatchString(name[len(base):]) {
			found = append(found, dir+name)
		}
	}
	if fi, err := os.Lstat(path); err != nil || !fi.IsDir() {
		return found, nil
	}
	root, err := filepath.EvalSymlinks(path) // as WalkDir removes ".."
	if err != nil {
		return found, err
	}
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !insideDir.MatchString(d.Name()) {
			return err
		}
		inside, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		found = append(found, paths.Trim(paths.Join(path, inside)))
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return found, err
}

// leftoverPath returns the path that the temporary files of PATH are named after: its file if it is a leaf of a store.
// The file is missing if a process was killed between two renames.
func leftoverPath(e *env, path string) string {
	if path == "-" || isURL(path) {
		return path
	}
	if file, err := editPath(e, path); err == nil {
		return file
	}
	if name, key, ok := splitStore(path); ok && key != "/" {
		for _, ext := range leafExtensions {
			inside := filepath.FromSlash(key[1:]) + ext
			file := paths.Join(name, inside)
			found, err := leftovers(file)
			if err == nil && len(found) > 0 && isInDir(name, filepath.Join(filepath.Dir(inside), filepath.Base(found[0]))) {
				return file
			}
		}
	}
	return path // which may be missing
}

// noteLeftovers prints a note for each temporary file of PATH.
func noteLeftovers(e *env, path string) {
	file := leftoverPath(e, path)
	found, err := leftovers(file)
	if err != nil {
		return // the verb reports what is wrong with the path
	}
	_, missing := os.Lstat(file)
	for _, name := range found {
		if missing != nil && filepath.Ext(name) == ".old" {
			e.note(fmt.Sprintf("%s: what %s was before a process was killed; rename it to that name", name, file))
			continue
		}
		e.note(fmt.Sprintf("%s: temporary file of a process that was killed or still runs; blosc2 repair -clean %s removes it", name, path))
	}
}

// clean removes the temporary files of PATH, and prints their names. If PATH does not exist and one of them holds the
// data that PATH had, it removes nothing.
func clean(e *env, path string) error {
	path = leftoverPath(e, path)
	found, err := leftovers(path)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err != nil {
		old := slices.IndexFunc(found, func(name string) bool { return filepath.Ext(name) == ".old" })
		if old >= 0 {
			return fmt.Errorf("%s does not exist, but %s has what it was; rename that first", path, found[old])
		}
		if len(found) == 0 {
			return err
		}
	}
	for _, name := range found {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
		fmt.Fprintf(e.out, "removed %s\n", visible(name))
	}
	return nil
}
