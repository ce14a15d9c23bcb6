package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/internal/simulated"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
)

// copyStore copies a directory store of testdata to a new directory.
func copyStore(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(name))
	if err := os.CopyFS(dir, os.DirFS("../../testdata/"+name)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLinks(t *testing.T) {
	ctx := context.Background()
	dir := copyStore(t, "stores/tree.b2d")
	outside := filepath.Join(t.TempDir(), "secret.b2nd")
	if err := os.Rename(filepath.Join(dir, "img", "level0.b2nd"), outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "img", "level0.b2nd")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("level1.b2nd", filepath.Join(dir, "img", "inside.b2nd")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, key := range []string{"/img/level0", "/img/inside"} {
		if _, err := s.Array(ctx, key); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", key, err)
		}
	}
	if s.Has("/elsewhere/secret") {
		t.Error("a linked directory was followed")
	}
	// A file that becomes a link after the store was opened.
	name := filepath.Join(dir, "img", "level1.b2nd")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, name); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Array(ctx, "/img/level1"); err == nil {
		t.Error("a link was followed")
	}
}

func TestDirectoryFaults(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		change func(dir string) error
		want   error
	}{
		"two files with one key": {func(dir string) error {
			return os.Link(filepath.Join(dir, "img", "level0.b2nd"), filepath.Join(dir, "img", "level0.b2f"))
		}, ErrCorrupt},
		"no embed store": {func(dir string) error { return os.Remove(filepath.Join(dir, "embed.b2e")) }, ErrFormat},
		"not an embed store": {func(dir string) error {
			return os.Rename(filepath.Join(dir, "meta", "pos.b2nd"), filepath.Join(dir, "embed.b2e"))
		}, ErrFormat},
		"embed store cut off": {func(dir string) error { return os.Truncate(filepath.Join(dir, "embed.b2e"), 100) }, ErrCorrupt},
		"embed store a link": {func(dir string) error {
			os.Rename(filepath.Join(dir, "embed.b2e"), filepath.Join(dir, "e"))
			return os.Symlink("e", filepath.Join(dir, "embed.b2e"))
		}, errors.ErrUnsupported},
		"a temporary file": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "x.b2nd.17.tmp"), []byte("x"), 0o666) }, nil},
		"a file of other kind": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "README.md"), []byte("long enough text"), 0o666)
		}, nil},
	} {
		dir := copyStore(t, "stores/tree.b2d")
		if err := c.change(dir); err != nil {
			t.Logf("%s: skipped: %v", name, err)
			continue
		}
		s, err := Open(ctx, dir, nil)
		if !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if err == nil {
			if s.Has("/README") || s.Has("/x.b2nd.17") {
				t.Errorf("%s: it is a leaf", name)
			}
			s.Close()
		}
	}
	if _, err := Open(ctx, "../../testdata/stores/tree.b2d", &OpenOptions{MaxLeaves: 3}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too many leaves: %v", err)
	}
}

