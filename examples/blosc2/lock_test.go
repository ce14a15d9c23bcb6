package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/ndarray"
)

// lockedItems returns a stream of the first items of an array, whose lock is held until all are read or the stream is
// closed.
func lockedItems(t *testing.T, a *ndarray.Array, n int64) io.ReadCloser {
	r, w := io.Pipe()
	go func() { w.CloseWithError(ndarray.ToWriter(t.Context(), w, a, ndarray.Span(0, n))) }()
	first := make([]byte, 1) // waits until the lock is held
	if _, err := io.ReadFull(r, first); err != nil {
		t.Fatal(err)
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(first), r), r}
}

// TestLockFile runs verbs on an array with a lock file while another handle edits it, as another process would.
func TestLockFile(t *testing.T) {
	locks := false
	for _, form := range []string{"file", "sparse", "link"} {
		t.Run(form, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "a.b2nd")
			o := &ndarray.CreateOptions{Locking: true, Sparse: form == "sparse"}
			a, err := ndarray.Create(t.Context(), name, []int64{2}, []int32{1, 2}, o)
			if errors.Is(err, errors.ErrUnsupported) {
				t.Skip("no file locks here")
			} else if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			locks = true
			path := name
			if form == "link" {
				path = filepath.Join(t.TempDir(), "link")
				if err := os.Symlink(name, path); err != nil {
					t.Skip("no symbolic links: ", err)
				}
			}
			calls := [][]string{
				{"set", path, "0", "-value", "7"}, {"append", "-raw", path}, {"resize", path, "1"}, {"vlmeta", path, "set", "x", "1"},
				{"compact", path}, {"compact", "-n", path}, {"slice", path, ":"}, {"slice", "-progress", path, ":"}, {"info", path},
			}
			b, err := a.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer b.Rollback()
			if err := b.AppendBytes(t.Context(), 0, []byte(numbers(3))); err != nil {
				t.Fatal(err)
			}
			for _, args := range calls {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
				code := run(ctx, args, strings.NewReader(numbers(1)), io.Discard, io.Discard)
				cancel()
				if code == 0 {
					t.Errorf("%q does not wait for another process", args)
				}
			}
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
			must(t, numbers(4), "append", "-raw", path)
			if got, err := ndarray.Read[int32](t.Context(), a); err != nil || len(got) != 9 || !slices.Equal(got[:2], []int32{1, 2}) {
				t.Errorf("after all edits: %v, %v", got, err)
			}
			must(t, npyFile([]int64{0}, false, ""), "append", path)
			for _, args := range [][]string{{"append", "-raw", path}, {"append", "-raw", path, "-"}, {"set", "-raw", path, ":4"}, {"set", "-raw", path, ":4", "-"}} {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				in := lockedItems(t, a, 4)
				if code := run(ctx, args, in, io.Discard, io.Discard); code != 0 {
					t.Errorf("%q: standard input from a process that holds the lock: exit status %d", args, code)
				}
				cancel()
				in.Close()
			}
			must(t, "", "resize", path, "9")
			must(t, numbers(2)[:8], "set", "-raw", path, ":2")
			if got := must(t, "", "slice", path, "2:"); got != numbers(3)+numbers(4) {
				t.Error("slice prints other items")
			}
		})
	}
	if !locks {
		return
	}
	name := newArray(t)
	for _, value := range []string{"", "0", "1"} {
		t.Setenv("BLOSC_LOCKING", value)
		must(t, "", "vlmeta", name, "set", "x", "1")
		if _, err := os.Lstat(name + ".b2lock"); (err == nil) != (value == "1") {
			t.Errorf("BLOSC_LOCKING=%s: %v", value, err)
		}
	}
	dir := t.TempDir()
	other := filepath.Join(dir, "notes.txt") // no frame
	if err := os.WriteFile(other, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	torn := filepath.Join(dir, "torn.b2nd")
	if err := os.WriteFile(torn, []byte(readFile(t, name)[:100]), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, other, torn} {
		for _, args := range [][]string{{"info", path}, {"slice", path, ":"}, {"slice", "-progress", path, ":"}, {"append", path}, {"vlmeta", path, "set", "x", "1"}} {
			fails(t, 1, "", "", args...)
			for _, lock := range []string{filepath.Join(dir, ".b2lock"), dir + ".b2lock", path + ".b2lock"} {
				if _, err := os.Lstat(lock); !errors.Is(err, fs.ErrNotExist) {
					t.Fatalf("%q left a lock file: %v", args, err)
				}
			}
		}
	}
	if err := errors.Join(os.Remove(name+".b2lock"), os.Mkdir(name+".b2lock", 0o777)); err != nil { // of no use
		t.Fatal(err)
	}
	if got := must(t, "", "dump", name); got != numbers(30) {
		t.Error("dump without the lock: other items")
	}
	fails(t, 1, "b2lock", "", "vlmeta", name, "set", "x", "2")
}
