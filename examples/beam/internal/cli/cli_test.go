package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFiles lists the files of paths and patterns, also in folders whose names look like patterns.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run[1]")
	for _, name := range []string{"a/x.b2nd", "b/x.b2nd", "b/y.b2nd"} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string][]string{
		"b/*.b2nd": {"x", "y"}, "b/y.b2nd": {"y"}, "*/x.b2nd": {"a/x", "b/x"}, "none/x.b2nd": nil,
	} {
		files, err := Files(filepath.Join(dir, filepath.FromSlash(path)))
		var names []string
		for _, f := range files {
			names = append(names, f.Name)
		}
		if !slices.Equal(names, want) || errors.Is(err, fs.ErrNotExist) != (want == nil) {
			t.Errorf("%s: %q, %v, want %q", path, names, err, want)
		}
	}
}