// TestGroupsClosed opens stores that have too many groups. No file stays open.
func TestGroupsClosed(t *testing.T) {
	ctx := t.Context()
	for _, name := range []string{"x.b2d", "x.b2e"} {
		sys := simulated.New()
		s, err := Create(ctx, name, &CreateOptions{OpenOptions: OpenOptions{sys: sys}})
		if err == nil {
			err = errors.Join(s.Put(ctx, "/a/b/c/d/e/f/g/h/i/j", contentFrame(t, []byte("bytes"))), s.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		for what, open := range map[string]func(context.Context, string, *OpenOptions) (*Store, error){"Open": Open, "Edit": Edit} {
			s, err := open(ctx, name, &OpenOptions{MaxLeaves: 2, sys: sys})
			if s != nil || !errors.Is(err, ErrTooLarge) || sys.Opened != 0 {
				t.Errorf("%s of %s: %v, %v, want %v; %d files are open", what, name, s, err, ErrTooLarge, sys.Opened)
			}
		}
	}
}

// A leaf with an unusual extension is found by its content.
func TestOtherExtension(t *testing.T) {
	ctx := context.Background()
	dir := copyStore(t, "stores/tree.b2d")
	if err := os.Rename(filepath.Join(dir, "meta", "pos.b2nd"), filepath.Join(dir, "meta", "pos.odd")); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if a, err := s.Array(ctx, "/meta/pos"); err != nil || a.Shape()[0] != 10 {
		t.Error(err)
	}
}

// embedWith returns an embed store with a map, whose decoded bytes are pool.
func embedWith(t testing.TB, m any, pool []byte) []byte {
	t.Helper()
	content, err := meta.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	marker, err := meta.Marshal(map[string]any{"version": 1})
	if err != nil {
		t.Fatal(err)
	}
	return buildFrame(t, []meta.Layer{{Name: "b2embed", Content: marker}}, []meta.Layer{{Name: "estore_metadata", Content: content}}, pool)
}

func TestEmbedMap(t *testing.T) {
	ctx := context.Background()
	leaf := buildFrame(t, nil, nil, []byte("content"))
	n := int64(len(leaf))
	node := func(o, l int64) map[string]any { return map[string]any{"offset": o, "length": l} }
	for name, c := range map[string]struct {
		m    map[string]any
		want error
	}{
		"one leaf":       {map[string]any{"/a": node(0, n)}, nil},
		"no leaf":        {map[string]any{}, nil},
		"beyond the end": {map[string]any{"/a": node(1, n)}, ErrCorrupt},
		"negative":       {map[string]any{"/a": node(-1, n)}, ErrCorrupt},
		"overflow":       {map[string]any{"/a": node(1<<62, 1<<62)}, ErrCorrupt},
		"parent":         {map[string]any{"/../a": node(0, n)}, ErrCorrupt},
		"relative":       {map[string]any{"a": node(0, n)}, ErrCorrupt},
		"double slash":   {map[string]any{"/a//b": node(0, n)}, ErrCorrupt},
		"colon":          {map[string]any{"/c:a": node(0, n)}, ErrCorrupt},
		"line break":     {map[string]any{"/a\n": node(0, n)}, ErrCorrupt},
		"root":           {map[string]any{"/": node(0, n)}, ErrCorrupt},
		"no node":        {map[string]any{"/a": "text"}, ErrCorrupt},
		"remote":         {map[string]any{"/a": map[string]any{"urlbase": "https://example.com", "path": "x.b2nd"}}, nil},
	} {
		b := embedWith(t, map[string]any{"embed_map": c.m, "current_offset": n}, leaf)
		s, err := OpenReaderAt(ctx, bytes.NewReader(b), int64(len(b)), nil)
		if !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if err != nil {
			continue
		}
		if e, err := s.Stat(ctx, "/a"); name == "one leaf" && (err != nil || e.Kind != KindFrame || e.Size != n) {
			t.Errorf("%s: %+v, %v", name, e, err)
		} else if name == "remote" && (err != nil || e.Kind != KindReference || e.Ref.String() != "c2array x.b2nd at https://example.com") {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
		if _, err := s.Frame(ctx, "/a"); name == "remote" && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOverlaps opens embed stores whose leaves share bytes. As many as possible stay readable.
func TestOverlaps(t *testing.T) {
	ctx := t.Context()
	leaf := buildFrame(t, nil, nil, []byte("content"))
	n := int64(len(leaf))
	pool := bytes.Repeat(leaf, 3)
	node := func(o, l int64) map[string]any { return map[string]any{"offset": o, "length": l} }
	for name, c := range map[string]struct {
		m      map[string]any
		faulty []string
	}{
		"none":      {map[string]any{"/c": node(0, n), "/b": node(n, n), "/a": node(2*n, n)}, nil},
		"same":      {map[string]any{"/b": node(n, n), "/c": node(n, n), "/a": node(n, n)}, []string{"/b", "/c"}},
		"one large": {map[string]any{"/a": node(0, 3*n), "/b": node(0, n), "/c": node(n, n), "/d": node(2*n, n)}, []string{"/a"}},
		"one byte":  {map[string]any{"/a": node(0, n+1), "/b": node(n, n)}, []string{"/b"}},
		"same end":  {map[string]any{"/a": node(0, 2*n), "/b": node(n, n)}, []string{"/a"}},
		"elsewhere": {map[string]any{"/a": node(0, n), "/b": map[string]any{"urlbase": "https://example.com", "path": "x.b2nd"}}, nil},
	} {
		b := embedWith(t, map[string]any{"embed_map": c.m, "current_offset": 3 * n}, pool)
		s, err := OpenReaderAt(ctx, bytes.NewReader(b), int64(len(b)), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var faulty []string
		for e, err := range s.Walk(ctx, "/") {
			if errors.Is(err, ErrCorrupt) {
				faulty = append(faulty, e.Key)
			} else if err != nil {
				t.Errorf("%s: %s: %v", name, e.Key, err)
			}
		}
		if !slices.Equal(faulty, c.faulty) {
			t.Errorf("%s: leaves with a fault: %v, want %v", name, faulty, c.faulty)
		}
		for _, key := range c.faulty {
			if _, err := fs.ReadFile(s, key[1:]); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: reading the file of %s: %v", name, key, err)
			}
		}
	}
}

// A store inside a leaf of a store.
func TestSub(t *testing.T) {
	ctx := context.Background()
	inner, err := os.ReadFile("../../testdata/stores/embed.b2e")
	if err != nil {
		t.Fatal(err)
	}
	b := embedWith(t, map[string]any{"embed_map": map[string]any{"/in": map[string]any{"offset": 0, "length": len(inner)}}}, inner)
	s, err := OpenReaderAt(ctx, bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := s.Stat(ctx, "in"); err != nil || e.Kind != KindStore {
		t.Errorf("%+v, %v", e, err)
	}
	sub, err := s.Sub(ctx, "in")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range storeCases(t) {
		if c.File == "embed.b2e" {
			checkLeaves(t, sub, c)
		}
	}
}

func TestPickles(t *testing.T) {
	ctx := context.Background()
	pickle := []byte("\x80\x05cposix\nsystem\n(S'true'\ntR.")
	dir := t.TempDir()
	f, err := frame.OpenBytes(buildFrame(t, nil, nil, pickle), nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := f.ReadRaw(ctx, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	large, err := chunk.Encode(nil, append(bytes.Clone(pickle), make([]byte, 64<<20)...), chunk.Params{TypeSize: 1, BlockSize: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"frame": buildFrame(t, nil, nil, pickle), "chunk": raw, "large chunk": large} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := OpenTensor(ctx, file, nil); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
			t.Errorf("%s: allocated %d bytes", name, n)
		}
	}
	if _, err := OpenTensor(ctx, "../../testdata/stores/objects.b2b", nil); !errors.Is(err, ErrFormat) {
		t.Errorf("no tensor: %v", err)
	}
}

func TestTensorFaults(t *testing.T) {
	for name, v := range map[string]any{
		"no items":   meta.Tuple{"numpy", meta.Tuple{3, 0}, "<i4"},
		"too long":   meta.Tuple{"numpy", meta.Tuple{3}, "<i4"},
		"overflow":   meta.Tuple{"numpy", meta.Tuple{int64(1) << 62, int64(1) << 62, 8}, "<i4"},
		"negative":   meta.Tuple{"numpy", meta.Tuple{-1}, "<i4"},
		"no shape":   meta.Tuple{"numpy"},
		"not a list": "text",
	} {
		content, err := meta.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b := buildFrame(t, nil, []meta.Layer{{Name: tensorLayer, Content: content}}, []byte("12345678"))
		f, err := frame.OpenBytes(b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ArrayOf(context.Background(), f); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTensorEmpty opens tensors without items, whose shapes have a zero anywhere.
func TestTensorEmpty(t *testing.T) {
	ctx := t.Context()
	for _, shape := range [][]int64{{0}, {3, 0}, {0, 3}, {3, 0, 4}, {1 << 40, 1 << 40, 0}} {
		extents := meta.Tuple{}
		for _, n := range shape {
			extents = append(extents, n)
		}
		content, err := meta.Marshal(meta.Tuple{"numpy", extents, "<f8"})
		if err != nil {
			t.Fatal(err)
		}
		f, err := frame.Create(ctx, "", &frame.CreateOptions{VLMeta: []meta.Layer{{Name: tensorLayer, Content: content}}})
		if err != nil {
			t.Fatal(err)
		}
		if e, err := Describe(ctx, f); err != nil || e.Kind != KindTensor || !slices.Equal(e.Shape, shape) {
			t.Errorf("%v: %+v, %v", shape, e, err)
		}
		if a, err := ArrayOf(ctx, f); err != nil {
			t.Errorf("%v: %v", shape, err)
		} else if !slices.Equal(a.Shape(), shape) || a.DType().String() != "<f8" {
			t.Errorf("%v: an array of shape %v and dtype %s", shape, a.Shape(), a.DType())
		}
	}
}

// TestTensorMemory opens a tensor that takes more memory than MaxBytes allows.
func TestTensorMemory(t *testing.T) {
	const n = 1 << 20
	content, err := meta.Marshal(meta.Tuple{"numpy", meta.Tuple{n}, "|u1"})
	if err != nil {
		t.Fatal(err)
	}
	b := buildFrame(t, nil, []meta.Layer{{Name: tensorLayer, Content: content}}, make([]byte, n))
	for limit, want := range map[int64]error{n - 1: errs.ErrTooLarge, 0: nil} {
		f, err := frame.OpenBytes(b, &frame.OpenOptions{MaxBytes: limit})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ArrayOf(context.Background(), f); !errors.Is(err, want) {
			t.Errorf("MaxBytes %d: %v, want %v", limit, err, want)
		}
	}
}

// walkAll opens everything in a store. All errors must be those that the packages document for the content of files.
func walkAll(t testing.TB, b []byte) {
	t.Helper()
	ctx := context.Background()
	check := func(what string, err error) {
		for _, want := range []error{nil, ErrFormat, ErrCorrupt, ErrTooLarge, errors.ErrUnsupported} {
			if errors.Is(err, want) {
				return
			}
		}
		t.Errorf("%s: %v", what, err)
	}
	s, err := OpenReaderAt(ctx, bytes.NewReader(b), int64(len(b)), &OpenOptions{MaxLeaves: 1000})
	check("opening", err)
	if err != nil {
		return
	}
	defer s.Close()
	for e, err := range s.Walk(ctx, "/") {
		check("walking", err)
		if err != nil || e.Kind == KindGroup || e.Kind == KindTable {
			continue
		}
		f, err := s.Frame(ctx, e.Key)
		check("opening a leaf", err)
		if err == nil && f.Info().NBytes < 1<<20 {
			_, err = io.Copy(io.Discard, f.Content(ctx))
			check("reading a leaf", err)
		}
	}
	for key := range s.Keys("/") {
		o, err := s.Objects(ctx, key)
		check("opening objects", err)
		if err == nil {
			for _, err := range o.Items(ctx, 0, min(o.Len(), 1000)) {
				check("reading objects", err)
			}
		}
	}
}

// storeFiles returns the stores of testdata that are files.
func storeFiles(t testing.TB) [][]byte {
	t.Helper()
	var all [][]byte
	for _, pattern := range []string{"stores/*.b2[ez]", "tables/*.b2z"} {
		names, err := filepath.Glob("../../testdata/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b)
		}
	}
	if len(all) < 25 {
		t.Fatalf("%d stores", len(all))
	}
	return all
}

// Damaged stores yield data, or errors that the packages document: no panic, no endless loop.
func TestMutations(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, b := range storeFiles(t) {
		for range rounds {
			m := bytes.Clone(b)
			for range 1 + r.IntN(4) {
				m[r.IntN(len(m))] = byte(r.Uint32())
			}
			if r.IntN(4) == 0 {
				m = m[:r.IntN(len(m))]
			}
			walkAll(t, m)
		}
	}
}

func FuzzOpen(f *testing.F) {
	for _, b := range storeFiles(f)[:6] {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { walkAll(t, b) })
}

func FuzzEmbedMap(f *testing.F) {
	for _, m := range []any{
		map[string]any{"embed_map": map[string]any{"/a": map[string]any{"offset": 0, "length": 20}}, "current_offset": 20},
		map[string]any{"embed_map": map[string]any{"/g/b": map[string]any{"urlbase": "u", "path": "p"}}},
	} {
		b, err := meta.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	leaf := bytes.Repeat([]byte("leaf"), 100)
	f.Fuzz(func(t *testing.T, content []byte) {
		marker := []byte{0x80}
		walkAll(t, buildFrame(t, []meta.Layer{{Name: "b2embed", Content: marker}}, []meta.Layer{{Name: "estore_metadata", Content: content}}, leaf))
	})
}
