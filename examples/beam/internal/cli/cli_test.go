package cli

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/examples/beam/b2beam"
)

// TestFiles lists the files of paths and patterns, also in folders whose names look like patterns.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run[1]")
	for _, name := range []string{"a/x.b2nd", "b/x.b2nd", "b/y.b2nd", "b/z[2].b2nd"} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string][]string{
		"b/*.b2nd": {"x", "y", "z[2]"}, "b/z[2].b2nd": {"z[2]"}, "b/y.b2nd": {"y"}, "*/x.b2nd": {"a/x", "b/x"}, "none/x.b2nd": nil,
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

// TestFlags refuses a folder whose name is not UTF-8.
func TestFlags(t *testing.T) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.String("out", "", "")
	for name, bad := range map[string]bool{"lat-é": false, "lat-\xe9": true} {
		if err := flags.Set("out", name); err != nil {
			t.Fatal(err)
		}
		if err := checkFlags(flags); (err != nil) != bad {
			t.Errorf("%q: error %v", name, err)
		}
	}
}

// TestAboveLink writes and lists files in a folder whose name has ".." after a symbolic link, which leads above its
// target.
func TestAboveLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows removes .. by name")
	}
	t.Chdir(t.TempDir())
	if err := errors.Join(os.MkdirAll("there/below", 0o777), os.Mkdir("here", 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../there/below", "here/link"); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	const in = "here/link/../in"
	err := errors.Join(SampleVolumes(t.Context(), b2beam.Join(in, "sample"), 1), SampleDays(t.Context(), in, 1), SampleArchive(t.Context(), in+"/new/a.b2nd", 1))
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{"/sample/*.npy": "/sample/volume-1.npy", "/*/a.b2nd": "/new/a.b2nd", "/t2m-001.b2nd": "/t2m-001.b2nd"} {
		if files, err := Files(in + pattern); err != nil || len(files) != 1 || files[0].Path != in+want {
			t.Errorf("%s: %v, %v", pattern, files, err)
		}
	}
	if list, err := os.ReadDir("here"); err != nil || len(list) != 1 {
		t.Errorf("%v beside the link, %v", list, err)
	}
}
