package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/internal/simulated"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// copied opens a copy of a store of testdata for editing.
func copied(t *testing.T, name string) *Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(name))
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("../../testdata", name))); err != nil {
		t.Fatal(err)
	}
	s, err := Edit(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestNewKeys puts leaves where python-blosc2 would not find them, or where they would destroy a table or attributes.
func TestNewKeys(t *testing.T) {
	tree, table := copied(t, "stores/tree.b2d"), copied(t, "tables/wide4.b2d")
	for _, c := range []struct {
		s    *Store
		key  string
		want error
	}{
		{tree, "/img/level0/under", ErrParam},
		{tree, "/img/level0/far/under", ErrParam},
		{tree, "/img", ErrParam},
		{tree, "/__vlmeta__", ErrParam},
		{tree, "/new/__vlmeta__", ErrParam},
		{tree, "/new/__vlmeta__/x", ErrParam},
		{tree, "/new/__vlmeta__/far/x", ErrParam},
		{tree, "../q", ErrParam},
		{tree, "x/../img/level0", ErrParam},
		{tree, "./q", ErrParam},
		{tree, ".", ErrParam},
		{tree, strings.Repeat("/d", maxDepth+2), ErrParam},
		{tree, strings.Repeat("/d", maxDepth+1), nil},
		{tree, "/img/level0", nil},
		{tree, "/img/new", nil},
		{table, "/_meta", errors.ErrUnsupported},
		{table, "/_valid_rows", errors.ErrUnsupported},
		{table, "/_cols/c3_utf8", errors.ErrUnsupported},
		{table, "/new", errors.ErrUnsupported},
	} {
		if err := c.s.Put(t.Context(), c.key, contentFrame(t, []byte("x"))); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%.30s: %v, want %v", c.key, err, c.want)
		}
	}
	for _, c := range []struct {
		s     *Store
		group string
		want  error
	}{
		{tree, "/a:b", ErrParam},
		{tree, "/img/level0/under", ErrParam},
		{tree, "/new/__vlmeta__", ErrParam},
		{tree, "..", ErrParam},
		{tree, "img/../new", ErrParam},
		{tree, "/img", nil},
		{tree, "/", nil},
		{table, "/_cols", errors.ErrUnsupported},
		{table, "/", nil},
	} {
		if err := c.s.SetAttr(t.Context(), c.group, "x", 1); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("attribute of %s: %v, want %v", c.group, err, c.want)
		}
	}
	for _, key := range []string{"x/../img/level0", "./img/level0", "img/.", ".."} {
		_, frameErr := tree.Frame(t.Context(), key)
		_, attrErr := tree.Attrs(t.Context(), key)
		for _, err := range []error{frameErr, attrErr, tree.Delete(t.Context(), key)} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", key, err)
			}
		}
		if tree.Has(key) {
			t.Errorf("%s exists", key)
		}
	}
	for _, key := range []string{"img//level0", "//img/level0/", "img/level0"} {
		if !tree.Has(key) {
			t.Errorf("no %s", key)
		}
	}
	if err := table.Delete(t.Context(), "/_meta"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("deleting a part of a table: %v", err)
	}
}

// TestKeyOfFile puts a leaf whose directory has the name of the file of another one, and deletes a leaf whose file has
// a name that Put does not accept.
func TestKeyOfFile(t *testing.T) {
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "s.b2d")
	s, err := Create(ctx, dir, &CreateOptions{Layout: LayoutDict})
	if err != nil {
		t.Fatal(err)
	}
	f := contentFrame(t, []byte("x"))
	if err := s.Put(ctx, "/a", f); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"/a.b2f/c", "/embed.b2e/x/y"} {
		if err := s.Put(ctx, key, f); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", key, err)
		}
	}
	s.Close()
	if err := os.Rename(filepath.Join(dir, "a.b2f"), filepath.Join(dir, "a:b.b2f")); err != nil {
		t.Skip("no such name: ", err)
	}
	if s, err = Edit(ctx, dir, nil); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Put(ctx, "/a:b", f); !errors.Is(err, ErrParam) {
		t.Errorf("putting a leaf with a colon: %v", err)
	}
	if err := s.Delete(ctx, "/a:b"); err != nil || s.Has("/a:b") {
		t.Errorf("deleting a file with a colon: %v", err)
	}
}

