//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
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
