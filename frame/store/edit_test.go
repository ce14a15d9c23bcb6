package store

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/internal/simulated"
)

// contentFrame returns a frame with content.
func contentFrame(t testing.TB, content []byte) *frame.Frame {
	t.Helper()
	f, err := frame.OpenBytes(buildFrame(t, nil, nil, content), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// contents returns the decoded bytes of all leaves of a store.
func contents(t testing.TB, s *Store) map[string]string {
	t.Helper()
	got := map[string]string{}
	for key := range s.Keys("/") {
		f, err := s.Frame(context.Background(), key)
		if err != nil {
			t.Fatal(err)
		}
		b, err := f.ReadChunk(context.Background(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		got[key] = string(b)
	}
	return got
}

// sameStore compares a store with a model.
func sameStore(t testing.TB, s *Store, model map[string]string) {
	t.Helper()
	if got := contents(t, s); !maps.Equal(got, model) {
		t.Fatalf("keys %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(model)))
	}
}

// Programs of edits give what a map gives, in the handle that edits and in one that is opened after.
func TestEditModel(t *testing.T) {
	ctx := context.Background()
	edits := 200
	if testing.Short() {
		edits = 60
	}
	for _, name := range []string{"s.b2d", "s.b2e"} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			path := filepath.Join(t.TempDir(), name)
			o := &CreateOptions{OpenOptions: OpenOptions{Frames: &frame.OpenOptions{NoSync: true}}}
			if name == "s.b2d" {
				o.Threshold = 500
			}
			s, err := Create(ctx, path, o)
			if err != nil {
				t.Fatal(err)
			}
			model := map[string]string{}
			for i := range edits {
				key := fmt.Sprintf("/g%d/leaf%d", r.IntN(3), r.IntN(8))
				if r.IntN(3) == 0 {
					err := s.Delete(ctx, key)
					if _, ok := model[key]; ok != (err == nil) || !ok && !errors.Is(err, fs.ErrNotExist) {
						t.Fatalf("Delete(%s): %v", key, err)
					}
					delete(model, key)
				} else {
					content := make([]byte, 1+r.IntN(1000))
					for i := range content {
						content[i] = byte(r.Uint32())
					}
					if err := s.Put(ctx, key, contentFrame(t, content)); err != nil {
						t.Fatal(err)
					}
					model[key] = string(content)
				}
				if i%10 == 0 {
					sameStore(t, s, model)
					fresh, err := Open(ctx, path, nil)
					if err != nil {
						t.Fatal(err)
					}
					sameStore(t, fresh, model)
					fresh.Close()
				}
				if i%50 == 49 {
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					if s, err = Edit(ctx, path, &o.OpenOptions); err != nil {
						t.Fatal(err)
					}
				}
			}
			sameStore(t, s, model)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := s.Put(ctx, "/a", contentFrame(t, []byte("x"))); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
		})
	}
}

// The stores of python-blosc2 can be edited.
func TestEditFixtures(t *testing.T) {
	ctx := context.Background()
	dir := copyStore(t, "stores/tree.b2d")
	file := filepath.Join(t.TempDir(), "embed.b2e")
	b, err := os.ReadFile("../../testdata/stores/embed.b2e")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range storeCases(t) {
		path := map[string]string{"tree.b2d": dir, "embed.b2e": file}[c.File]
		if path == "" {
			continue
		}
		s, err := Edit(ctx, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkLeaves(t, s, c)
		if err := s.Put(ctx, "/new/leaf", contentFrame(t, []byte("content"))); err != nil {
			t.Fatal(err)
		}
		old, err := s.Frame(ctx, "/new/leaf")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Put(ctx, "/new/leaf", contentFrame(t, []byte("replaced"))); err != nil {
			t.Fatal(err)
		}
		if b, err := old.ReadChunk(context.Background(), nil, 0); err != nil || string(b) != "content" {
			t.Errorf("a frame of the replaced leaf: %q, %v", b, err)
		}
		if b, err := s.Frame(ctx, "/new/leaf"); err != nil {
			t.Error(err)
		} else if b, err := b.ReadChunk(context.Background(), nil, 0); err != nil || string(b) != "replaced" {
			t.Errorf("%q, %v", b, err)
		}
		if c.File == "tree.b2d" {
			for group, attrs := range map[string]map[string]any{"/img": {"unit": "nm", "depth": 3}, "/new": {"first": true}} {
				for name, v := range attrs {
					if err := s.SetAttr(ctx, group, name, v); err != nil {
						t.Fatal(err)
					}
				}
			}
		} else if err := s.SetAttr(ctx, "/", "a", 1); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("attributes of an embed store: %v", err)
		}
		if c.File == "tree.b2d" {
			var v any
			if err := s.SetAttr(ctx, "/new/leaf", "a", 1); !errors.Is(err, ErrParam) || !strings.Contains(err.Error(), "ndarray.Array") {
				t.Errorf("attributes of a leaf: %v", err)
			}
			if err := s.Attr(ctx, "/new/leaf", "a", &v); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "ndarray.Array") {
				t.Errorf("an attribute of a leaf: %v", err)
			}
			if err := s.Attr(ctx, "/new", "a", &v); !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), "/new: attribute a: not found") {
				t.Errorf("an attribute that does not exist: %v", err)
			}
		}
		if err := s.Delete(ctx, "/new/leaf"); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(ctx, path, nil); err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if c.File == "tree.b2d" {
			var unit string
			var depth int
			if err := errors.Join(s.Attr(ctx, "/img", "unit", &unit), s.Attr(ctx, "/img", "depth", &depth)); err != nil || unit != "nm" || depth != 3 {
				t.Errorf("attributes %q, %d, %v", unit, depth, err)
			}
			c.VLMeta = nil
		}
		checkLeaves(t, s, c)
	}
}

