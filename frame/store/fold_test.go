package store

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame/internal/storage"
)

// foldSystem is a file system that ignores case and keeps the case of new names, as those of Windows and macOS do.
type foldSystem struct{ storage.System }

func (s foldSystem) OpenRoot(dir string) (storage.Root, error) {
	r, err := s.System.OpenRoot(dir)
	return foldRoot{r}, err
}

type foldRoot struct{ storage.Root }

// find returns the name under which a file exists, or the name itself.
func (r foldRoot) find(name string) string {
	found := "."
	for element := range strings.SplitSeq(name, "/") {
		list, _ := r.Root.ReadDir(found)
		for _, e := range list {
			if strings.EqualFold(e.Name(), element) {
				element = e.Name()
			}
		}
		found = path.Join(found, element)
	}
	return found
}

func (r foldRoot) Open(name string, flag int, mode fs.FileMode) (storage.File, error) {
	return r.Root.Open(r.find(name), flag, mode)
}
func (r foldRoot) Mkdir(name string, mode fs.FileMode) error  { return r.Root.Mkdir(r.find(name), mode) }
func (r foldRoot) Rename(old, name string) error              { return r.Root.Rename(r.find(old), r.find(name)) }
func (r foldRoot) Remove(name string) error                   { return r.Root.Remove(r.find(name)) }
func (r foldRoot) Lstat(name string) (fs.FileInfo, error)     { return r.Root.Lstat(r.find(name)) }
func (r foldRoot) ReadDir(name string) ([]fs.DirEntry, error) { return r.Root.ReadDir(r.find(name)) }
func (r foldRoot) Sync(name string) error                     { return r.Root.Sync(r.find(name)) }

// TestIgnoredCase edits a directory store on a file system that ignores case. No leaf may replace one of another key,
// or come back under another key.
func TestIgnoredCase(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), "s.b2d")
	o := &CreateOptions{OpenOptions: OpenOptions{Threshold: 5, sys: foldSystem{storage.OS()}}}
	s, err := Create(ctx, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	model := map[string]string{}
	put := func(key, content string, want error) {
		t.Helper()
		if err := s.Put(ctx, key, contentFrame(t, []byte(content))); !errors.Is(err, want) {
			t.Errorf("Put(%s): %v, want %v", key, err, want)
		} else if err == nil {
			model[key] = content
		}
		sameStore(t, s, model)
		fresh, err := Open(ctx, dir, &OpenOptions{sys: o.sys})
		if err != nil {
			t.Fatal(err)
		}
		defer fresh.Close()
		sameStore(t, fresh, model)
	}
	put("/Leaf", "first leaf", nil)
	put("/leaf", "another", fs.ErrExist)
	put("/leaf", "tiny", nil) // in embed.b2e
	put("/leaf", "larger", fs.ErrExist)
	put("/Leaf", "replaced", nil)
	put("/G/leaf", "in a group", nil)
	put("/g/leaf", "replaces", fs.ErrExist)
	put("/g/other", "in another group", fs.ErrExist)
	put("/G/other", "in the group", nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Edit(ctx, dir, &OpenOptions{Threshold: 5, sys: o.sys}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	put("/g/third", "in another group", fs.ErrExist)
	put("/G/third", "in the group", nil)
	if err := s.Delete(ctx, "/g/third"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Delete: %v", err)
	}
	sameStore(t, s, model)
}
