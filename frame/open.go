package frame

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/meta"
)

// Open opens the frame in a file, or in the directory of a sparse frame, for reading: it reads the header, the index
// and the trailer, no chunk. Errors are ErrFormat, ErrCorrupt, errors.ErrUnsupported or ErrTooLarge in an *Error, or
// those of the system.
func Open(name string, o *Options) (*Frame, error) { return openPath(name, o, false) }

// Edit opens the frame in a file, or in the directory of a sparse frame, for reading and editing. Only one Frame at a
// time may edit, and one that others opened before for reading may then read what is no longer there. A frame at an
// Offset can be edited when nothing follows it. What follows a frame at the start of a file is taken for the remains
// of an edit that was interrupted, and is truncated.
func Edit(name string, o *Options) (*Frame, error) { return openPath(name, o, true) }

func openPath(name string, o *Options, write bool) (*Frame, error) {
	if err := o.checkLocking(); err != nil {
		return nil, err
	}
	name = strings.TrimPrefix(name, "file://")
	fi, err := o.system().Stat(name)
	if err != nil {
		return nil, err
	}
	var r storage.Root // of a sparse frame
	if fi.IsDir() {
		if r, err = o.system().OpenRoot(name); err != nil {
			return nil, err
		}
	}
	var l *storage.Lock
	if o != nil && o.Locking {
		l, err = storage.OpenLock(o.system(), name, r, write)
	}
	var f *Frame
	if err == nil {
		f, err = openLocked(name, r, o, write, l)
	}
	if err != nil {
		l.Close()
		if r != nil {
			r.Close()
		}
		return nil, err
	}
	f.lock = l
	return f, nil
}

// openLocked opens a frame while no process edits it, if l is not nil.
func openLocked(name string, r storage.Root, o *Options, write bool, l *storage.Lock) (*Frame, error) {
	if err := l.Begin(write); err != nil {
		return nil, err
	}
	defer l.End()
	if r != nil {
		return openSparse(name, r, o, write)
	}
	st, err := storage.OpenFile(o.system(), name, write)
	if err != nil {
		return nil, err
	}
	if o != nil && o.Mmap {
		st = storage.Map(st)
	}
	f, err := openStorage(name, st, o, write)
	if err != nil {
		st.Close()
		return nil, err
	}
	return f, nil
}

// OpenReaderAt opens the frame that starts at o.Offset in the first size bytes of r, for reading. Close does not close
// r, which must be safe for concurrent use if the frame is used so.
func OpenReaderAt(r io.ReaderAt, size int64, o *Options) (*Frame, error) {
	return openStorage("", storage.FromReader(r, size), o, false)
}

// EditStorage opens the frame in st, a [Memory] for instance, for reading and editing. Closing the frame closes st.
func EditStorage(st Storage, o *Options) (*Frame, error) { return openStorage("", st, o, true) }

// OpenBytes opens the frame in b for reading. b must not change while the frame is open.
func OpenBytes(b []byte, o *Options) (*Frame, error) {
	return openStorage("", NewMemory(b), o, false)
}

// openStorage opens a contiguous frame.
func openStorage(path string, st Storage, o *Options, write bool) (*Frame, error) {
	f := newFrame(path, o)
	size, err := st.Size()
	if err != nil {
		return nil, err
	}
	base := f.opts.Offset
	if base < 0 || base > size {
		return nil, f.wrap("header", -1, fmt.Errorf("offset %d in %d bytes: %w", base, size, ErrFormat))
	}
	c := &contiguous{
		Segment: storage.Segment{Bytes: st, Base: base, NoSync: f.opts.NoSync},
		sys:     f.opts.sys, name: path, cut: write,
	}
	if write {
		if size, err = c.ReplayJournal(size); err != nil {
			return nil, f.wrap("header", -1, err)
		}
	}
	s, err := f.load(st, base, size-base)
	if err != nil {
		return nil, err
	}
	if s.sparse {
		return nil, f.wrap("header", offType, fmt.Errorf("the index of a sparse frame; open its directory: %w", ErrFormat))
	}
	if write && base > 0 && size > base+s.frameLen {
		return nil, f.wrap("header", -1, fmt.Errorf("cannot edit a frame followed by other data: %w", ErrReadOnly))
	}
	f.store, f.writable = c, write
	f.start(s)
	return f, nil
}

// openSparse opens the frame in the directory r, which it then owns.
func openSparse(dir string, r storage.Root, o *Options, write bool) (*Frame, error) {
	f := newFrame(dir, o)
	osFile, err := r.Open(indexFile, os.O_RDONLY, 0)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, f.wrap("directory", -1, fmt.Errorf("no %s in it: %w", indexFile, ErrFormat))
	case errors.Is(err, storage.ErrNotFile):
		return nil, f.wrap("index", -1, err)
	case err != nil:
		return nil, err
	}
	defer osFile.Close()
	fi, err := osFile.Stat()
	if err != nil {
		return nil, err
	}
	s, err := f.load(osFile, 0, fi.Size())
	if err != nil {
		return nil, err
	}
	if !s.sparse {
		return nil, f.wrap("header", offType, corrupt("a contiguous frame as index of a sparse one"))
	}
	s.root = r
	f.store, f.writable = &sparse{sys: f.opts.sys, root: r, dir: dir, noSync: f.opts.NoSync}, write
	f.start(s)
	return f, nil
}

