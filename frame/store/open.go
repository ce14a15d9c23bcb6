package store

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/frame/store/internal/zipdir"
)

// A Store is an open store: a map from keys to leaves. It is safe for concurrent use.
//
// Frames, arrays and tables of the store read from its files. They are valid until the store is closed.
type Store struct {
	opts   *OpenOptions
	layout Layout
	files  openFiles
	embed  *frame.Frame                     // the embed store
	pool   atomic.Pointer[io.SectionReader] // its decoded bytes, to which edits only append
	size   int64                            // of the stored bytes of the embed store
	index  index
	edit   *editor // nil if the store is only read
	closed atomic.Bool
}

// Layout is the kind of a store.
type Layout uint8

// Layouts of stores, after the classes of python-blosc2.
const (
	LayoutEmbed Layout = iota // all leaves in one frame
	LayoutDict                // a directory or zip file
	LayoutTree                // a directory or zip file whose groups have attributes
)

// String returns "embed store", "dict store" or "tree store".
func (l Layout) String() string {
	switch l {
	case LayoutEmbed:
		return "embed store"
	case LayoutDict:
		return "dict store"
	case LayoutTree:
		return "tree store"
	}
	return fmt.Sprintf("Layout(%d)", uint8(l))
}

// Open opens the store in a file (.b2e or .b2z) or a directory (.b2d) for reading. The content decides, not the name.
// It reads the list of leaves and the embed store's header, and no leaf. The error wraps ErrFormat, ErrCorrupt,
// ErrTooLarge or errors.ErrUnsupported, or is an error of the operating system.
func Open(ctx context.Context, name string, o *OpenOptions) (*Store, error) {
	s, err := openName(ctx, name, o)
	if err != nil {
		return nil, fmt.Errorf("store: opening %s: %w", name, err)
	}
	return s, nil
}

func openName(ctx context.Context, name string, o *OpenOptions) (*Store, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	fi, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if fi.IsDir() {
		root, err := os.OpenRoot(name)
		if err != nil {
			return nil, err
		}
		return openContainer(ctx, &directory{root}, o)
	}
	if !fi.Mode().IsRegular() {
		return nil, faults.Formatf("not a file or directory")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	s, err := openReader(ctx, f, fi.Size(), f, o)
	if err != nil {
		f.Close()
	}
	return s, err
}

// OpenReaderAt opens the store in the first size bytes of r for reading: a .b2z or .b2e file. Close does not close r.
// See Open.
func OpenReaderAt(ctx context.Context, r io.ReaderAt, size int64, o *OpenOptions) (*Store, error) {
	err := o.check()
	if err == nil {
		var s *Store
		if s, err = openReader(ctx, r, size, nil, o); err == nil {
			return s, nil
		}
	}
	return nil, fmt.Errorf("store: opening: %w", err)
}

// openReader opens a zip file or an embed store. It closes closer only in Store.Close.
func openReader(ctx context.Context, r io.ReaderAt, size int64, closer io.Closer, o *OpenOptions) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	tail, err := zipdir.Tail(r, size)
	if err != nil {
		return nil, err
	}
	if zipdir.IsZip(tail) {
		return openContainerFiles(ctx, &zipFile{r: r, size: size, tail: tail, closer: closer}, o)
	}
	s := &Store{opts: o, index: index{leaves: map[string]*leaf{}}}
	s.files.box = embedFileOnly{closer}
	fo := o.frames()
	f, err := frames.OpenFrame(ctx, r, size, &fo)
	if err != nil {
		return nil, err
	}
	if err := s.readEmbed(ctx, f, size); err != nil {
		f.Close()
		return nil, err
	}
	return s, s.checkGroups()
}

// embedFileOnly is the container of a .b2e file, which has no other files.
type embedFileOnly struct{ closer io.Closer }

func (embedFileOnly) files(context.Context, int) ([]file, error) { return nil, nil }
func (embedFileOnly) open(name string) (io.ReaderAt, int64, func() error, error) {
	return nil, 0, nil, faults.Corruptf("no file %q in an embed store", name)
}
func (e embedFileOnly) Close() error {
	if e.closer == nil {
		return nil
	}
	return e.closer.Close()
}

// openContainer is openContainerFiles that closes the container after an error.
func openContainer(ctx context.Context, box container, o *OpenOptions) (*Store, error) {
	s, err := openContainerFiles(ctx, box, o)
	if err != nil {
		box.Close()
	}
	return s, err
}

// openContainerFiles opens the store in a directory or zip file.
func openContainerFiles(ctx context.Context, box container, o *OpenOptions) (*Store, error) {
	files, err := box.files(ctx, o.maxLeaves())
	if err != nil {
		return nil, err
	}
	s := &Store{opts: o, index: index{leaves: make(map[string]*leaf, len(files))}}
	s.files.box = box
	hasEmbed := false
	for _, f := range files {
		if f.name == embedFile {
			if f.fault != nil {
				return nil, fmt.Errorf("%s: %w", embedFile, f.fault)
			}
			hasEmbed = true
		}
		if ignoredFile(f.name) || !knownExtension(f.name) && !s.isFrame(f) {
			continue
		}
		if err := s.addExternal(f); err != nil {
			return nil, err
		}
	}
	if !hasEmbed {
		return nil, faults.Formatf("no %s in it", embedFile)
	}
	if err := s.openEmbed(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", embedFile, err)
	}
	return s, s.checkGroups()
}

// isFrame reports whether a file whose name does not show it is a leaf.
func (s *Store) isFrame(f file) bool {
	if f.fault != nil {
		return false
	}
	r, size, release, err := s.files.box.open(f.name)
	if err != nil {
		return false
	}
	defer release()
	var head [10]byte
	if size < int64(len(head)) {
		return false
	}
	_, err = r.ReadAt(head[:], 0)
	return err == nil && string(head[2:]) == "b2frame\x00"
}

// addExternal adds the leaf in a file of its own.
func (s *Store) addExternal(f file) error {
	key := keyOfFile(f.name)
	if old := s.index.get(key); old != nil {
		return faults.Corruptf("the files %q and %q have the same key", faults.Clip(old.file), faults.Clip(f.name))
	}
	s.index.leaves[key] = &leaf{key: key, file: f.name, size: f.size, fault: f.fault}
	return nil
}

// openEmbed opens the embed store of a directory or zip file.
func (s *Store) openEmbed(ctx context.Context) error {
	src, err := s.files.get(embedFile)
	if err != nil {
		return err
	}
	fo := s.opts.frames()
	f, err := frames.OpenFrame(ctx, src.r, src.size, &fo)
	if err != nil {
		src.release()
		return err
	}
	if err := s.readEmbed(ctx, f, src.size); err != nil {
		f.Close()
		src.release()
		return err
	}
	return nil
}

// Layout returns the kind of the store.
func (s *Store) Layout() Layout { return s.layout }

// Close closes the store, and with it the files of all frames, arrays and tables that it opened. It may be called more
// than once.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	err := s.embed.Close()
	if e := s.files.Close(); err == nil {
		err = e
	}
	return err
}

// checkGroups returns an error for a store with far more groups than leaves allowed.
func (s *Store) checkGroups() error {
	_, err := s.index.groups(4 * s.opts.maxLeaves())
	return err
}

// editor is what a store needs for edits.
type editor struct {
	mu        sync.Mutex // held by each edit
	dir       *directory // nil for a store in one frame
	threshold int64
	noSync    bool
}