// TestEmptyDirectories puts a leaf whose file has the name of a directory that an earlier edit needed: one that is
// deleted, moved to the embed store, or that could not be written.
func TestEmptyDirectories(t *testing.T) {
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "s.b2d")
	o := &CreateOptions{OpenOptions: OpenOptions{Threshold: 100}}
	s, err := Create(ctx, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	large, small := contentFrame(t, make([]byte, 100)), contentFrame(t, []byte("x"))
	free := func(what, key string) {
		t.Helper()
		if err := s.Put(ctx, key, large); err != nil {
			t.Errorf("after a leaf %s: %v", what, err)
		}
	}
	for _, key := range []string{"/a.b2f/x/y", "/b.b2f/x", "/keep/c.b2f/x", "/keep/x"} {
		if err := s.Put(ctx, key, large); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Delete(ctx, "/a.b2f/x/y"), s.Put(ctx, "/b.b2f/x", small), s.Delete(ctx, "/keep/c.b2f/x")); err != nil {
		t.Fatal(err)
	}
	free("was deleted", "/a")
	free("was moved to the embed store", "/b")
	free("was deleted, beside another", "/keep/c")
	if err := s.Put(ctx, "/d.b2f/e/"+strings.Repeat("n", 300), large); err == nil {
		t.Error("a file with a name of 300 bytes was written")
	}
	free("could not be written", "/d")
	if err := s.Put(ctx, "/a.b2f/c", large); !errors.Is(err, fs.ErrExist) || !s.Has("/a") {
		t.Errorf("a leaf below a file: %v", err)
	}
	s.Close()
	// An interrupted edit leaves a directory with a temporary file.
	left := filepath.Join(dir, "f.b2f", "e")
	if err := errors.Join(os.MkdirAll(left, 0o777), os.WriteFile(filepath.Join(left, storage.TempName()), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	if s, err = Edit(ctx, dir, &o.OpenOptions); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	free("of an interrupted edit", "/f")
}

// TestLargeInEmbedStore reads a large leaf that was put into a small embed store just before.
func TestLargeInEmbedStore(t *testing.T) {
	ctx := t.Context()
	s, err := Create(ctx, filepath.Join(t.TempDir(), "s.b2e"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, err := ndarray.Arange[int64](ctx, "", 0, 12<<20, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(ctx, "/a", a.Frame()); err != nil {
		t.Fatal(err)
	}
	b, err := s.Array(ctx, "/a")
	if err != nil {
		t.Fatal(err)
	}
	if items, err := ndarray.Read[int64](ctx, b); err != nil || items[len(items)-1] != 12<<20-1 {
		t.Errorf("%d items, %v", len(items), err)
	}
}

// TestZipComment opens zip files with long comments, and one whose end is missing.
func TestZipComment(t *testing.T) {
	b := zipOf(t, "a.b2f")
	for _, n := range []int{1, 65_513, 65_514, 65_535} {
		c := append(bytes.Clone(b), make([]byte, n)...)
		c[len(b)-2], c[len(b)-1] = byte(n), byte(n>>8)
		s, err := OpenReaderAt(t.Context(), bytes.NewReader(c), int64(len(c)), nil)
		if err != nil || !s.Has("/a") {
			t.Errorf("comment of %d bytes: %v", n, err)
		}
	}
	cut := b[:len(b)-30]
	if _, err := OpenReaderAt(t.Context(), bytes.NewReader(cut), int64(len(cut)), nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a zip file that is cut: %v", err)
	}
}

// TestNamesOfTable edits stores with leaves that have the names of those of a table, but are none.
func TestNamesOfTable(t *testing.T) {
	ctx, x := t.Context(), contentFrame(t, []byte("x"))
	other, err := frame.OpenBytes(buildFrame(t, nil, []meta.Layer{{Name: "kind", Content: []byte{0xa1, 'm'}}}, []byte("x")), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"s.b2d", "s.b2e"} {
		for _, group := range []string{"/", "/g"} {
			for _, f := range []*frame.Frame{x, other} {
				s, err := Create(ctx, filepath.Join(t.TempDir(), name), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				for _, key := range []string{tableMeta, tableRows, "a", "far/b"} {
					if err := s.Put(ctx, join(group, key), f); err != nil {
						t.Errorf("%s: putting %s: %v", name, join(group, key), err)
					}
				}
				for _, key := range []string{"a", tableMeta} {
					if err := s.Delete(ctx, join(group, key)); err != nil {
						t.Errorf("%s: deleting %s: %v", name, join(group, key), err)
					}
				}
			}
		}
	}
}

// TestDamagedTable edits a store with a table whose kind cannot be read. Only the leaf with the kind can be edited.
func TestDamagedTable(t *testing.T) {
	ctx, x := t.Context(), contentFrame(t, []byte("x"))
	s := copied(t, "tables/t01_int8.b2d")
	bad := filepath.Join(s.name, "_meta.b2f")
	if err := os.WriteFile(bad, buildFrame(t, nil, []meta.Layer{{Name: "kind", Content: []byte{0xc1}}}, []byte("x")), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"/a", "/" + tableRows, "/_cols/x"} {
		if err := s.Put(ctx, key, x); !errors.Is(err, ErrCorrupt) {
			t.Errorf("putting %s: %v", key, err)
		}
	}
	if err := s.Delete(ctx, "/"+tableRows); !errors.Is(err, ErrCorrupt) {
		t.Errorf("deleting the rows: %v", err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Put(canceled, "/"+tableMeta, x); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if err := errors.Join(s.Put(ctx, "/"+tableMeta, x), s.Put(ctx, "/a", x)); err != nil {
		t.Errorf("replacing the kind: %v", err)
	}
}

// TestUnreadableTable edits a store whose leaf _meta cannot be read for reasons other than damaged bytes. It can be
// replaced and deleted.
func TestUnreadableTable(t *testing.T) {
	ctx, x := t.Context(), contentFrame(t, []byte("x"))
	newer := buildFrame(t, nil, nil, []byte("x"))
	newer[25] |= 0x0f // version of the format
	for name, damage := range map[string]func(name string) error{
		"empty":   func(name string) error { return os.WriteFile(name, nil, 0o666) },
		"garbage": func(name string) error { return os.WriteFile(name, bytes.Repeat([]byte("garbage"), 100), 0o666) },
		"newer":   func(name string) error { return os.WriteFile(name, newer, 0o666) },
		"missing": os.Remove,
		"link": func(name string) error {
			return errors.Join(os.Rename(name, name+".old"), os.Symlink(filepath.Base(name)+".old", name))
		},
	} {
		for edit, do := range map[string]func(s *Store) error{
			"put":    func(s *Store) error { return s.Put(ctx, "/"+tableMeta, x) },
			"delete": func(s *Store) error { return s.Delete(ctx, "/"+tableMeta) },
		} {
			if name == "missing" && edit == "delete" {
				continue // the file is not there to be deleted
			}
			s := copied(t, "tables/t01_int8.b2d")
			if err := damage(filepath.Join(s.name, "_meta.b2f")); name == "link" && err != nil {
				continue // not every user may create links
			} else if err != nil {
				t.Fatal(err)
			}
			if name == "link" {
				s.Close()
				var err error
				if s, err = Edit(ctx, s.name, nil); err != nil {
					t.Fatal(err)
				}
				defer s.Close()
			}
			if err := s.Put(ctx, "/a", x); err == nil {
				t.Errorf("%s: another leaf was put beside _meta", name)
			}
			if err := errors.Join(do(s), s.Put(ctx, "/a", x)); err != nil {
				t.Errorf("%s: %s: %v", name, edit, err)
			}
			s.Close()
			if err := do(s); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s: %s after Close: %v", name, edit, err)
			}
		}
	}
}

// TestIsDamage checks that only lasting errors of a leaf _meta let it be replaced: the table may be intact otherwise.
func TestIsDamage(t *testing.T) {
	for _, err := range []error{simulated.ErrDisk, context.Canceled, context.DeadlineExceeded, fs.ErrClosed, fs.ErrPermission} {
		if isDamage(fmt.Errorf("reading: %w", err)) {
			t.Error(err)
		}
	}
}

// TestRemoteTable edits a store whose leaf _meta is a reference to a remote array. It is no table.
func TestRemoteTable(t *testing.T) {
	ctx, x := t.Context(), contentFrame(t, []byte("x"))
	name := filepath.Join(t.TempDir(), "s.b2e")
	remote := map[string]any{"urlbase": "https://example.com", "path": "x.b2nd"}
	b := embedWith(t, map[string]any{"embed_map": map[string]any{"/" + tableMeta: remote, "/" + tableRows: remote}, "current_offset": 0}, []byte{0})
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Edit(ctx, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, key := range []string{"/a", "/" + tableRows, "/" + tableMeta} {
		if err := s.Put(ctx, key, x); err != nil {
			t.Error(err)
		}
	}
	for _, err := range s.Walk(ctx, "/") {
		if err != nil {
			t.Error(err)
		}
	}
}
