package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
)

// Create creates an empty store for editing: a directory if the name ends in ".b2d", or an embed store in one file if
// it ends in ".b2e". The error wraps fs.ErrExist if there is something with that name. For a .b2z file, create a
// directory and pack it: see Store.Pack.
func Create(ctx context.Context, name string, o *CreateOptions) (*Store, error) {
	if o == nil {
		o = &CreateOptions{}
	}
	err := create(ctx, name, o)
	if err != nil {
		return nil, fmt.Errorf("store: creating %s: %w", name, err)
	}
	return Edit(ctx, name, &o.OpenOptions)
}

func create(ctx context.Context, name string, o *CreateOptions) error {
	if err := o.check(true); err != nil {
		return err
	}
	switch filepath.Ext(name) {
	case ".b2e":
		if o.Layout != LayoutEmbed {
			return fmt.Errorf("option Layout is for a directory: %w", ErrParam)
		}
		if o.Threshold != 0 {
			return errThreshold()
		}
		return createEmbed(ctx, name, LayoutEmbed, o.Overwrite, o.noSync())
	case ".b2d":
		if o.Overwrite {
			return fmt.Errorf("option Overwrite is for a file: %w", ErrParam)
		}
		layout := o.Layout
		if layout == LayoutEmbed {
			layout = LayoutTree
		}
		// The directory gets its name once the embed store is in it.
		tmp := fmt.Sprintf("%s.%d.tmp", filepath.Clean(name), os.Getpid())
		if err := os.Mkdir(tmp, 0o777); err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		if err := createEmbed(ctx, filepath.Join(tmp, embedFile), layout, false, o.noSync()); err != nil {
			return err
		}
		if _, err := os.Lstat(name); err == nil {
			return fs.ErrExist
		}
		return os.Rename(tmp, name)
	}
	return faults.Unsupportedf("the name must end in .b2d or .b2e")
}

// createEmbed creates an empty embed store.
func createEmbed(ctx context.Context, name string, layout Layout, overwrite, noSync bool) error {
	marker, err := meta.Marshal(map[string]any{"version": 1})
	if err != nil {
		return err
	}
	content, err := marshalMap(nil, 0)
	if err != nil {
		return err
	}
	layer := [...]string{LayoutEmbed: "b2embed", LayoutDict: "b2dict", LayoutTree: "b2tree"}[layout]
	f, err := frame.Create(ctx, name, &frame.CreateOptions{Overwrite: overwrite, NoSync: noSync, ChunkSize: 8192,
		Meta: []meta.Layer{{Name: layer, Content: marker}}, VLMeta: []meta.Layer{{Name: embedLayer, Content: content}}})
	if err != nil {
		return err
	}
	return f.Close()
}

// Edit opens the directory store (.b2d) or embed store (.b2e) with a name for reading and editing. Only one Store at a
// time may edit. See Open.
//
// Each edit is complete or has not happened, even after a crash. Stores that others opened before see the leaves that
// existed then: of a directory, until a leaf is replaced or deleted.
func Edit(ctx context.Context, name string, o *OpenOptions) (*Store, error) {
	s, err := openEdit(ctx, name, o)
	if err != nil {
		return nil, fmt.Errorf("store: opening %s for editing: %w", name, err)
	}
	return s, nil
}

