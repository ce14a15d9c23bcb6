package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/source"
	"github.com/goblosc/blosc2/frame/store/internal/zipdir"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/task"
)

// A Store is an open store: a map from keys to leaves. It is safe for concurrent use.
//
// Frames, arrays and tables of the store read from its files. They are valid until the store is closed. In a directory,
// the file of a leaf stays open until the last of the frames and arrays that read it is closed. Methods return the
// errors of this package, and errors of reading and writing.
type Store struct {
	opts   *OpenOptions
	name   string // in errors of leaves; empty if the caller gave none
	layout Layout
	files  openFiles
	embed  *frame.Frame // the embed store
	pool   atomic.Pointer[pool]
	size   int64 // of the stored bytes of the embed store
	far    bool  // the store reads from a source of the caller, which may be far away
	index  index
	edit   *editor // nil if the store is only read
	closed atomic.Bool
}

// Open opens the store in a file (.b2e or .b2z) or a directory (.b2d) for reading. The content determines the layout,
// not the name. Open reads the list of leaves, the header of the embed store, and the first bytes of files with other
// extensions than python-blosc2 uses, but no leaf. The error wraps ErrFormat, ErrCorrupt, ErrTooLarge or
// errors.ErrUnsupported, or frame.ErrChanged if other Stores edit the store all the time, or is an error of the
// operating system.
func Open(ctx context.Context, name string, o *OpenOptions) (*Store, error) {
	ctx = task.Context(ctx)
	s, err := openName(ctx, name, o)
	if err != nil {
		return nil, fmt.Errorf("store: opening %s: %w", name, err)
	}
	s.name = name
	return s, nil
}

func openName(ctx context.Context, name string, o *OpenOptions) (*Store, error) {
	if err := o.check(false); err != nil {
		return nil, err
	}
	sys := o.system()
	fi, err := sys.Stat(name)
	if err != nil {
		return nil, errs.SeeURL(name, err)
	}
	if fi.IsDir() {
		root, err := sys.OpenRoot(name)
		if err != nil {
			return nil, err
		}
		return openContainer(ctx, &directory{sys: sys, root: root}, o)
	}
	if !fi.Mode().IsRegular() {
		return nil, faults.Formatf("not a file or directory")
	}
	f, err := sys.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	s, err := openSource(ctx, dirFile{source.FromReader(f, fi.Size()), f, fi}, f, o)
	if err != nil {
		f.Close()
	}
	return s, err
}

// OpenReaderAt opens the store in the first size bytes of r for reading: a .b2z or .b2e file. r must be safe for
// concurrent use if several goroutines use the store. Calls check their context between reads of r. Close does not
// close r. See Open.
func OpenReaderAt(ctx context.Context, r io.ReaderAt, size int64, o *OpenOptions) (*Store, error) {
	return OpenSource(ctx, source.FromReader(r, size), o)
}

// OpenSource opens the store in src for reading: a .b2z or .b2e file on a server, for instance. ctx bounds only the
// opening; the store does not retain it. Reads of the store and of its leaves pass their own context to src. Close does
// not close src. See Open.
func OpenSource(ctx context.Context, src frame.Source, o *OpenOptions) (*Store, error) {
	ctx = task.Context(ctx)
	err := o.check(false)
	if err == nil {
		var s *Store
		if s, err = openSource(ctx, src, nil, o); err == nil {
			s.far = true
			if n, ok := src.(fmt.Stringer); ok {
				s.name = n.String()
			}
			return s, nil
		}
	}
	return nil, fmt.Errorf("store: opening: %w", err)
}

