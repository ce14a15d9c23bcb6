package interop

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// A pyStore is a store as python-blosc2 reads it: chapter 8 of FORMAT.md without package store. C-Blosc2 opens all
// frames.
type pyStore struct {
	marker   string
	external map[string][]byte // frames in files of their own by key, and in embed.b2e
	embedded map[string][]byte
	names    map[string]string // of the files
}

// leaves returns all frames. Those in files hide others with the same key.
func (s *pyStore) leaves() map[string][]byte {
	all := maps.Clone(s.embedded)
	maps.Copy(all, s.external)
	return all
}

// openPyStore reads a store.
func openPyStore(name string) (*pyStore, error) {
	s := &pyStore{external: map[string][]byte{}, names: map[string]string{}}
	files := map[string][]byte{}
	var err error
	switch filepath.Ext(name) {
	case ".b2e":
		files["embed.b2e"], err = os.ReadFile(name)
	case ".b2d":
		err = fs.WalkDir(os.DirFS(name), ".", func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files[p], err = os.ReadFile(filepath.Join(name, filepath.FromSlash(p)))
			}
			return err
		})
	case ".b2z":
		files, err = zipMembers(name)
	}
	if err != nil {
		return nil, err
	}
	for p, b := range files {
		if p == "embed.b2e" || strings.HasSuffix(p, ".tmp") || strings.HasSuffix(p, ".b2lock") {
			continue
		}
		key := "/" + strings.TrimSuffix(p, path.Ext(p))
		if s.external[key] != nil {
			return nil, fmt.Errorf("two files with the key %s", key)
		}
		s.external[key], s.names[key] = b, p
	}
	if files["embed.b2e"] == nil {
		return nil, errors.New("no embed.b2e")
	}
	if err := s.readEmbed(files["embed.b2e"]); err != nil {
		return nil, fmt.Errorf("embed.b2e: %w", err)
	}
	for key := range s.leaves() {
		if !strings.HasPrefix(key, "/") || strings.HasSuffix(key, "/") || strings.Contains(key, "//") || strings.ContainsAny(key, ":\x00\n\r\t") {
			return nil, fmt.Errorf("the key %q", key)
		}
	}
	return s, nil
}

// zipMembers returns the members of a zip file. It finds their bytes as python-blosc2 does, and checks that the file is
// like one that it has written.
func zipMembers(name string) (map[string][]byte, error) {
	all, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(bytes.NewReader(all), int64(len(all)))
	if err != nil {
		return nil, err
	}
	members := map[string][]byte{}
	last := uint64(1 << 63)
	for i, f := range z.File {
		switch isEmbed := f.Name == "embed.b2e"; {
		case f.Method != zip.Store, f.Flags&^0x800 != 0, f.ReaderVersion != 20, len(f.Extra) > 0, f.Comment != "", strings.HasSuffix(f.Name, "/"):
			return nil, fmt.Errorf("member %+v", f.FileHeader)
		case isEmbed != (i == len(z.File)-1), !isEmbed && f.UncompressedSize64 > last, members[f.Name] != nil:
			return nil, fmt.Errorf("%s is member %d of %d, of %d bytes after %d", f.Name, i, len(z.File), f.UncompressedSize64, last)
		}
		last = f.UncompressedSize64
		data, err := f.DataOffset()
		if err != nil {
			return nil, err
		}
		header := data - 30 - int64(len(f.Name)) // without extra fields
		if header < 0 || string(all[header:header+4]) != "PK\x03\x04" || string(all[header+30:data]) != f.Name || binary.LittleEndian.Uint16(all[header+28:]) != 0 {
			return nil, fmt.Errorf("no local header of %s at byte %d", f.Name, header)
		}
		members[f.Name] = all[data : data+int64(f.UncompressedSize64)]
		if _, err := f.Open(); err != nil {
			return nil, err
		}
	}
	if z.Comment != "" {
		return nil, errors.New("a comment")
	}
	return members, nil
}