// load reads header, index and trailer of the frame at base, of which at most size bytes are there. A header that a
// crash has torn counts as written; see storage.Journal.
func (f *Frame) load(src io.ReaderAt, base, size int64) (*snapshot, error) {
	s, err := f.loadParts(src, base, size)
	if err == nil && s.frameLen == size {
		return s, nil
	}
	j, journalErr := storage.FindJournal(src, base, size)
	if journalErr != nil && err == nil {
		return nil, f.wrap("header", -1, journalErr)
	}
	if j == nil || !j.Torn {
		return s, err
	}
	if s, err = f.loadParts(j.WithHeader(src, base), base, size); err == nil {
		s.src = src
	}
	return s, err
}

// loadParts is load with the header that is stored.
func (f *Frame) loadParts(src io.ReaderAt, base, size int64) (*snapshot, error) {
	const first = 4096 // the header with its metalayers, nearly always
	head, err := storage.ReadAll(src, base, min(first, size))
	if err != nil {
		return nil, f.wrap("header", 0, err)
	}
	s := &snapshot{src: src}
	if s.header, err = parseHeader(head, size); err != nil {
		return nil, f.wrap("header", 0, err)
	}
	// The header of an empty frame may claim to be longer than it is.
	if err := f.checkMeta(int64(s.headerLen)); s.nbytes > 0 && err != nil {
		return nil, f.wrap("metalayers", fixedLen, err)
	}
	if s.headerLen > len(head) {
		if head, err = f.readStored(src, base, int64(s.headerLen)); err != nil {
			return nil, f.wrap("header", 0, err)
		}
	}
	if s.meta, err = meta.ParseHeader(head[:s.headerLen:s.headerLen], fixedLen); err != nil {
		return nil, f.wrap("metalayers", fixedLen, err)
	}
	if err := f.loadTail(s, src, base); err != nil {
		return nil, err
	}
	s.origin = f.findOrigin(s)
	s.area = s.indexPos()
	if s.nbytes == 0 {
		s.area = int64(s.headerLen)
	}
	if f.opts.Verify {
		if err := f.checkOpen(s, func(err error) error { return err }); err != nil {
			return nil, err
		}
	}
	if err := f.checkRequired(s); err != nil {
		return nil, err
	}
	for _, e := range s.index.list {
		if s.sparse && int64(e) >= s.fileID {
			s.fileID = int64(e) + 1
		}
	}
	return s, nil
}

// loadTail reads the index and the trailer, which are adjacent, in one read.
func (f *Frame) loadTail(s *snapshot, src io.ReaderAt, base int64) error {
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
	b, err := f.readStored(src, base+pos, s.frameLen-pos)
	if err != nil {
		return f.wrap("index", pos, err)
	}
	trailer, err := findTrailer(b)
	if err != nil {
		return f.wrap("trailer", s.frameLen, err)
	}
	s.print, s.trailerLen = fingerprintOf(b), len(trailer)
	if err := f.checkMeta(int64(len(trailer))); err != nil {
		return f.wrap("trailer", s.frameLen-int64(len(trailer)), err)
	}
	if s.vlmeta, err = meta.ParseTrailer(trailer); err != nil {
		return f.wrap("trailer", s.frameLen-int64(len(trailer)), err)
	}
	if s.nbytes == 0 {
		f.loadChecksums(s, nil)
		f.findHidden(s, b[:len(b)-len(trailer)])
		return nil
	}
	if s.index, err = parseIndex(b[:len(b)-len(trailer)], s.countChunks(), f.opts.MaxChunks, f.plain); err != nil {
		return f.wrap("index", pos, err)
	}
	h, err := chunk.ParseHeader(b, int64(len(b)))
	if err != nil {
		return f.wrap("index", pos, err)
	}
	f.loadChecksums(s, b[:h.CBytes])
	return nil
}

// findHidden looks for an index in a frame that is empty according to its header. b has the bytes between header
// and trailer.
func (f *Frame) findHidden(s *snapshot, b []byte) {
	at := s.indexPos() - int64(s.headerLen)
	if at < 0 || at >= int64(len(b)) {
		return
	}
	h, err := chunk.ParseHeader(b[at:], int64(len(b))-at)
	if err == nil && isIndex(&h) && h.NBytes > 0 && int64(h.CBytes) == int64(len(b))-at {
		s.hidden = f.wrap("header", offNBytes, corrupt("no bytes, but there is an index"))
	}
}

// checkMeta reports whether metalayers may take n bytes.
func (f *Frame) checkMeta(n int64) error {
	if most := f.opts.MaxMeta; most > 0 && n > most {
		return fmt.Errorf("%d bytes, Options.MaxMeta allows %d: %w", n, most, ErrTooLarge)
	}
	return nil
}
