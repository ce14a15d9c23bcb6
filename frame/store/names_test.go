package store

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/source"
	"github.com/goblosc/blosc2/meta"
)

// zipWith returns a zip store with members, names and contents, and an embed store without leaves.
func zipWith(t testing.TB, members iter.Seq2[string, []byte]) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	add := func(name string, b []byte) {
		w, err := z.CreateRaw(&zip.FileHeader{Name: name, CRC32: crc32.ChecksumIEEE(b), CompressedSize64: uint64(len(b)), UncompressedSize64: uint64(len(b))})
		if err == nil {
			_, err = w.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range members {
		add(name, b)
	}
	embed, err := os.ReadFile("../../testdata/stores/tree.b2d/embed.b2e")
	if err != nil {
		t.Fatal(err)
	}
	add(embedFile, embed)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// zipOf returns a zip store with leaves whose content is their name.
func zipOf(t testing.TB, names ...string) []byte {
	t.Helper()
	return zipWith(t, func(yield func(string, []byte) bool) {
		for _, name := range names {
			if !yield(name, buildFrame(t, nil, nil, []byte(name))) {
				return
			}
		}
	})
}

// openZip opens a zip store with members.
func openZip(t testing.TB, names ...string) (*Store, error) {
	t.Helper()
	b := zipOf(t, names...)
	return OpenReaderAt(t.Context(), bytes.NewReader(b), int64(len(b)), nil)
}

// TestFileNames opens stores whose files have names with dots. The keys are those of os.path.splitext of Python.
func TestFileNames(t *testing.T) {
	want := map[string]string{}
	var names []string
	for name, key := range map[string]string{
		"..b2nd": "/..b2nd", "...b2nd": "/...b2nd", "g/..b2f": "/g/..b2f", "g/....b2f": "/g/....b2f", ".b2nd": "/.b2nd",
		"g/.hidden.b2f": "/g/.hidden", "a..b2f": "/a.", "..a.b2f": "/..a", "CON.b2f": "/CON", "a .b2f": "/a ",
	} {
		names, want[key] = append(names, name), name
	}
	s, err := openZip(t, names...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sameStore(t, s, want)
	if err := fs.WalkDir(s, ".", func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
		t.Error(err)
	}
}

// TestDotKeys puts leaves under keys with dots. A key whose file would have another key is an error.
func TestDotKeys(t *testing.T) {
	s, err := Edit(t.Context(), copyStore(t, "stores/tree.b2d"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for key, want := range map[string]error{"/a.b": nil, "/.a": nil, "/a.": nil, "/...": ErrParam, "/g/...": ErrParam} {
		if err := s.Put(t.Context(), key, contentFrame(t, []byte("content"))); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", key, err, want)
		}
	}
}

// TestAttrNames sets attributes with names that other libraries misread.
func TestAttrNames(t *testing.T) {
	ctx := t.Context()
	s, err := Edit(ctx, copyStore(t, "stores/tree.b2d"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"", "a\x00b", "\xff", strings.Repeat("n", 32)} {
		for _, group := range []string{"/img", "/new"} {
			if err := s.SetAttr(ctx, group, name, 1); !errors.Is(err, ErrParam) {
				t.Errorf("%q: %v, want %v", name, err, ErrParam)
			}
		}
		if s.Has("/new") {
			t.Errorf("%q: the group of the failed call exists", name)
		}
	}
}

// TestStoredAttrNames edits the attributes of a group, one of which has a name that SetAttr rejects for new ones.
func TestStoredAttrNames(t *testing.T) {
	ctx := t.Context()
	for _, name := range []string{"a\x00b", "\xff"} {
		dir := copyStore(t, "stores/tree.b2d")
		s, err := Edit(ctx, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		first := strings.Repeat("n", len(name))
		if err := errors.Join(s.SetAttr(ctx, "/g", first, 2), s.Close()); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "g", groupMeta+".b2f")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		const next = "\xd2" // marks the offset after a name
		b = bytes.Replace(b, []byte(first+next), []byte(name+next), 1)
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if s, err = Edit(ctx, dir, nil); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.SetAttr(ctx, "/g", "other", 3), s.SetAttr(ctx, "/g", name, 4)); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		var other, four int
		err = errors.Join(s.Attr(ctx, "/g", "other", &other), s.Attr(ctx, "/g", name, &four))
		if names, _ := s.Attrs(ctx, "/g"); err != nil || other != 3 || four != 4 || !slices.Equal(names, []string{name, "other"}) {
			t.Errorf("%q: %d, %d, names %q, %v", name, other, four, names, err)
		}
		s.Close()
	}
}

// TestPackNames packs a directory with names that a zip file must not have. It must not make a file that cannot be
// opened.
func TestPackNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a backslash separates names")
	}
	dir := copyStore(t, "stores/tree.b2d")
	if err := os.WriteFile(filepath.Join(dir, `a\b.b2f`), buildFrame(t, nil, nil, []byte("x")), 0o666); err != nil {
		t.Skip("no backslash in names of files: ", err)
	}
	s, err := Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	packed := filepath.Join(t.TempDir(), "s.b2z")
	err = s.Pack(t.Context(), packed, nil)
	if err == nil || !strings.Contains(err.Error(), `a\\b.b2f`) {
		t.Errorf("Pack: %v", err)
	}
	if _, err := os.Stat(packed); err == nil {
		t.Error("the packed file exists")
	}
	if err := s.Pack(t.Context(), packed+string(filepath.Separator), nil); !errors.Is(err, ErrParam) {
		t.Errorf("a name of a directory: %v, want %v", err, ErrParam)
	}
}

// TestOrder lists keys of which one begins with another. Everything below a group directly follows it, so that each
// leaf of a table belongs to the table before it.
func TestOrder(t *testing.T) {
	s, err := openZip(t, "a.b2f", "a-b.b2f", "a/x.b2f", "a/x-y/z.b2f", "a/x/z.b2f", "a.c/y.b2f", "a b.b2f")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := []string{"/a", "/a/x", "/a/x/z", "/a/x-y", "/a/x-y/z", "/a b", "/a-b", "/a.c", "/a.c/y"}
	var got, names []string
	for e, err := range s.Walk(t.Context(), "/") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Key)
		if _, err := s.Stat(t.Context(), e.Key); err != nil || !s.Has(e.Key) {
			t.Errorf("%s: %v", e.Key, err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("Walk: %q, want %q", got, want)
	}
	err = fs.WalkDir(s, ".", func(name string, _ fs.DirEntry, err error) error {
		if !strings.HasSuffix(name, hiddenSuffix) && name != "." {
			names = append(names, "/"+name)
		}
		return err
	})
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("WalkDir: %q, %v, want %q", names, err, want)
	}
	for group, want := range map[string]int{"/": 7, "/a": 3, "/a/x": 1, "/a.c": 1, "/b": 0} {
		if n := len(slices.Collect(s.Keys(group))); n != want {
			t.Errorf("%d keys below %s, want %d", n, group, want)
		}
	}
}

// TestTwoTables lists a store with two tables, of which the name of one begins with that of the other.
func TestTwoTables(t *testing.T) {
	ctx := context.Background()
	dir := copyStore(t, "stores/tree.b2d")
	for _, name := range []string{"t", "t-2", "t.3"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS("../../testdata/tables/t01_int8.b2d")); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, name, embedFile)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var got []string
	for e, err := range s.Walk(ctx, "/") {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(e.Key, "/t") {
			got = append(got, fmt.Sprint(e.Key, " ", e.Kind))
		}
	}
	if want := []string{"/t table", "/t-2 table", "/t.3 table"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestDeepKeys opens and walks a store with a deep key. The work must not grow with all pairs of its groups.
func TestDeepKeys(t *testing.T) {
	const depth = 3000
	node := map[string]any{"urlbase": "u", "path": "p"}
	b := embedWith(t, map[string]any{"embed_map": map[string]any{strings.Repeat("/a", depth): node}}, []byte("x"))
	s, err := OpenReaderAt(t.Context(), bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	n := 0
	err = fs.WalkDir(s, ".", func(string, fs.DirEntry, error) error { n++; return ctx.Err() })
	if err != nil || n != depth+1 {
		t.Errorf("%d names, %v", n, err)
	}
}

// TestTableAttrs sets an attribute of a table. It must be where the table has its others.
func TestTableAttrs(t *testing.T) {
	ctx := context.Background()
	dir := copyStore(t, "stores/tree.b2d")
	if err := os.CopyFS(filepath.Join(dir, "t"), os.DirFS("../../testdata/tables/t01_int8.b2d")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "t", embedFile)); err != nil {
		t.Fatal(err)
	}
	first := []meta.Layer{{Name: "first", Content: []byte{1}}}
	if err := os.WriteFile(filepath.Join(dir, "t", "_vlmeta.b2f"), buildFrame(t, nil, first, []byte("x")), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Edit(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.SetAttr(ctx, "/t", "second", 2); err != nil {
		t.Fatal(err)
	}
	names, err := s.Attrs(ctx, "/t")
	if err != nil || !slices.Equal(names, []string{"first", "second"}) {
		t.Errorf("attributes %q, %v", names, err)
	}
	if s.Has("/t/__vlmeta__") {
		t.Error("the table has attributes of a group")
	}
}

// TestDictAttrs puts a leaf into a dict store under the key that has the attributes of the top in a tree store.
func TestDictAttrs(t *testing.T) {
	s, err := Create(t.Context(), filepath.Join(t.TempDir(), "s.b2d"), &CreateOptions{Layout: LayoutDict})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	leaf, err := frame.OpenBytes(buildFrame(t, nil, []meta.Layer{{Name: "unit", Content: []byte{0xa1, 'm'}}}, []byte("x")), nil)
	if err == nil {
		err = s.Put(t.Context(), "/__vlmeta__", leaf)
	}
	if err != nil {
		t.Fatal(err)
	}
	if names, err := s.Attrs(t.Context(), "/"); err != nil || len(names) > 0 {
		t.Errorf("attributes %v, %v", names, err)
	}
	if keys := slices.Collect(s.Keys("/")); !slices.Equal(keys, []string{"/__vlmeta__"}) {
		t.Errorf("keys %v", keys)
	}
}

// failingOnce is a source of which one read fails: the first of the byte at.
type failingOnce struct {
	source.Source
	at     int64
	failed *bool
}

var errReset = errors.New("connection reset")

func (f failingOnce) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if !*f.failed && off <= f.at && f.at < off+int64(len(p)) {
		*f.failed = true
		return 0, errReset
	}
	return f.Source.ReadAtContext(ctx, p, off)
}

// TestProbeFails opens a zip file with leaves that have foreign names, while a read of one of them fails: opening must
// not lose the leaf.
func TestProbeFails(t *testing.T) {
	leaf := buildFrame(t, nil, nil, []byte("content"))
	b := zipWith(t, func(yield func(string, []byte) bool) {
		_ = yield("a.t", leaf) && yield("b.t", leaf) && yield("big.b2nd", make([]byte, 1<<20))
	})
	failed := false
	src := failingOnce{source.FromReader(bytes.NewReader(b), int64(len(b))), int64(bytes.Index(b, []byte("a.t"))), &failed}
	if _, err := OpenSource(t.Context(), src, nil); !errors.Is(err, errReset) || !failed || !strings.Contains(err.Error(), "a.t") {
		t.Fatalf("%v", err)
	}
	s, err := OpenSource(t.Context(), src, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, key := range []string{"/a", "/b"} {
		if _, err := s.Frame(t.Context(), key); err != nil {
			t.Error(err)
		}
	}
}

// TestAttrsOfNames sets attributes of groups with leaves that have the names of those of a table, but are none.
func TestAttrsOfNames(t *testing.T) {
	ctx, x := t.Context(), contentFrame(t, []byte("x"))
	s, err := Create(ctx, filepath.Join(t.TempDir(), "s.b2d"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, group := range []string{"/", "/g"} {
		err := errors.Join(s.Put(ctx, join(group, tableMeta), x), s.Put(ctx, join(group, tableRows), x), s.Put(ctx, join(group, tableVLMeta), x))
		if names, attrErr := s.Attrs(ctx, group); err != nil || attrErr != nil || len(names) > 0 {
			t.Fatalf("%s: attributes %q, %v, %v", group, names, err, attrErr)
		}
		if err := s.SetAttr(ctx, group, "k", 1); err != nil {
			t.Fatal(err)
		}
		names, err := s.Attrs(ctx, group)
		if err != nil || !slices.Equal(names, []string{"k"}) || s.index.get(join(group, groupMeta)) == nil {
			t.Errorf("%s: attributes %q, %v, not in %s", group, names, err, groupMeta)
		}
	}
}

// TestDeleteGroup deletes groups that have only attributes, and uses their keys again.
func TestDeleteGroup(t *testing.T) {
	ctx, x := t.Context(), contentFrame(t, []byte("x"))
	for _, threshold := range []int64{0, 1 << 20} {
		dir := filepath.Join(t.TempDir(), "s.b2d")
		s, err := Create(ctx, dir, &CreateOptions{OpenOptions: OpenOptions{Threshold: threshold}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { s.Close() }()
		for _, group := range []string{"/g", "/g/h"} {
			if err := errors.Join(s.Put(ctx, group+"/x", x), s.SetAttr(ctx, group, "k", 1)); err != nil {
				t.Fatal(err)
			}
		}
		for _, step := range []struct {
			key   string
			there bool
		}{{"/g", false}, {"/g/h", false}, {"/g/x", true}, {"/g/h/x", true}, {"/g", false}, {"/none", false}, {"/g/h", true}, {"/g/h", false}, {"/g", true}, {"/g", false}} {
			if err := s.Delete(ctx, step.key); (err == nil) != step.there || !step.there && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("deleting %s: %v", step.key, err)
			}
		}
		if err := s.Put(ctx, "/g", x); err != nil || s.Has("/g/"+groupMeta) {
			t.Errorf("a leaf with the key of the group: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err = Edit(ctx, dir, nil); err != nil {
			t.Fatal(err)
		}
		if keys := slices.Collect(s.Keys("/")); !slices.Equal(keys, []string{"/g"}) || s.Has("/g/"+groupMeta) {
			t.Errorf("keys %q", keys)
		}
		if err := errors.Join(s.SetAttr(ctx, "/", "k", 1), s.Delete(ctx, "/g"), s.Delete(ctx, "/")); err != nil || s.index.len() > 0 {
			t.Errorf("deleting the attributes of the store: %v, %d leaves", err, s.index.len())
		}
	}
	d, err := Create(ctx, filepath.Join(t.TempDir(), "d.b2d"), &CreateOptions{Layout: LayoutDict})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Put(ctx, "/g/__vlmeta__", x); err != nil {
		t.Fatal(err)
	}
	if err := d.Delete(ctx, "/g"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a group of a dict store: %v", err)
	}
}

// TestAttrsOfDamagedTable reads the attributes of a table whose leaf _meta is damaged. SetAttr cannot know where to set
// one.
func TestAttrsOfDamagedTable(t *testing.T) {
	ctx := t.Context()
	dir := copyStore(t, "tables/t01_int8.b2d")
	name := filepath.Join(dir, "_meta.b2f")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	clear(b[21:])
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
	first := []meta.Layer{{Name: "first", Content: []byte{1}}}
	if err := os.WriteFile(filepath.Join(dir, "_vlmeta.b2f"), buildFrame(t, nil, first, []byte("x")), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Edit(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if names, err := s.Attrs(ctx, "/"); err != nil || !slices.Equal(names, []string{"first"}) {
		t.Errorf("%q, %v", names, err)
	}
	if err := s.SetAttr(ctx, "/", "second", 2); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("SetAttr: %v", err)
	}
}