// readEmbed reads an embed store.
func (s *pyStore) readEmbed(b []byte) error {
	c, info, err := openC(b)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, name := range []string{"b2embed", "b2dict", "b2tree"} {
		if content, ok := info.Metalayers[name]; ok {
			s.marker = name
			var m map[string]int
			if err := meta.Unmarshal(content, &m); err != nil || len(m) != 1 || m["version"] != 1 {
				return fmt.Errorf("metalayer %s: %v, %v", name, m, err)
			}
		}
	}
	if s.marker == "" || info.TypeSize != 1 || info.ChunkSize != 8192 {
		return fmt.Errorf("marker %q, items of %d bytes, chunks of %d", s.marker, info.TypeSize, info.ChunkSize)
	}
	pool, err := c.Dump()
	if err != nil {
		return err
	}
	var m struct {
		Map    map[string]map[string]any `msgpack:"embed_map"`
		Offset int                       `msgpack:"current_offset"`
	}
	if err := meta.Unmarshal(info.VLMeta["estore_metadata"], &m); err != nil || m.Map == nil {
		return fmt.Errorf("estore_metadata: %w", err)
	}
	if m.Offset != len(pool) {
		return fmt.Errorf("the next leaf goes to byte %d of %d", m.Offset, len(pool))
	}
	s.embedded = map[string][]byte{}
	for key, node := range m.Map {
		offset, ok1 := node["offset"].(int64)
		length, ok2 := node["length"].(int64)
		if !ok1 || !ok2 || len(node) != 2 || offset < 0 || length < 1 || offset+length > int64(len(pool)) {
			return fmt.Errorf("%s: %v in %d bytes", key, node, len(pool))
		}
		s.embedded[key] = pool[offset : offset+length]
	}
	return nil
}

// openC opens a frame with C-Blosc2.
func openC(b []byte) (*ref.SChunk, *ref.Info, error) {
	c, err := ref.SChunkFrom(b)
	if err != nil {
		return nil, nil, err
	}
	info, err := c.Info()
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	return c, info, nil
}

// extensionOf returns the extension that python-blosc2 gives the file of a frame.
func extensionOf(info *ref.Info) string {
	for _, e := range [][2]string{{"listarray", ".b2b"}, {"vlarray", ".b2f"}, {"batcharray", ".b2b"}, {"b2nd", ".b2nd"}} {
		if _, ok := info.Metalayers[e[0]]; ok {
			return e[1]
		}
	}
	return ".b2f"
}

// check compares the leaves with frames, by their decoded bytes and metalayers. A leaf must be in a file of its own if
// it has at least threshold decoded bytes; a negative threshold is for a store in one file.
func (s *pyStore) check(want map[string]*frame.Frame, attrs map[string]map[string]string, threshold int64) error {
	all := s.leaves()
	for key, f := range want {
		b := all[key]
		if b == nil {
			return fmt.Errorf("%s is missing", key)
		}
		delete(all, key)
		c, info, err := openC(b)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		got, err := c.Dump()
		c.Close()
		content := make([]byte, f.Info().NBytes)
		if _, readErr := f.Content(context.Background()).ReadAt(content, 0); len(content) > 0 && readErr != nil {
			return readErr
		}
		if err != nil || !bytes.Equal(got, content) {
			return fmt.Errorf("%s: %d bytes, want %d: %v", key, len(got), len(content), err)
		}
		for _, l := range f.Meta() {
			if !bytes.Equal(info.Metalayers[l.Name], l.Content) {
				return fmt.Errorf("%s: metalayer %s differs", key, l.Name)
			}
		}
		for _, name := range f.VLMetaNames() {
			if v, err := f.VLMeta(name); err != nil || !bytes.Equal(info.VLMeta[name], v) {
				return fmt.Errorf("%s: variable-length metalayer %s differs: %v", key, name, err)
			}
		}
		if _, external := s.external[key]; external != (threshold >= 0 && f.Info().NBytes >= threshold) {
			return fmt.Errorf("%s has %d bytes: a file of its own is %v", key, f.Info().NBytes, external)
		}
		if name := s.names[key]; name != "" && path.Ext(name) != extensionOf(info) {
			return fmt.Errorf("%s is in %s, want %s", key, name, extensionOf(info))
		}
	}
	for group, values := range attrs {
		key := path.Join(group, "__vlmeta__")
		_, info, err := openC(all[key])
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		delete(all, key)
		got := map[string]string{}
		for name, content := range info.VLMeta {
			var v string
			if err := meta.Unmarshal(content, &v); err != nil {
				return err
			}
			got[name] = v
		}
		if info.NChunks != 0 || !maps.Equal(got, values) {
			return fmt.Errorf("%s: %d chunks, attributes %v, want %v", key, info.NChunks, got, values)
		}
	}
	if len(all) > 0 {
		return fmt.Errorf("%q should not be there", slices.Sorted(maps.Keys(all)))
	}
	return nil
}

