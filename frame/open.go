package frame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// Open opens the frame in a file, or in the directory of a sparse frame, for reading. The name may begin with
// "file://". Open reads the header, the index and the trailer, but no chunks. ctx bounds this and waiting for a lock
// file; the frame does not retain it. The error is ErrParam, an error of the operating system or of ctx, or an *Error
// that wraps ErrFormat, ErrCorrupt, errors.ErrUnsupported, ErrTooLarge or ErrChecksum. If another process edits the
// frame at the same time, Open finds the state of one commit; ErrChanged if commits do not end.
func Open(ctx context.Context, name string, o *OpenOptions) (*Frame, error) {
	return openPath(ctx, name, o, modeRead)
}

// Edit opens the frame in a file, or in the directory of a sparse frame, for reading and editing. ctx bounds this and
// waiting for a lock file; the frame does not retain it. Errors are those of Open.
//
// Without Locking, only one Frame at a time may edit: two that edit at the same time can damage the frame. Closing a
// Frame without an open batch does not change what another has committed. Frames that other processes opened for
// reading before an edit may read bytes that the edit has overwritten, as if they were damaged; reads return ErrChanged
// if they notice that. Edit truncates bytes after the frame in its file, because an interrupted edit leaves such bytes.
// To edit a frame inside another file, use EditStorage.
func Edit(ctx context.Context, name string, o *OpenOptions) (*Frame, error) {
	return openPath(ctx, name, o, modeEdit)
}

// EditStorage opens the frame in st, such as a [Memory], for reading and editing. It truncates bytes after the frame.
// Closing the frame closes st; after an error, st is not closed. ctx bounds only the opening. Errors are those of Open
// and of st.
func EditStorage(ctx context.Context, st Storage, o *OpenOptions) (*Frame, error) {
	ctx = task.Context(ctx)
	opts, sys, err := o.settings(modeStorage)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := newFrame("", opts, sys)
	if err != nil {
		return nil, err
	}
	if err := f.openStorage(ctx, st, true); err != nil {
		return nil, err
	}
	f.atClose = f.reclaim
	return f, nil
}

func openPath(ctx context.Context, name string, o *OpenOptions, mode openMode) (*Frame, error) {
	ctx = task.Context(ctx)
	opts, sys, err := o.settings(mode)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		f, err := newFrame(strings.TrimPrefix(name, "file://"), opts, sys)
		if err != nil {
			return nil, err
		}
		fi, err := f.sys.Stat(f.path)
		if err != nil {
			return nil, errs.SeeURL(name, err)
		}
		if err = f.openFileOrDir(ctx, fi.IsDir(), mode == modeEdit); err == nil {
			return f, nil
		}
		now, e := f.sys.Stat(f.path)
		if e == nil && (f.sys.Same(fi, now) || try == maxTries) || ctx.Err() != nil {
			return nil, err
		}
		if e != nil { // another process has removed it, or is replacing a directory
			return nil, e
		}
	}
}

// openFileOrDir opens the frame in a file, or in a directory. With Locking, no process edits it during that time.
func (f *Frame) openFileOrDir(ctx context.Context, isDir, write bool) (err error) {
	var r storage.Root
	var l *storage.Lock // nil without Locking
	defer func() {
		if err == nil {
			return
		}
		l.Close()
		if r != nil {
			r.Close()
		}
	}()
	if isDir {
		if r, err = f.sys.OpenRoot(f.path); err != nil {
			return err
		}
	}
	if f.opts.Locking {
		if l, err = storage.OpenLock(f.sys, f.path, r, lockUser{f}, write); err != nil {
			return err
		}
	}
	if err := l.Begin(ctx, write); err != nil {
		return err
	}
	defer l.End()
	if write {
		if err := storage.SettleName(f.sys, f.path, f.opts.NoSync); err != nil {
			return err
		}
	}
	if isDir {
		err = f.openSparse(ctx, r, write)
	} else {
		err = f.openFile(ctx, write)
	}
	if err != nil {
		return err
	}
	if f.lock = l; write {
		f.atClose = f.reclaim
	}
	return nil
}

