package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/frame/store/internal/source"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/paths"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// Create creates an empty store for editing: a directory if the name ends in ".b2d", or an embed store in one file if
// it ends in ".b2e". The error wraps fs.ErrExist if the name exists, and errors.ErrUnsupported for another extension.
// For a .b2z file, create a directory and pack it: see Store.Pack.
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
	if o.Layout > LayoutTree {
		return fmt.Errorf("option Layout is %v: %w", o.Layout, ErrParam)
	}
	switch filepath.Ext(name) {
	case ".b2e":
		if o.Layout != LayoutEmbed {
			return fmt.Errorf("option Layout is for a directory: %w", ErrParam)
		}
		if o.Threshold != 0 {
			return errThreshold()
		}
		if err := checkOverwrite(o.system(), name, o.Overwrite); err != nil {
			return err
		}
		if err := createEmbed(ctx, o.system(), tempBeside(name), name, LayoutEmbed, o.noSync(), renamer(o.system(), o.Overwrite)); err != nil {
			return err
		}
		return storage.SyncDir(o.system(), name, o.noSync())
	case ".b2d":
		if o.Overwrite {
			return fmt.Errorf("option Overwrite is for a file: %w", ErrParam)
		}
		layout := o.Layout
		if layout == LayoutEmbed {
			layout = LayoutTree
		}
		return createDir(ctx, o.system(), paths.Trim(name), layout, o.noSync())
	}
	return faults.Unsupportedf("the name must end in .b2d or .b2e; for a .b2z file, create a directory and Pack it")
}

// createDir creates an empty directory store. The directory gets its name once the embed store is in it.
func createDir(ctx context.Context, sys storage.System, name string, layout Layout, noSync bool) (err error) {
	temp := tempBeside(name)
	if err := sys.Mkdir(temp, 0o777); err != nil {
		return errs.NoDirectory(name, err)
	}
	defer func() {
		if err != nil {
			sys.RemoveAll(temp)
		}
	}()
	root, err := sys.OpenRoot(temp)
	if err != nil {
		return err
	}
	err = createEmbed(ctx, root, storage.TempName(), embedFile, layout, noSync, root.Rename)
	if err == nil {
		err = storage.SyncRoot(root, noSync)
	}
	if err = errors.Join(err, root.Close()); err != nil {
		return err
	}
	if err := storage.RenameNew(sys, temp, name); err != nil {
		return err
	}
	return storage.SyncDir(sys, name, noSync)
}

// createEmbed creates the file of an empty embed store. The caller must sync the directory.
func createEmbed(ctx context.Context, d storage.Directory, temp, name string, layout Layout, noSync bool, rename func(temp, name string) error) error {
	marker, err := meta.Marshal(map[string]any{"version": 1})
	if err != nil {
		return err
	}
	content, err := marshalMap(nil, 0)
	if err != nil {
		return err
	}
	layer := [...]string{LayoutEmbed: "b2embed", LayoutDict: "b2dict", LayoutTree: "b2tree"}[layout]
	f, err := frame.Create(ctx, "", &frame.CreateOptions{ChunkSize: 8192,
		Meta: []meta.Layer{{Name: layer, Content: marker}}, VLMeta: []meta.Layer{{Name: embedLayer, Content: content}}})
	if err != nil {
		return err
	}
	defer f.Close()
	return createFile(d, temp, name, noSync, rename, func(w io.Writer) error { _, err := f.Save(ctx, w); return err })
}

// Edit opens the directory store (.b2d) or embed store (.b2e) with a name for reading and editing. See Open.
//
// Only one Store at a time may edit. If another Store has edited the embed store since, edits return frame.ErrChanged
// and write nothing. Two edits at the same moment may lose leaves, and the edit of a leaf with a file of its own is not
// noticed.
//
// Each edit takes effect completely or not at all, even after a crash. If it returns an error, it may have taken
// effect. The Store then shows what the files hold, or it rejects edits and Pack until it is opened again. Edit removes
// the temporary files of interrupted edits.
//
// A Store that was opened earlier continues to see the leaves of that time; in a directory, each of them until it is
// replaced or deleted. Frames that it opened before that continue to read the old file, which stays open until the last
// of them is closed. Its reads of an embed store return frame.ErrChanged if an edit may have overwritten the bytes.
// Then open the store again.
func Edit(ctx context.Context, name string, o *OpenOptions) (*Store, error) {
	ctx = task.Context(ctx)
	s, err := openEdit(ctx, name, o)
	if err != nil {
		return nil, fmt.Errorf("store: opening %s for editing: %w", name, err)
	}
	s.name = name
	return s, nil
}

