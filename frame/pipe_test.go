//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package frame

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipes puts named pipes where files are expected: an error, where a read would wait for ever.
func TestPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	if f, err := Open(pipe, nil); !errors.Is(err, errNotFile) {
		t.Errorf("a pipe opened: %v, %v", f, err)
	}
	f, _ := modelFrame(t, "sparse", 64)
	for i := range byte(3) {
		must(t, f.Append(bytes.Repeat([]byte{0, 1, 2, i}, 16)))
	}
	must(t, f.Close())
	for _, name := range append(chunkFiles(t, f.Path()), "chunks.b2frame") {
		dir := copyDir(t, f.Path())
		name = filepath.Join(dir, name)
		must(t, os.Remove(name))
		must(t, syscall.Mkfifo(name, 0o600))
		f, err := Open(dir, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, f.Reader())
			must(t, f.Close())
		}
		if !errors.Is(err, errNotFile) {
			t.Errorf("%s as a pipe: %v", name, err)
		}
	}
}