// openFile opens the frame in a file.
func (f *Frame) openFile(ctx context.Context, write bool) error {
	st, err := storage.OpenFile(f.sys, f.path, write)
	if err != nil {
		return err
	}
	if f.opts.Mmap {
		st = storage.Map(st)
	}
	if err := f.openStorage(ctx, st, write); err != nil {
		st.Close()
		return err
	}
	return nil
}

// openStorage opens a contiguous frame.
func (f *Frame) openStorage(ctx context.Context, st Storage, write bool) error {
	size, err := st.Size()
	if err != nil {
		return err
	}
	c := &contiguous{
		Segment: storage.Segment{Bytes: st, NoSync: f.opts.NoSync, Aligned: f.path != "" || storage.IsFile(st)},
		sys:     f.sys, name: f.path, cut: write,
	}
	if write {
		if err := c.Settle(); err != nil {
			return err
		}
		if size, err = c.ReplayJournal(size); err != nil {
			return f.wrap("header", -1, err)
		}
	}
	var s *snapshot
	if f.path == "" || f.opts.Locking {
		s, err = f.load(ctx, st, size)
	} else {
		s, err = f.loadEdited(ctx, st, size)
	}
	if err != nil {
		return err
	}
	if s.sparse {
		return f.wrap("header", offType, fmt.Errorf("the index of a sparse frame; open its directory: %w", ErrFormat))
	}
	f.store, f.writable = c, write
	f.start(s)
	return nil
}

// openSparse opens the frame in the directory r, which it then owns.
func (f *Frame) openSparse(ctx context.Context, r storage.Root, write bool) error {
	if write { // as Segment.Settle
		if err := storage.SyncRoot(r, f.opts.NoSync); err != nil {
			return err
		}
	}
	s, err := f.loadIndexFile(ctx, r, indexFile)
	if errors.Is(err, os.ErrNotExist) {
		err = f.errNoIndex(ctx, r)
		if _, e := r.Lstat(indexFile); e == nil { // Regions.Finish has written it in between
			s, err = f.loadIndexFile(ctx, r, indexFile)
		}
	}
	if err != nil {
		return err
	}
	f.startSparse(s, indexFile)
	f.writable = write
	return nil
}

// loadIndexFile reads an index file in the directory r. It returns fs.ErrNotExist if there is none.
func (f *Frame) loadIndexFile(ctx context.Context, r storage.Root, name string) (*snapshot, error) {
	file, err := r.Open(name, os.O_RDONLY, 0)
	switch {
	case errors.Is(err, storage.ErrNotFile):
		return nil, f.wrap("index", -1, err)
	case err != nil:
		return nil, err
	}
	defer file.Close()
	fi, err := file.Stat()
	if err != nil {
		return nil, err
	}
	s, err := f.loadIndex(ctx, file, fi.Size())
	if err != nil {
		return nil, err
	}
	s.root = r
	return s, nil
}

// loadIndex is load for the index of a sparse frame.
func (f *Frame) loadIndex(ctx context.Context, src io.ReaderAt, size int64) (*snapshot, error) {
	s, err := f.load(ctx, src, size)
	if err == nil && !s.sparse {
		return nil, f.wrap("header", offType, corrupt("a contiguous frame as index of a sparse one"))
	}
	return s, err
}

// startSparse makes s, which was read from an index file, the first state of f.
func (f *Frame) startSparse(s *snapshot, index string) {
	f.store = &sparse{sys: f.sys, root: s.root, dir: f.path, index: index, noSync: f.opts.NoSync}
	f.start(s)
}

