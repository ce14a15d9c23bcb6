package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestRemovedDir lists a removed directory: the error has the name of the caller, once.
func TestRemovedDir(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems list no files, or cannot remove an opened directory")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"a", filepath.Join(dir, "b")} {
		if err := os.Mkdir(name, 0o777); err != nil {
			t.Fatal(err)
		}
		r, err := At(OS(), name).OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		_, err = r.ReadDir(".")
		var e *fs.PathError
		if !errors.As(err, &e) || e.Path != name || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v, want ErrNotExist with the name %s", err, name)
		}
	}
}

// TestOpenKindFails opens files whose Stat fails: the error has the given name, and no new file remains.
func TestOpenKindFails(t *testing.T) {
	dir := t.TempDir()
	r, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, flag := range []int{os.O_RDWR | os.O_CREATE | os.O_EXCL, os.O_RDWR | os.O_CREATE} {
		open := func(flag int) (*os.File, error) {
			f, err := r.OpenFile("a", flag, 0o666)
			if err == nil {
				f.Close() // so that Stat fails
			}
			return f, err
		}
		_, err := openKind("a", flag, regularOrDir, open, func() (fs.FileInfo, error) { return r.Stat("a") }, r.Remove)
		var e *fs.PathError
		if !errors.As(err, &e) || e.Path != "a" {
			t.Errorf("error %v, want one with the name a", err)
		}
		if _, err := r.Lstat("a"); (err == nil) == (flag&os.O_EXCL != 0) {
			t.Errorf("flag %#x: looking at the file: %v", flag, err)
		}
	}
}