// storeFrames returns frames of all kinds that stores hold.
func storeFrames(t *testing.T) []*frame.Frame {
	t.Helper()
	ctx := t.Context()
	a, err := ndarray.Arange[int32](ctx, "", 0, 20_000, 1, &ndarray.CreateOptions{Chunks: []int64{3000}, Attrs: map[string]any{"unit": "m"}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := ndarray.Full(ctx, "", []int64{7, 9}, 2.5, nil)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.Append(ctx, []byte("a super-chunk")) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	list := []*frame.Frame{a.Frame(), b.Frame(), plain}
	for _, name := range []string{"objects.b2b", "batches.b2b", "tensor.bl2"} {
		f, err := frame.Open(ctx, filepath.Join(checkout, "testdata", "stores", name), nil)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	return list
}

// TestStoreLayout edits and packs stores at random, and reads them by the rules of python-blosc2.
func TestStoreLayout(t *testing.T) {
	ctx := t.Context()
	frames := storeFrames(t)
	for _, c := range []struct {
		name      string
		layout    store.Layout
		threshold int64
		marker    string
	}{
		{"s.b2e", store.LayoutEmbed, 0, "b2embed"}, {"s.b2d", store.LayoutTree, 0, "b2tree"}, {"t.b2d", store.LayoutTree, 600, "b2tree"}, {"d.b2d", store.LayoutDict, 600, "b2dict"},
	} {
		rng := rand.New(rand.NewPCG(5, 9))
		file := filepath.Join(t.TempDir(), c.name)
		o := store.OpenOptions{Threshold: c.threshold, Frames: &frame.OpenOptions{NoSync: true}}
		s, err := store.Create(ctx, file, &store.CreateOptions{Layout: c.layout, OpenOptions: o})
		if err != nil {
			t.Fatal(err)
		}
		model, attrs := map[string]*frame.Frame{}, map[string]map[string]string{}
		checked := func(name string, threshold int64) {
			t.Helper()
			p, err := openPyStore(name)
			if err == nil && p.marker != c.marker {
				err = fmt.Errorf("marker %s", p.marker)
			}
			if err == nil {
				err = p.check(model, attrs, threshold)
			}
			if err != nil {
				t.Fatalf("%s: %v", filepath.Base(name), err)
			}
		}
		most := c.threshold
		if c.layout == store.LayoutEmbed {
			most = -1
		}
		checked(file, most)
		for i := range 60 {
			key := []string{"/a", "/g/b", "/g/c", "/g/deep/d", "/é", "/x y"}[rng.IntN(6)]
			group := []string{"/", "/g"}[rng.IntN(2)]
			var err error
			switch k := rng.IntN(10); {
			case k < 3 && model[key] != nil:
				delete(model, key)
				err = s.Delete(ctx, key)
			case k == 3 && c.layout == store.LayoutTree && c.threshold == 0 && s.Has(group):
				if attrs[group] == nil {
					attrs[group] = map[string]string{}
				}
				attrs[group]["unit"] = fmt.Sprint("unit ", i)
				err = s.SetAttr(ctx, group, "unit", attrs[group]["unit"])
			default:
				old := model[key]
				model[key] = frames[rng.IntN(len(frames))]
				if old != nil && old != model[key] { // otherwise the file keeps its extension
					err = s.Delete(ctx, key)
				}
				if err == nil {
					err = s.Put(ctx, key, model[key])
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			checked(file, most)
			if c.layout != store.LayoutEmbed && i%10 == 9 {
				if err := s.Pack(ctx, file+".b2z", &store.CreateOptions{Overwrite: true}); err != nil {
					t.Fatal(err)
				}
				checked(file+".b2z", most)
			}
		}
		s.Close()
	}
}

// TestStoreFixtures reads the stores of python-blosc2 by the same rules, and those that Pack makes of them.
func TestStoreFixtures(t *testing.T) {
	dir := filepath.Join(checkout, "testdata")
	names, err := filepath.Glob(filepath.Join(dir, "*s", "*.b2[dze]"))
	if err != nil || len(names) < 50 {
		t.Fatal(len(names), err)
	}
	leaves := 0
	for _, name := range names {
		want, err := openPyStore(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		leaves += len(want.leaves())
		for key, b := range want.leaves() {
			c, _, err := openC(b)
			if err != nil {
				t.Errorf("%s%s: %v", name, key, err)
				continue
			}
			c.Close()
		}
		if filepath.Ext(name) == ".b2e" {
			continue
		}
		s, err := store.Open(t.Context(), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		packed := filepath.Join(t.TempDir(), "packed.b2z")
		if err := s.Pack(t.Context(), packed, nil); err != nil {
			t.Fatal(err)
		}
		s.Close()
		got, err := openPyStore(packed)
		if err != nil || got.marker != want.marker || !reflect.DeepEqual(got.leaves(), want.leaves()) || !maps.Equal(got.names, want.names) {
			t.Errorf("%s: packed, it has %d leaves of %d: %v", name, len(got.leaves()), len(want.leaves()), err)
		}
	}
	if leaves < 150 {
		t.Errorf("%d leaves", leaves)
	}
}
