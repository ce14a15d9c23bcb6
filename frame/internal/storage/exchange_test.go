package storage

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"testing"
)

// TestExchange exchanges a directory with a file and with another directory, by names that count from the working
// directory.
func TestExchange(t *testing.T) {
	t.Chdir(t.TempDir())
	sys := At(OS(), "a")
	for _, err := range []error{
		os.MkdirAll("a/in", 0o777), os.Mkdir("dir", 0o777), os.WriteFile("file", []byte("x"), 0o666),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	before := map[string]fs.FileInfo{}
	for _, name := range []string{"a", "dir", "file"} {
		fi, err := sys.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		before[name] = fi
	}
	err := sys.Exchange("a", "dir")
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" && !errors.Is(err, errors.ErrUnsupported) {
		t.Fatalf("%v, want ErrUnsupported", err)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err == nil {
		err = sys.Exchange("a", "file")
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, was := range map[string]string{"a": "file", "dir": "a", "file": "dir"} {
		if fi, err := sys.Lstat(name); err != nil || !sys.Same(fi, before[was]) {
			t.Errorf("%s is not what was %s: %v", name, was, err)
		}
	}
	err = sys.Exchange("a", "none")
	if want := "exchange a none: "; !errors.Is(err, fs.ErrNotExist) || err.Error()[:len(want)] != want {
		t.Errorf("error %v, want ErrNotExist with the names", err)
	}
}
