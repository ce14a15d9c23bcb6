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
