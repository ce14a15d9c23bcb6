package frame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/goblosc/blosc2/meta"
)

// Refresh makes what is stored now the state that is read from then on, and tells whether that is another one than
// before: what another process has committed, or, with C-Blosc2, changed in place. It costs little when nothing has
// changed. Readers of the state before go on with it; what another process has written over is then wrong or an
// error, unless both use Options.Locking. With that every read begins with what Refresh does.
//
// Without locking, a Refresh in the middle of another process's edit in place may fail, with ErrCorrupt for instance;
// the state stays the one before, and a later Refresh will do. It waits for an open batch of this handle. Errors are
// those of opening, and ErrChanged when there is another frame in the place of this one.
func (f *Frame) Refresh() (bool, error) {
	defer f.cache.clear() // what was changed in place may not show in the index
	old := f.snap.Load()
	if old == nil {
		return false, f.errClosed()
	}
	if f.lock != nil {
		if err := f.share(context.Background()); err != nil {
			return false, err
		}
		f.unshare()
		now := f.snap.Load()
		return now != nil && now != old, nil
	}
	if err := f.mu.lock(context.Background()); err != nil {
		return false, err
	}
	defer f.endBatch()
	if !f.beginBatch() {
		return false, f.errClosed()
	}
	old = f.snap.Load()
	const tries = 20
	for try := 1; ; try++ {
		s, err := f.store.refresh(f, old, false)
		if err == nil {
			f.snap.CompareAndSwap(old, s) // it stays nil when the frame was closed
			return s != old, nil
		}
		if try == tries || !errors.Is(err, ErrCorrupt) {
			return false, f.orClosed(err)
		}
		time.Sleep(time.Millisecond) // an edit is under way, perhaps
	}
}

// fits tells whether a state that another process has made can follow the state now.
func (f *Frame) fits(now, s *snapshot) error {
	if s.sparse != now.sparse || s.typeSize != now.typeSize || !slices.Equal(blockShape(s), blockShape(now)) {
		return f.wrap("header", -1, fmt.Errorf("another frame has taken its place: %w", ErrChanged))
	}
	return nil
}

// unchanged tells whether header, index and trailer that are stored are those of s.
func (f *Frame) unchanged(src io.ReaderAt, base, size int64, s *snapshot) bool {
	const most = 1 << 20 // longer headers are read again
	if s.headerLen > most {
		return false
	}
	head, err := readAll(src, base, min(int64(s.headerLen), size))
	if err != nil {
		return false
	}
	h, err := parseHeader(head, size)
	h.hasVL, h.version = s.hasVL, s.version // they follow from the rest, and are set when it is written
	if err != nil || h != s.header {
		return false
	}
	layers, err := meta.ParseHeader(head, fixedLen)
	if err != nil || !slices.EqualFunc(layers, s.meta, sameLayer) {
		return false
	}
	var sum maphash.Hash
	sum.SetSeed(f.seed)
	t := tail(s)
	buf := make([]byte, min(t.end-t.off, 64<<10))
	_, err = io.CopyBuffer(&sum, io.NewSectionReader(src, base+t.off, t.end-t.off), buf)
	return err == nil && sum.Sum64() == s.sum
}

func sameLayer(a, b meta.Layer) bool { return a.Name == b.Name && bytes.Equal(a.Content, b.Content) }

// settled is unchanged for a state that was just read, as an error: it was perhaps being written.
func (f *Frame) settled(src io.ReaderAt, base, size int64, s *snapshot) error {
	if f.lock == nil && !f.unchanged(src, base, size, s) {
		return f.wrap("header", -1, corrupt("it changes while it is read"))
	}
	return nil
}

func (c *contiguous) refresh(f *Frame, now *snapshot, edit bool) (*snapshot, error) {
	st, err := c.replaced(f.writable)
	if err != nil {
		return nil, err
	}
	s, err := c.reread(f, st, now, edit)
	if err != nil || s == now {
		if st != c.st {
			st.Close()
		}
		return s, err
	}
	for i := range c.retired {
		c.retired[i].exts = nil // who knows what is there now
	}
	if st != c.st {
		c.retired = append(c.retired, retired{s: now, st: c.st})
		c.st = st
	}
	c.free, c.head, c.surveyed, c.shared, c.doubt, c.cut = nil, 0, false, false, false, f.writable
	f.trusted.Store(false)
	return s, nil
}

// reread returns the state that st has, which is now when nothing has changed.
func (c *contiguous) reread(f *Frame, st Storage, now *snapshot, edit bool) (*snapshot, error) {
	size, err := st.Size()
	if err != nil {
		return nil, err
	}
	if c.base > size {
		return nil, f.wrap("header", -1, corrupt("offset %d in %d bytes", c.base, size))
	}
	if st == c.st && f.unchanged(st, c.base, size-c.base, now) {
		return now, nil
	}
	if edit {
		d := contiguous{sys: c.sys, st: st, base: c.base, noSync: c.noSync}
		if size, err = d.mend(size); err != nil {
			return nil, f.wrap("header", -1, err)
		}
	}
	s, err := f.load(st, c.base, size-c.base)
	if err != nil {
		return nil, err
	}
	if err := f.settled(st, c.base, size-c.base, s); err != nil {
		return nil, err
	}
	return s, f.fits(now, s)
}

// replaced returns the storage that the frame is in now: c.st, or the file that has its name since.
func (c *contiguous) replaced(write bool) (Storage, error) {
	held, ok := c.st.(interface{ Stat() (fs.FileInfo, error) })
	if c.name == "" || !ok {
		return c.st, nil
	}
	was, err := held.Stat()
	if err != nil {
		return nil, err
	}
	is, err := c.sys.stat(c.name)
	if err != nil || c.sys.same(was, is) {
		return c.st, err
	}
	st, err := openFile(c.sys, c.name, write)
	if _, ok := c.st.(*mapped); ok && err == nil {
		st = mapStorage(st)
	}
	return st, err
}

func (d *sparse) refresh(f *Frame, now *snapshot, _ bool) (*snapshot, error) {
	r, err := d.replaced()
	if err != nil {
		return nil, err
	}
	s, err := d.reread(f, r, now)
	if err != nil || s == now {
		if r != d.root {
			r.Close()
		}
		return s, err
	}
	d.surveyed, d.shared, d.takenBy, d.taken = false, false, nil, nil
	for i := range d.retired {
		d.retired[i].exts = nil // who knows what is there now
	}
	if s.root = r; r != d.root {
		d.retired = append(d.retired, retired{s: now, root: d.root})
		d.root = r
	}
	f.trusted.Store(false)
	return s, nil
}

// replaced returns the directory that the frame is in now: d.root, or the one that has its name since.
func (d *sparse) replaced() (root, error) {
	was, err := d.root.stat()
	if err != nil {
		return nil, err
	}
	is, err := d.sys.stat(d.dir)
	if err != nil || d.sys.same(was, is) {
		return d.root, err
	}
	return d.sys.openRoot(d.dir)
}

// reread returns the state that the directory r has, which is now when nothing has changed.
func (d *sparse) reread(f *Frame, r root, now *snapshot) (*snapshot, error) {
	file, err := r.open(indexFile, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	fi, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if r == d.root && f.unchanged(file, 0, fi.Size(), now) {
		return now, nil
	}
	s, err := f.load(file, 0, fi.Size())
	if err == nil {
		err = f.settled(file, 0, fi.Size(), s)
	}
	if err == nil {
		err = f.fits(now, s)
	}
	return s, err
}
