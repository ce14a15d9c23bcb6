//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPipes opens a pipe without a writer, which must not wait for one.
func TestPipes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip(err)
	}
	for what, open := range map[string]func() error{
		"Open":       func() error { _, err := Open(t.Context(), name, nil); return err },
		"Edit":       func() error { _, err := Edit(t.Context(), name, nil); return err },
		"OpenTensor": func() error { _, err := OpenTensor(t.Context(), name, nil); return err },
	} {
		failed := make(chan error, 1)
		go func() { failed <- open() }()
		select {
		case err := <-failed:
			if err == nil {
				t.Errorf("%s: no error", what)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s waits", what)
		}
	}
}

// TestPrivate edits and packs stores that only their owner may read: new files are not for other users.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	private := func(name string, change bool) {
		t.Helper()
		name = filepath.Join(dir, name)
		fi, err := os.Stat(name)
		if change && err == nil {
			err = os.Chmod(name, 0o600)
		}
		if err != nil || !change && fi.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, fi.Mode(), err)
		}
	}
	path, zip, embed := filepath.Join(dir, "s.b2d"), filepath.Join(dir, "s.b2z"), filepath.Join(dir, "s.b2e")
	s, err := Create(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	private("s.b2d/embed.b2e", true)
	put := func(key string) {
		t.Helper()
		if err := s.Put(t.Context(), key, contentFrame(t, make([]byte, 100))); err != nil {
			t.Fatal(err)
		}
	}
	put("/a")
	private("s.b2d/a.b2f", false)
	put("/a")
	private("s.b2d/a.b2f", false)
	o := &CreateOptions{Overwrite: true}
	for _, change := range []bool{true, false} {
		if err := s.Pack(t.Context(), zip, o); err != nil {
			t.Fatal(err)
		}
		private("s.b2z", change)
		e, err := Create(t.Context(), embed, o)
		if err != nil {
			t.Fatal(err)
		}
		e.Close()
		private("s.b2e", change)
	}
}