// openSource opens a zip file or an embed store. It closes closer only in Store.Close.
func openSource(ctx context.Context, src source.Source, closer io.Closer, o *OpenOptions) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if n := src.Size(); n < 0 {
		return nil, fmt.Errorf("a size of %d bytes: %w", n, ErrParam)
	}
	tail, err := zipdir.Tail(ctx, src)
	if err != nil {
		return nil, err
	}
	if zipdir.IsZip(tail) {
		return openContainerFiles(ctx, &zipFile{src: src, tail: tail, closer: closer}, o)
	}
	s := &Store{opts: o, index: index{leaves: map[string]*leaf{}}}
	s.files.box = embedFileOnly{closer}
	fo := o.frames()
	f, head, now, err := openEmbedFrame(ctx, src, closer != nil, &fo)
	if errors.Is(err, errs.ErrFormat) {
		if tail, zipErr := zipdir.LongTail(ctx, src); zipErr != nil {
			return nil, zipErr
		} else if tail != nil {
			return openContainerFiles(ctx, &zipFile{src: src, tail: tail, closer: closer}, o)
		}
	}
	if err != nil {
		return nil, err
	}
	if err = s.readEmbed(f, head, now); err == nil {
		err = s.checkGroups()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

// embedFileOnly is the container of a .b2e file, which has no other files.
type embedFileOnly struct{ closer io.Closer }

func (embedFileOnly) files(context.Context, int) ([]file, error) { return nil, nil }
func (embedFileOnly) open(_ context.Context, name string) (*openFile, error) {
	return nil, faults.Corruptf("no file %q in an embed store", name)
}
func (embedFileOnly) now(_ string, src source.Source) source.Source { return src }
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
	s := &Store{opts: o}
	s.files.box = box
	var e *embedFrame
	var err error
	if _, shared := box.(*directory); shared {
		e, err = s.listEdited(ctx)
	} else if err = s.listFiles(ctx); err == nil {
		e, err = s.openEmbed(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err = s.readEmbed(e.f, e.head, e.src); err != nil {
		err = fmt.Errorf("%s: %w", embedFile, err)
	} else {
		err = s.checkGroups()
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	return s, nil
}

// listEdited lists the files of a directory and opens its embed store.
//
// Another Store may edit the directory at the same time, and move leaves. It stores a file before it removes the leaf
// from the embed store, and a leaf in the embed store before it removes the file. So no leaf is missing if the embed
// store was opened before the files were listed, and no leaf has left it by the time the list is complete.
func (s *Store) listEdited(ctx context.Context) (*embedFrame, error) {
	before, err := s.openEmbed(ctx)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		err := s.listFiles(ctx)
		if errors.Is(err, frame.ErrChanged) && try < mostReplaced {
			continue
		}
		if err == nil && before.head.check(ctx) == nil {
			return before, nil
		}
		var after *embedFrame
		if err == nil {
			after, err = s.openEmbed(ctx)
		}
		complete := err == nil && before.allIn(after, try < mostDead)
		before.Close()
		switch {
		case err != nil:
			return nil, err
		case complete:
			return after, nil
		case try == mostReplaced:
			after.Close()
			return nil, errEdited()
		}
		before = after
	}
}

// listFiles fills the index with the leaves in files of their own.
func (s *Store) listFiles(ctx context.Context) error {
	box := s.files.box
	files, err := box.files(ctx, s.opts.maxLeaves())
	if err != nil {
		return err
	}
	s.index.leaves = make(map[string]*leaf, len(files))
	probe := probeAhead(box, files)
	for _, f := range files {
		if ignoredFile(f.name) {
			continue
		}
		if needsProbe(f.name) {
			if ok, err := isFrame(ctx, probe, f); err != nil {
				return fmt.Errorf("%s: %w", faults.Clip(f.name), err)
			} else if !ok {
				continue
			}
		}
		if err := s.addExternal(f); err != nil {
			return err
		}
	}
	return nil
}

// needsProbe reports whether the name of a file does not show whether it is a leaf.
func needsProbe(name string) bool { return !ignoredFile(name) && !knownExtension(name) }

// isFrame reports whether a file whose name does not show it is a leaf. A file that is damaged, has gone or may not be
// read is none. Other errors of reading are returned.
func isFrame(ctx context.Context, from opener, f file) (bool, error) {
	if f.fault != nil {
		return false, nil
	}
	var head [10]byte
	file, err := from.open(ctx, f.name)
	if err == nil {
		defer file.Close()
		if file.src.Size() < int64(len(head)) {
			return false, nil
		}
		_, err = file.src.ReadAtContext(ctx, head[:], 0)
	}
	for _, is := range []error{
		ErrCorrupt, ErrFormat, frame.ErrTooLarge, errors.ErrUnsupported, fs.ErrPermission, fs.ErrNotExist, io.EOF,
	} {
		if errors.Is(err, is) {
			return false, nil
		}
	}
	return err == nil && string(head[2:]) == "b2frame\x00", err
}

// addExternal adds the leaf in a file of its own.
func (s *Store) addExternal(f file) error {
	key := keyOfFile(f.name)
	if old := s.index.get(key); old != nil {
		// An edit may have given the file another name while the directory was listed.
		if d, ok := s.files.box.(*directory); ok && !d.haveAll(old.file, f.name, old.file) {
			return fmt.Errorf("the file %q got another name: %w", faults.Clip(old.file), frame.ErrChanged)
		}
		return faults.Corruptf("the files %q and %q have the same key", faults.Clip(old.file), faults.Clip(f.name))
	}
	s.index.leaves[key] = &leaf{key: key, file: f.name, size: f.size, fault: f.fault}
	return nil
}

// embedFrame is the open frame of the embed store of a directory or zip file.
type embedFrame struct {
	f    *frame.Frame
	head *embedHead
	src  source.Source // with the number of bytes that the file had then
	file *openFile
}

// openEmbed opens the embed store of a directory or zip file.
func (s *Store) openEmbed(ctx context.Context) (*embedFrame, error) {
	file, err := s.files.get(ctx, embedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, faults.Formatf("no %s in it", embedFile)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", embedFile, err)
	}
	fo := s.opts.frames()
	_, shared := s.files.box.(*directory)
	f, head, now, err := openEmbedFrame(ctx, file.src, shared, &fo)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", embedFile, err)
	}
	return &embedFrame{f, head, now, file}, nil
}

func (e *embedFrame) Close() {
	e.f.Close()
	e.file.Close()
}

// mostDead is the number of times that files are listed because of dead bytes alone.
const mostDead = 10

// allIn reports whether a later state of the embed store has all leaves of e. With added set, it must also have those
// that edits have added since: if one was added and replaced, or moved to a file, its bytes are dead, and the answer is
// no.
func (e *embedFrame) allIn(later *embedFrame, added bool) bool {
	old, err := readEmbedMap(e.f)
	now, laterErr := readEmbedMap(later.f)
	if err != nil || laterErr != nil {
		return false
	}
	for key := range old {
		if _, ok := now[key]; !ok {
			return false
		}
	}
	size := e.f.Info().NBytes
	dead := later.f.Info().NBytes - size
	for _, n := range now {
		if n.Offset >= size {
			dead -= n.Length
		}
	}
	return !added || dead == 0
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

// checkOpen returns an error about a key if the store is closed.
func (s *Store) checkOpen(key string) error {
	if s.closed.Load() {
		return atKey(key, errs.ErrClosed)
	}
	return nil
}

// checkGroups returns an error for a store with far more groups than leaves allowed.
func (s *Store) checkGroups() error {
	return s.index.countChildren(4 * min(s.opts.maxLeaves(), math.MaxInt/4))
}

// editor is the state of a store for edits.
type editor struct {
	mu        sync.Mutex // held by each edit
	dir       *directory // nil for a store in one frame
	threshold int64
	noSync    bool
	nodes     map[string]map[string]any // the stored map of the embed store; nil if it is not decoded yet
	broken    error                     // a commit of the embed store failed, so that its stored state is not known
	head      embedHead                 // of the embed store after the last edit
}