// A leaf that is replaced by one of another kind gets a file with the extension of that kind, and no other file.
func TestReplaceKind(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "s.b2d")
	s, err := Create(ctx, path, &CreateOptions{OpenOptions: OpenOptions{Threshold: 10}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	exts := []string{".b2f", ".b2nd", ".b2b"}
	var last *frame.Frame
	for i, kind := range []int{0, 1, 2, 0, 2, 2, 1, 0} {
		content := strings.Repeat("x", 20+i)
		if err := s.Put(ctx, "/g/a", kindFrame(t, kind, []byte(content))); err != nil {
			t.Fatal(err)
		}
		if got := leafFiles(t, path); !slices.Equal(got, []string{"g/a" + exts[kind]}) {
			t.Errorf("files %q, want extension %s", got, exts[kind])
		}
		sameStore(t, s, map[string]string{"/g/a": content})
		fresh, err := Open(ctx, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		sameStore(t, fresh, map[string]string{"/g/a": content})
		fresh.Close()
		if last != nil {
			if b, err := last.ReadChunk(ctx, nil, 0); err != nil || len(b) != len(content)-1 {
				t.Errorf("a frame of the replaced leaf: %q, %v", b, err)
			}
		}
		if last, err = s.Frame(ctx, "/g/a"); err != nil {
			t.Fatal(err)
		}
	}
	// A leaf whose file has an unusual extension gets the usual one.
	if err := os.Rename(filepath.Join(path, "g/a.b2f"), filepath.Join(path, "g/a.odd")); err != nil {
		t.Fatal(err)
	}
	again, err := Edit(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	sameStore(t, again, map[string]string{"/g/a": strings.Repeat("x", 27)})
	if err := again.Put(ctx, "/g/a", contentFrame(t, []byte("replaced"))); err != nil {
		t.Fatal(err)
	}
	// A group may have the name that a leaf would get. Then the leaf keeps its file.
	if err := again.Put(ctx, "/g/a.b2nd/leaf", contentFrame(t, []byte("other"))); err != nil {
		t.Fatal(err)
	}
	if err := again.Put(ctx, "/g/a", kindFrame(t, 1, []byte("array"))); err != nil {
		t.Fatal(err)
	}
	if got := leafFiles(t, path); !slices.Equal(got, []string{"g/a.b2f", "g/a.b2nd/leaf.b2f"}) {
		t.Errorf("files %q", got)
	}
	sameStore(t, again, map[string]string{"/g/a": "array", "/g/a.b2nd/leaf": "other"})
}

// leafFiles returns the names of the files of leaves in the directory of a store.
func leafFiles(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && name != embedFile {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A crash leaves a temporary file, or a file that hides an embedded leaf: neither changes what is read.
func TestInterruptedPut(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "s.b2d")
	s, err := Create(ctx, path, &CreateOptions{OpenOptions: OpenOptions{Threshold: 100}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(ctx, "/a", contentFrame(t, []byte("small"))); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// What Put of a large leaf leaves when it is killed before and after it renames the file.
	for name, want := range map[string]string{"a.b2f.99.tmp": "small", "a.b2f": "large"} {
		if err := os.WriteFile(filepath.Join(path, name), buildFrame(t, nil, nil, []byte("large")), 0o666); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(ctx, path, nil); err != nil {
			t.Fatal(err)
		}
		sameStore(t, s, map[string]string{"/a": want})
		s.Close()
		os.Remove(filepath.Join(path, name))
	}
	// Deleting a leaf deletes the hidden one, too.
	if err := os.WriteFile(filepath.Join(path, "a.b2f"), buildFrame(t, nil, nil, []byte("large")), 0o666); err != nil {
		t.Fatal(err)
	}
	if s, err = Edit(ctx, path, nil); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Delete(ctx, "/a"); err != nil {
		t.Fatal(err)
	}
	fresh, err := Open(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	sameStore(t, fresh, map[string]string{})
}

// A directory that a killed process left does not stop Create in another process with the same number.
func TestInterruptedCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.b2d")
	if err := os.Mkdir(fmt.Sprintf("%s.%d.tmp", path, os.Getpid()), 0o777); err != nil {
		t.Fatal(err)
	}
	s, err := Create(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

func TestEditErrors(t *testing.T) {
	ctx := context.Background()
	f := contentFrame(t, []byte("x"))
	if err := mustOpen(t, "stores/tree.b2d").Put(ctx, "/a", f); !errors.Is(err, ErrReadOnly) || !strings.HasSuffix(err.Error(), "; open the store with Edit") {
		t.Errorf("a store opened for reading: %v", err)
	}
	path := filepath.Join(t.TempDir(), "s.b2d")
	zip := strings.TrimSuffix(path, "b2d") + "zip"
	b, err := os.ReadFile("../../testdata/stores/tree.b2z")
	if err == nil {
		err = os.WriteFile(zip, b, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../../testdata/stores/tree.b2z", zip} {
		if _, err := Edit(ctx, name, nil); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "edit a directory and pack it") {
			t.Errorf("editing a zip file: %v", err)
		}
	}
	s, err := Create(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, key := range []string{"/", "/a:b", "/a\nb", `/a\b`, "/a\xff"} {
		if err := s.Put(ctx, key, f); !errors.Is(err, ErrParam) {
			t.Errorf("key %q: %v", key, err)
		}
	}
	for _, name := range []string{path, strings.TrimSuffix(path, "d") + "x"} {
		if _, err := Create(ctx, name, nil); err == nil {
			t.Errorf("Create(%s) succeeds", name)
		}
	}
	if _, err := Create(ctx, "q.b2z", nil); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "; for a .b2z file, create a directory and Pack it") {
		t.Errorf("creating a zip file: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files %v, %v", left, err)
	}
}

// TestPutAllocations checks that Put does not decode the map of the embed store each time.
func TestPutAllocations(t *testing.T) {
	ctx := t.Context()
	s, err := Create(ctx, "x.b2d", &CreateOptions{OpenOptions: OpenOptions{Threshold: 100, sys: simulated.New()}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, large := contentFrame(t, []byte("bytes")), contentFrame(t, make([]byte, 100))
	put := func(key string, f *frame.Frame) {
		if err := s.Put(ctx, key, f); err != nil {
			t.Fatal(err)
		}
	}
	const leaves = 300
	for i := range leaves {
		put(fmt.Sprintf("/g/%d", i), f)
	}
	own, embedded := testing.AllocsPerRun(10, func() { put("/large", large) }), testing.AllocsPerRun(10, func() { put("/g/0", f) })
	if own > leaves || embedded > 20*leaves {
		t.Errorf("%v allocations for a leaf in a file of its own, %v for another one, of %d leaves", own, embedded, leaves)
	}
}

// TestMissingDirectory checks that the error for a new store in a directory that does not exist names both.
func TestMissingDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	create := func(name string) error { _, err := Create(t.Context(), name, nil); return err }
	pack := func(name string) error { return mustOpen(t, "stores/tree.b2d").Pack(t.Context(), name, nil) }
	for file, f := range map[string]func(name string) error{"s.b2e": create, "s.b2d": create, "s.b2z": pack} {
		name := filepath.Join(dir, file)
		want := fmt.Sprintf("%s: directory %s does not exist", name, dir)
		if err := f(name); !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
	if _, err := Open(t.Context(), "https://x/s.b2z", nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "; see package frame/remote") {
		t.Error(err)
	}
}

func TestPack(t *testing.T) {
	ctx := context.Background()
	for _, c := range storeCases(t) {
		if c.Kind != "dictstore" && c.Kind != "treestore" {
			continue
		}
		s := mustOpen(t, "stores/"+c.File)
		name := filepath.Join(t.TempDir(), "packed.b2z")
		if err := s.Pack(ctx, name, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Pack(ctx, name, nil); !errors.Is(err, fs.ErrExist) || !strings.HasSuffix(err.Error(), "; set Overwrite to replace it") {
			t.Errorf("packing over a file: %v", err)
		}
		if err := s.Pack(ctx, name, &CreateOptions{Overwrite: true}); err != nil {
			t.Error(err)
		}
		packed, err := Open(ctx, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkLeaves(t, packed, c)
		packed.Close()
		checkPacked(t, name)
		if strings.HasSuffix(c.File, ".b2z") {
			same, err := os.ReadFile("../../testdata/stores/" + c.File)
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(name)
			if err != nil || len(b) != len(same) {
				t.Errorf("%s: %d bytes, python-blosc2 writes %d, %v", c.File, len(b), len(same), err)
			}
		}
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		before, _ := os.ReadFile(name)
		if err := s.Pack(cancelled, name, &CreateOptions{Overwrite: true}); !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled context: %v", err)
		}
		after, _ := os.ReadFile(name)
		entries, _ := os.ReadDir(filepath.Dir(name))
		if !bytes.Equal(before, after) || len(entries) != 1 {
			t.Errorf("after a canceled Pack: %d bytes of %d, %v", len(after), len(before), entries)
		}
	}
}

// checkPacked checks the rules of python-blosc2 for zip files.
func checkPacked(t *testing.T, name string) {
	t.Helper()
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	last := int64(1 << 62)
	for i, f := range z.File {
		if f.Method != zip.Store || f.Flags != 0 || len(f.Extra) > 0 || f.ReaderVersion != 20 {
			t.Errorf("%s: method %d, flags %x, %d extra bytes, version %d", f.Name, f.Method, f.Flags, len(f.Extra), f.ReaderVersion)
		}
		if isLast := i == len(z.File)-1; isLast != (f.Name == "embed.b2e") || !isLast && int64(f.UncompressedSize64) > last {
			t.Errorf("member %d of %d is %s with %d bytes", i, len(z.File), f.Name, f.UncompressedSize64)
		}
		last = int64(f.UncompressedSize64)
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bytes.NewBuffer(nil).ReadFrom(r); err != nil { // compares the checksum
			t.Error(err)
		}
	}
}

// TestTwoEditors lets two Stores edit one embed store in turn. The one that did not see the last edit must fail: it
// would write its own list of leaves, and its bytes to the same place.
func TestTwoEditors(t *testing.T) {
	for _, ext := range []string{".b2e", ".b2d"} {
		t.Run(ext, func(t *testing.T) {
			ctx := t.Context()
			name := filepath.Join(t.TempDir(), "s"+ext)
			o := OpenOptions{}
			if ext == ".b2d" {
				o.Threshold = 1 << 30
			}
			a, err := Create(ctx, name, &CreateOptions{OpenOptions: o})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			b, err := Edit(ctx, name, &o)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			for i := range 3 {
				if err := b.Put(ctx, fmt.Sprint("/b", i), contentFrame(t, []byte{1, byte(i)})); err != nil {
					t.Fatal(err)
				}
				if err := a.Put(ctx, fmt.Sprint("/a", i), contentFrame(t, []byte{2, byte(i)})); !errors.Is(err, frame.ErrChanged) {
					t.Errorf("Put after an edit of another Store: %v, want ErrChanged", err)
				}
			}
			s, err := Open(ctx, name, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if got := slices.Collect(s.Keys("/")); len(got) != 3 {
				t.Errorf("leaves %v, want those of the second Store", got)
			}
		})
	}
}