// load reads header, index and trailer of the frame in src, which has size bytes. A header that a crash has torn counts
// as written; see storage.Journal.
func (f *Frame) load(ctx context.Context, src io.ReaderAt, size int64) (*snapshot, error) {
	if size < 0 {
		return nil, f.wrap("header", -1, fmt.Errorf("a size of %d bytes: %w", size, ErrParam))
	}
	from := storage.Bind(ctx, src)
	s, err := f.loadParts(ctx, from, size)
	if err == nil && s.frameLen == size {
		s.setSource(src)
		return s, nil
	}
	if canceled := ctx.Err(); canceled != nil {
		return nil, canceled
	}
	j, journalErr := storage.FindJournal(from, size)
	if journalErr != nil && err == nil {
		return nil, f.wrap("header", -1, journalErr)
	}
	if j != nil && j.Torn {
		if s, err = f.loadParts(ctx, j.WithHeader(from), size); err == nil {
			s.headPrint = fingerprintOf(j.Stored)
			if t := s.tail(); t.End <= int64(len(j.Stored)) { // see contiguous.commit
				s.tailPrint = fingerprintOf(j.Stored[t.Off:t.End])
			}
		}
	}
	if err != nil {
		return nil, err
	}
	s.setSource(src)
	return s, nil
}

// loadEdited is load for a file that another process may edit at the same time. It loads again until it has read one
// state, or the file is damaged and does not change.
func (f *Frame) loadEdited(ctx context.Context, st Storage, size int64) (*snapshot, error) {
	var last []byte
	for try := 1; ; try++ {
		s, err := f.load(ctx, st, size)
		switch {
		case err == nil && unchanged(ctx, st, s):
			return s, nil
		case err != nil && !isFault(err):
			return nil, err
		}
		was := size
		var e error
		if size, e = st.Size(); e != nil {
			return nil, e
		}
		head, _ := storage.ReadAll(st, 0, min(size, 4096))
		if err != nil && try > 1 && size == was && bytes.Equal(head, last) {
			return nil, err
		}
		if try == maxTries {
			return nil, f.wrap("header", -1, fmt.Errorf("it changes while it is read: %w", ErrChanged))
		}
		if e := pause(ctx); e != nil {
			return nil, e
		}
		last = head
	}
}

// isFault reports whether an error is one of the bytes of a frame.
func isFault(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrFormat) || errors.Is(err, ErrTooLarge) || errors.Is(err, errors.ErrUnsupported)
}

// loadParts is load without a look at the journal.
func (f *Frame) loadParts(ctx context.Context, src io.ReaderAt, size int64) (*snapshot, error) {
	// Nearly always, the header with its metalayers. Bytes after it may be unreadable.
	const first = 4096
	head, err := storage.ReadLeast(src, 0, min(first, size), min(fixedLen, size))
	if err != nil {
		return nil, f.wrap("header", 0, err)
	}
	s := &snapshot{inherited: inherited{f: f}}
	if s.header, err = parseHeader(head, size); err != nil {
		return nil, f.wrap("header", 0, err)
	}
	// The header of an empty frame may claim to be longer than it is.
	if err := f.checkMeta(int64(s.headerLen)); s.nbytes > 0 && err != nil {
		return nil, f.wrap("metalayers", fixedLen, err)
	}
	if s.headerLen > len(head) {
		if head, err = f.readStored(src, 0, int64(s.headerLen)); err != nil {
			return nil, f.wrap("header", 0, err)
		}
	}
	if s.meta, err = meta.ParseHeader(head[:s.headerLen:s.headerLen], fixedLen); err != nil {
		return nil, f.wrap("metalayers", fixedLen, err)
	}
	s.headPrint = fingerprintOf(head[:s.headerLen])
	if err := f.loadTail(ctx, s, src); err != nil {
		return nil, err
	}
	s.origin = f.findOrigin(s)
	if f.opts.Verify {
		if err := f.checkOpen(ctx, s, func(err error) error { return err }); err != nil {
			return nil, err
		}
	}
	if err := f.checkRequired(ctx, s); err != nil {
		return nil, err
	}
	for _, e := range s.index.list {
		switch {
		case !s.sparse:
		case e > maxChunkFile:
			s.badEntry = true
		case int64(e) >= s.fileID:
			s.fileID = int64(e) + 1
		}
	}
	return s, nil
}