func openEdit(ctx context.Context, name string, o *OpenOptions) (*Store, error) {
	if o == nil {
		o = &OpenOptions{}
	}
	if err := o.check(true); err != nil {
		return nil, err
	}
	fi, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	dir, file := name, embedFile
	if !fi.IsDir() {
		if filepath.Ext(name) == ".b2z" {
			return nil, faults.Unsupportedf("zip files cannot be edited; edit a directory and pack it")
		}
		if o.Threshold != 0 {
			return nil, errThreshold()
		}
		dir, file = filepath.Split(name)
	}
	root, err := os.OpenRoot(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	e := &editor{threshold: o.Threshold, noSync: o.noSync()}
	var s *Store
	if fi.IsDir() {
		e.dir = &directory{root}
		s, err = openContainerFiles(ctx, e.dir, o)
	} else {
		s, err = openEmbedFile(ctx, root, file, o)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	s.edit = e
	// The embed store was opened for reading, to check it; now it is opened for editing.
	if err := s.reopenEmbed(ctx, root, file); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// openEmbedFile opens the embed store in a file of a directory.
func openEmbedFile(ctx context.Context, root *os.Root, name string, o *OpenOptions) (*Store, error) {
	d := &directory{root}
	src, release, err := d.open(ctx, name)
	if err != nil {
		return nil, err
	}
	s, err := openSource(ctx, src, closers{release, root.Close}, o)
	if err != nil {
		release()
	}
	return s, err
}

// closers closes several things.
type closers []func() error

func (c closers) Close() error {
	var all error
	for _, f := range c {
		all = errors.Join(all, f())
	}
	return all
}

// reopenEmbed opens the frame of the embed store for editing.
func (s *Store) reopenEmbed(ctx context.Context, root *os.Root, name string) error {
	file, err := root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	fo := s.opts.frames()
	fo.NoSync = s.edit.noSync
	f, err := frames.EditFile(ctx, file, &fo)
	if err != nil {
		file.Close()
		return err
	}
	old := s.embed
	s.embed = f
	s.pool.Store(&pool{f})
	return old.Close()
}

// begin starts an edit of a leaf. The caller must call the function it returns.
func (s *Store) begin(key string) (func(), error) {
	if s.edit == nil {
		return nil, ErrReadOnly
	}
	if err := checkKey(key); err != nil {
		return nil, fmt.Errorf("key %q cannot be stored: %w", faults.Clip(key), ErrParam)
	}
	if strings.ContainsAny(key, "\\") {
		return nil, fmt.Errorf("key %q with a backslash: %w", faults.Clip(key), ErrParam)
	}
	if table, _, ok := strings.Cut(key, "/_cols/"); ok && s.looksLikeTable(cleanKey(table)) {
		return nil, faults.Unsupportedf("the columns of a table cannot be edited one by one")
	}
	s.edit.mu.Lock()
	if s.closed.Load() {
		s.edit.mu.Unlock()
		return nil, errs.ErrClosed
	}
	return s.edit.mu.Unlock, nil
}

// Put stores a copy of a frame under a key, and replaces the leaf that is there. In a directory store, frames of at
// least OpenOptions.Threshold decoded bytes get a file of their own.
func (s *Store) Put(ctx context.Context, key string, f *frame.Frame) error {
	key = cleanKey(key)
	end, err := s.begin(key)
	if err != nil {
		return atKey(key, err)
	}
	defer end()
	return atKey(key, s.put(ctx, key, f))
}

func (s *Store) put(ctx context.Context, key string, f *frame.Frame) error {
	old := s.index.get(key)
	if s.edit.dir == nil || f.Info().NBytes < s.edit.threshold {
		if err := s.putEmbedded(ctx, key, f); err != nil {
			return err
		}
		if old != nil && old.file != "" { // it hides the new leaf until it is removed
			return s.removeFile(old.file)
		}
		return nil
	}
	name := key[1:] + extension(kindOf(f), f)
	if old != nil && old.file != "" {
		name = old.file // the content decides about the kind, not the name
	}
	if err := s.writeFile(ctx, name, f); err != nil {
		return err
	}
	s.files.forget(name)
	s.index.set(key, &leaf{key: key, file: name, size: -1})
	return s.unmap(ctx, key)
}

// extension returns the extension of the file of a leaf.
func extension(k Kind, f *frame.Frame) string {
	switch k {
	case KindArray:
		return ".b2nd"
	case KindBatches, KindLists:
		return ".b2b"
	case KindReference:
		if _, ok := frames.MetaLayer(f, "b2nd"); ok {
			return ".b2nd"
		}
	}
	return ".b2f"
}

// writeFile writes the file of a leaf to a temporary file and renames it.
func (s *Store) writeFile(ctx context.Context, name string, f *frame.Frame) error {
	root := s.edit.dir.root
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.%d.tmp", name, os.Getpid())
	if err := root.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Save(ctx, file)
	if err == nil && !s.edit.noSync {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = root.Rename(tmp, name)
	}
	if err != nil {
		root.Remove(tmp)
		return err
	}
	return s.syncDirs(path.Dir(name))
}

// removeFile removes the file of a leaf.
func (s *Store) removeFile(name string) error {
	if err := s.edit.dir.root.Remove(name); err != nil {
		return err
	}
	s.files.forget(name)
	return s.syncDirs(path.Dir(name))
}

// syncDirs makes the entries of a directory, and of those above it, durable.
func (s *Store) syncDirs(name string) error {
	if s.edit.noSync || runtime.GOOS == "windows" || runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		return nil
	}
	for ; ; name = path.Dir(name) {
		d, err := s.edit.dir.root.Open(name)
		if err != nil {
			return err
		}
		err = d.Sync()
		d.Close()
		if err != nil || name == "." {
			return err
		}
	}
}

// Delete removes a leaf. In the frame of an embed store, its bytes stay dead. The error wraps fs.ErrNotExist if there
// is no leaf with that key.
func (s *Store) Delete(ctx context.Context, key string) error {
	key = cleanKey(key)
	end, err := s.begin(key)
	if err != nil {
		return atKey(key, err)
	}
	defer end()
	l := s.index.get(key)
	if l == nil {
		return atKey(key, errs.ErrNotExist)
	}
	// An embedded leaf that a file hides goes first, so that it does not come back.
	if err := s.unmap(ctx, key); err != nil {
		return atKey(key, err)
	}
	if l.file != "" {
		if err := s.removeFile(l.file); err != nil {
			return atKey(key, err)
		}
	}
	s.index.set(key, nil)
	return nil
}

// SetAttr sets an attribute of a group of a tree store, "/" for the whole store. v is encoded as meta.Marshal does.
func (s *Store) SetAttr(ctx context.Context, group, attr string, v any) error {
	group = cleanKey(group)
	key := join(group, groupMeta)
	end, err := s.begin(key)
	if err != nil {
		return atKey(group, err)
	}
	defer end()
	if s.layout != LayoutTree {
		return atKey(group, faults.Unsupportedf("attributes of a group of a %s", s.layout))
	}
	content, err := meta.Marshal(v)
	if err != nil {
		return atKey(group, err)
	}
	var layers []meta.Layer
	if l := s.index.get(key); l != nil {
		err = s.visit(ctx, l, func(f *frame.Frame, _ int64) (err error) {
			layers, err = frames.AllVLMeta(f)
			return err
		})
	}
	if err == nil {
		layers = setLayer(layers, meta.Layer{Name: attr, Content: content})
		err = s.putLayers(ctx, key, layers)
	}
	return atKey(group, err)
}

// putLayers stores a frame with variable-length metalayers and no chunks.
func (s *Store) putLayers(ctx context.Context, key string, layers []meta.Layer) error {
	f, err := frame.Create(ctx, "", &frame.CreateOptions{VLMeta: layers})
	if err != nil {
		return err
	}
	defer f.Close()
	return s.put(ctx, key, f)
}

// setLayer replaces or appends a metalayer.
func setLayer(layers []meta.Layer, l meta.Layer) []meta.Layer {
	for i := range layers {
		if layers[i].Name == l.Name {
			layers[i] = l
			return layers
		}
	}
	return append(layers, l)
}