func openEdit(ctx context.Context, name string, o *OpenOptions) (*Store, error) {
	if o == nil {
		o = &OpenOptions{}
	}
	if err := o.check(true); err != nil {
		return nil, err
	}
	sys := o.system()
	fi, err := sys.Stat(name)
	if err != nil {
		return nil, err
	}
	e := &editor{threshold: o.Threshold, noSync: o.noSync()}
	if err := storage.SettleName(sys, name, e.noSync); err != nil {
		return nil, err
	}
	if fi.IsDir() {
		return editDir(ctx, sys, name, e, o)
	}
	if filepath.Ext(name) == ".b2z" {
		return nil, errZip()
	}
	if o.Threshold != 0 {
		return nil, errThreshold()
	}
	file, err := sys.Open(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	s, err := openSource(ctx, source.FromReader(file, fi.Size()), nil, o)
	if err != nil {
		file.Close()
		return nil, err
	}
	if _, ok := s.files.box.(*zipFile); ok {
		s.Close()
		file.Close()
		return nil, errZip()
	}
	s.edit = e
	return s.editEmbed(ctx, file)
}

// errZip returns the error of Edit for a zip file.
func errZip() error {
	return faults.Unsupportedf("zip files cannot be edited; edit a directory and pack it")
}

// editDir opens a directory store for editing, and removes the files of edits that were interrupted.
func editDir(ctx context.Context, sys storage.System, name string, e *editor, o *OpenOptions) (*Store, error) {
	root, err := sys.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	e.dir = &directory{sys: sys, root: root}
	s, err := openContainer(ctx, e.dir, o)
	if err != nil {
		return nil, err
	}
	s.edit = e
	file, err := root.Open(embedFile, os.O_RDWR, 0)
	if err != nil {
		s.Close()
		return nil, err
	}
	if s, err = s.editEmbed(ctx, file); err != nil {
		return nil, err
	}
	for _, name := range e.dir.temps {
		root.Remove(name) // a file that remains only takes space
		e.dir.removeEmpty(path.Dir(name))
	}
	return s, nil
}

// editEmbed opens the embed store for editing, which was opened for reading to check it. It closes the file and the
// store after an error.
func (s *Store) editEmbed(ctx context.Context, file storage.File) (*Store, error) {
	fo := s.opts.frames()
	fo.NoSync = s.edit.noSync
	f, err := frame.EditStorage(ctx, storage.WritableFile{File: file}, &fo)
	if err != nil {
		file.Close()
		s.Close()
		return nil, err
	}
	old := s.embed
	s.embed = f
	s.edit.head.src = source.FromReader(file, int64(len(s.edit.head.b)))
	p, err := newPool(f)
	if err == nil {
		err = s.edit.head.read(ctx, s.edit.head.b[:])
	}
	if err != nil {
		old.Close()
		s.Close()
		return nil, err
	}
	s.pool.Store(p)
	if err := old.Close(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// editing calls do while no other edit runs. Errors have the key. If another Store has edited the embed store, editing
// does not call do, which would overwrite what that Store has written, and returns frame.ErrChanged.
func (s *Store) editing(ctx context.Context, key string, do func() error) error {
	if s.edit == nil {
		return atKey(key, fmt.Errorf("%w; open the store with Edit", ErrReadOnly))
	}
	s.edit.mu.Lock()
	defer s.edit.mu.Unlock()
	err := s.edit.broken
	if s.closed.Load() {
		err = errs.ErrClosed
	}
	if err == nil {
		err = s.edit.head.check(ctx)
	}
	if err == nil {
		err = do()
		if headErr := s.edit.head.read(context.WithoutCancel(ctx), s.edit.head.b[:]); err == nil {
			err = headErr
		}
	}
	return atKey(key, err)
}

// Put stores a copy of a frame under a key. It replaces an existing leaf with that key. In a directory store, frames of
// at least OpenOptions.Threshold decoded bytes get a file of their own, with the extension of python-blosc2 for its
// kind. Each Put of another leaf writes the list of all leaves in the embed store, which takes time in proportion to
// their number. The error wraps fs.ErrExist if the file system ignores case and has a file or a directory for a key
// that differs from this one in case, or if the file of another leaf has the name of a directory that this key needs.
//
// In a tree store, a leaf cannot be below another one, and the attributes of groups are set by SetAttr: such keys, and
// those that python-blosc2 does not accept, return ErrParam. The leaves of a table cannot be added or replaced one by
// one: Put returns errors.ErrUnsupported. If the leaf _meta of a table is damaged or missing, it can be replaced or
// deleted. Until then, Put of another leaf beside or below it returns the error of reading it.
func (s *Store) Put(ctx context.Context, key string, f *frame.Frame) error {
	ctx = task.Context(ctx)
	key = cleanKey(key)
	return s.editing(ctx, key, func() error {
		if err := s.checkTable(ctx, key); err != nil {
			return err
		}
		if err := s.checkStored(key); err != nil {
			return err
		}
		if s.isGroupMeta(key) {
			return fmt.Errorf("the attributes of a group; SetAttr sets them: %w", ErrParam)
		}
		return s.put(ctx, key, f)
	})
}

// checkTable returns an error for a key in a table: its leaves belong together. It also returns an error if the leaf
// that decides whether there is a table cannot be read. If that leaf is damaged, it can itself be edited.
func (s *Store) checkTable(ctx context.Context, key string) error {
	for above := parent(key); ; above = parent(above) {
		is, err := s.isTable(ctx, s.files.box, above)
		switch {
		case is:
			return faults.Unsupportedf("the leaves of the table %s cannot be edited one by one", above)
		case err != nil && !(key == join(above, tableMeta) && isDamage(err)):
			return fmt.Errorf("finding out whether %s is a table: %w", above, err)
		}
		if above == "/" {
			return nil
		}
	}
}

// isDamage reports whether an error is of the bytes or the kind of a leaf, or its file is missing. The error of a read
// that may succeed later is none.
func isDamage(err error) bool {
	return errors.Is(err, errs.ErrCorrupt) || errors.Is(err, errs.ErrFormat) || errors.Is(err, errs.ErrUnsupported) ||
		errors.Is(err, fs.ErrNotExist)
}

func (s *Store) put(ctx context.Context, key string, f *frame.Frame) error {
	old := s.index.get(key)
	if s.edit.dir == nil || f.Info().NBytes < s.edit.threshold {
		l, err := s.putEmbedded(ctx, key, f)
		if err != nil {
			return err
		}
		if old == nil || old.file == "" {
			s.index.set(key, l)
			return nil
		}
		return s.removeFile(old, l) // the file hides the new leaf until it is removed
	}
	name := key[1:] + extension(kindOf(f), f)
	if keyOfFile(name) != key {
		return fmt.Errorf("no file can have this key, whose last element has only dots: %w", ErrParam)
	}
	if strings.Count(name, "/") > maxDepth {
		return fmt.Errorf("no file can be more than %d directories deep: %w", maxDepth, ErrParam)
	}
	if old == nil || old.file != name {
		err := checkFree(s.edit.dir.root, name, false)
		switch {
		case err != nil && old != nil && old.file != "":
			name = old.file // a group has the other name: readers go by the content
		case errors.Is(err, fs.ErrExist):
			return fmt.Errorf("the file %s belongs to another key, perhaps because the file system ignores case: %w", faults.Clip(name), err)
		case err != nil:
			return s.aboveIsFile(name, err)
		}
	}
	if err := s.writeFile(ctx, old, name, f); err != nil {
		return err
	}
	// From here on the new leaf is stored, even if an error follows.
	s.files.forget(name)
	s.index.set(key, &leaf{key: key, file: name, size: -1})
	if err := s.syncDirs(path.Dir(name)); err != nil {
		return err
	}
	return s.unmap(ctx, key)
}

// aboveIsFile returns an error like err that wraps fs.ErrExist if a file has the name of a directory above a file.
func (s *Store) aboveIsFile(name string, err error) error {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if fi, statErr := s.edit.dir.root.Lstat(dir); statErr == nil && !fi.IsDir() {
			return fmt.Errorf("%s is a file: %w", faults.Clip(dir), fs.ErrExist)
		}
	}
	return err
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

// writeFile writes the file of a leaf, in place of that of the leaf old. The caller must sync the directories.
func (s *Store) writeFile(ctx context.Context, old *leaf, name string, f *frame.Frame) (err error) {
	root, dir := s.edit.dir.root, path.Dir(name)
	defer func() {
		if err != nil {
			s.edit.dir.removeEmpty(dir)
		}
	}()
	if err := s.edit.dir.mkdirAll(dir); err != nil {
		return err
	}
	like := embedFile // so that a new leaf is not for other users than the store
	if old != nil && old.file != "" {
		like = old.file
	}
	access, err := storage.Existing(root, like)
	if err != nil {
		return err
	}
	temp := path.Join(dir, storage.TempName()) // the name of the leaf may be as long as the file system allows
	err = writeFile(root, temp, access, s.edit.noSync, func(w io.Writer) error { _, err := f.Save(ctx, w); return err })
	if err != nil {
		return err
	}
	if old != nil && old.file != "" && old.file != name {
		err = s.renameFile(old, name)
	}
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		root.Remove(temp)
	}
	return err
}

// renameFile renames the file of a leaf to the name of the file that will replace it, which has another extension. Two
// files with one key would be an error. If the process ends before the new file is in place, the leaf has the extension
// of another kind, but readers go by the content.
func (s *Store) renameFile(l *leaf, name string) error {
	moving := *l
	moving.next = &leaf{key: l.key, file: name, size: l.size, fault: l.fault}
	s.index.set(l.key, &moving)
	if err := s.edit.dir.root.Rename(l.file, name); err != nil {
		s.index.set(l.key, l)
		return err
	}
	s.files.forget(l.file)
	s.index.set(l.key, moving.next)
	return s.syncDirs(path.Dir(name)) // without this, the disk might make only the second renaming durable
}

// removeFile removes the file of the leaf old. The leaf next has its key then, or none if next is nil. Other calls find
// it before the file is removed, so that they always find one of the two.
func (s *Store) removeFile(old, next *leaf) error {
	s.index.set(old.key, next)
	if err := s.edit.dir.root.Remove(old.file); err != nil {
		s.index.set(old.key, old)
		return err
	}
	s.files.forget(old.file)
	return s.syncDirs(s.edit.dir.removeEmpty(path.Dir(old.file)))
}

// syncDirs makes the entries of a directory, and of those above it, durable.
func (s *Store) syncDirs(name string) error {
	if s.edit.noSync || runtime.GOOS == "windows" { // there a directory cannot be synced
		return nil
	}
	for ; ; name = path.Dir(name) {
		if err := s.edit.dir.root.Sync(name); err != nil || name == "." {
			return err
		}
	}
}

// Delete removes a leaf, or a group of a tree store that has attributes but no leaves. In the frame of an embed store,
// the bytes of what was removed stay dead. The error wraps fs.ErrNotExist if there is neither with that key. The leaves
// of a table cannot be deleted one by one: Delete returns errors.ErrUnsupported.
//
// Delete of the last leaf in a group with attributes does not remove the group. Its key is free again after Delete of
// the group.
func (s *Store) Delete(ctx context.Context, key string) error {
	ctx = task.Context(ctx)
	key = cleanKey(key)
	return s.editing(ctx, key, func() error {
		l := s.index.get(key)
		if l == nil {
			l = s.onlyAttrs(key)
		}
		if l == nil {
			return errs.ErrNotExist
		}
		if err := s.checkTable(ctx, l.key); err != nil {
			return err
		}
		// An embedded leaf that a file hides goes first, so that it does not come back.
		if err := s.unmap(ctx, l.key); err != nil {
			return err
		}
		if l.file != "" {
			return s.removeFile(l, nil)
		}
		s.index.set(l.key, nil)
		return nil
	})
}