// loadTail reads the index and the trailer, which are adjacent, in one read. It also sets s.area.
func (f *Frame) loadTail(ctx context.Context, s *snapshot, src io.ReaderAt) error {
	pos := s.indexPos()
	if s.nbytes == 0 {
		pos = int64(s.headerLen)
	}
	if pos > s.frameLen-minTrailerLen {
		return f.wrap("index", pos, corrupt("frame of %d bytes", s.frameLen))
	}
	if s.frameLen-pos > chunk.MaxBytes {
		return f.wrap("index", pos, fmt.Errorf("index and trailer of %d bytes: %w", s.frameLen-pos, ErrTooLarge))
	}
	b, err := f.readStored(src, pos, s.frameLen-pos)
	if err != nil {
		return f.wrap("index", pos, err)
	}
	n, err := storedTrailerLen(b, int64(len(b)))
	if err != nil {
		return f.wrap("trailer", s.frameLen, err)
	}
	s.area, s.tailPrint, s.trailerLen = pos, fingerprintOf(b), int(n)
	b, trailer := b[:int64(len(b))-n], b[int64(len(b))-n:]
	if err := f.checkMeta(n); err != nil {
		return f.wrap("trailer", s.frameLen-n, err)
	}
	if s.vlmeta, err = meta.ParseTrailer(trailer); err != nil {
		return f.wrap("trailer", s.frameLen-n, err)
	}
	if s.nbytes == 0 {
		f.loadChecksums(ctx, s, nil)
		f.findHidden(s, b)
		return ctx.Err()
	}
	h, err := coder.ParseHeader(b, int64(len(b)))
	if err == nil {
		s.index, err = parseIndex(ctx, b, &h, s.countChunks(), f.opts.MaxChunks, f.plain)
	}
	if err != nil {
		return f.wrap("index", pos, err)
	}
	f.loadChecksums(ctx, s, b[:h.CBytes])
	s.tabled = s.index
	return ctx.Err()
}

// findHidden looks for an index in a frame that is empty according to its header. b has the bytes between header
// and trailer.
func (f *Frame) findHidden(s *snapshot, b []byte) {
	at := s.indexPos() - int64(s.headerLen)
	if at < 0 || at >= int64(len(b)) {
		return
	}
	h, err := coder.ParseHeader(b[at:], int64(len(b))-at)
	if err == nil && isIndex(&h) && h.NBytes > 0 && int64(h.CBytes) == int64(len(b))-at {
		s.hidden = f.errHidden()
	}
}

// errHidden returns the error for a frame that is empty according to its header, but has an index.
func (f *Frame) errHidden() error {
	return f.wrap("header", offNBytes, corrupt("no bytes, but there is an index"))
}

// checkMeta returns ErrTooLarge unless metalayers may take n bytes.
func (f *Frame) checkMeta(n int64) error {
	if most := f.opts.MaxMeta; most > 0 && n > most {
		return fmt.Errorf("%d bytes, option MaxMeta allows %d: %w", n, most, ErrTooLarge)
	}
	return nil
}

// written returns the numbers of the chunks of a layout that have a file, in order. While writers rename files over
// others, some file systems, such as tmpfs, list a name twice or not at all.
func written(ctx context.Context, files regionFiles, s *snapshot) ([]int64, error) {
	var list []int64
	for name, err := range files.List(ctx) {
		if err != nil {
			return nil, err
		}
		if n, ok := chunkNumber(name); ok && n < int64(s.index.n) {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// errNoIndex returns the error for a directory without an index file.
func (f *Frame) errNoIndex(ctx context.Context, root storage.Root) error {
	s, err := f.loadIndexFile(ctx, root, layoutFile)
	if errors.Is(err, os.ErrNotExist) {
		return f.wrap("directory", -1, fmt.Errorf("no %s in it: %w", indexFile, ErrFormat))
	}
	if err != nil {
		return err
	}
	have, err := written(ctx, storage.Files{Root: root}, s)
	if err != nil {
		return err
	}
	return f.errUnfinished(len(have), s)
}

// errUnfinished returns the error for a layout of which n chunks are written.
func (f *Frame) errUnfinished(n int, s *snapshot) error {
	if n == s.index.n {
		return f.wrap("directory", -1, fmt.Errorf("all of %d chunks are written, but Finish was not called: %w", n, ErrUnfinished))
	}
	return f.wrap("directory", -1, fmt.Errorf("%d of %d chunks are written: %w", n, s.index.n, ErrUnfinished))
}
