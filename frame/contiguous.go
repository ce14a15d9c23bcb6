package frame

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"os"
	"runtime"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/sched"
	"github.com/goblosc/blosc2/meta"
)

// contiguous is a store in one Storage.
//
// A commit never writes over bytes that the state before it names, nor over such that a reader of an older state
// still uses: new chunks, the index and the trailer go to free space or behind the end; then, after a sync, one
// write of the header makes them the frame. What the old state alone used becomes free after the commit. Bytes that
// no index names are part of the format: every reader knows them from deleted chunks.
type contiguous struct {
	sys      system
	st       Storage
	base     int64    // of the frame in st
	free     []extent // inside the frame, unused
	retired  []retired
	head     int64  // where the header ended that was written last
	surveyed bool   // space that was dead when the frame was opened is known
	shared   bool   // chunks may share bytes: then no space of chunks is used again
	doubt    bool   // not all chunk headers were read, so that chunks may overlap; see mayReuse
	cut      bool   // the storage may be longer than the frame, by what older states used
	temp     string // the file has this name until the first commit
	name     string // of the file; empty for other storage
	noSync   bool
}

func (c *contiguous) open(s *snapshot, e, next entry) (source, error) {
	// Chunks of a batch that is not committed stand behind the chunks area of the header.
	area := max(s.cbytes, s.area-int64(s.headerLen))
	if int64(e) > area-coder.MinHeaderSize {
		return source{}, corrupt("position %d in a chunks area of %d bytes", e, area)
	}
	src := source{off: c.base + int64(s.headerLen) + int64(e), size: area - int64(e)}
	if next > e {
		src.guess = min(int64(next-e), src.size)
	} else { // twice the average, as the rest of the area may hold all other chunks
		src.guess = min(src.size, 2*area/int64(max(1, s.index.n)))
	}
	if s.chunkSize > 0 {
		src.guess = min(src.guess, int64(s.chunkSize)+chunk.MaxOverhead)
	}
	src.guess = min(src.guess, 64<<20)
	if m, ok := s.src.(*Memory); ok {
		if src.mem = m.view(src.off, src.size); src.mem == nil {
			return source{}, corrupt("the frame ends inside the chunk")
		}
		return src, nil
	}
	if m, ok := s.src.(*mapped); ok {
		if src.mem = m.view(src.off, src.size); src.mem != nil {
			return src, nil
		}
	}
	src.at = s.src
	return src, nil
}

func (c *contiguous) put(b *Batch, data []byte) (entry, error) {
	c.survey(b)
	x := c.alloc(b, int64(len(data)))
	b.put = append(b.put, x)
	if m, ok := c.st.(*Memory); ok && b.likely.size > 0 {
		end := c.base + x.end
		m.reserve(end, end+b.likely.left()+4096) // and a trailer
	}
	if _, err := c.st.WriteAt(data, c.base+x.off); err != nil {
		return 0, err
	}
	b.next.area = max(b.next.area, x.end)
	return entry(x.off - int64(b.next.headerLen)), nil
}

func (c *contiguous) drop(b *Batch, e entry, size int64) {
	c.survey(b)
	if c.shared {
		return
	}
	off := int64(e) + int64(b.next.headerLen)
	x := extent{off, off + size}
	if i := slices.Index(b.put, x); i >= 0 { // written by this very batch
		b.put = slices.Delete(b.put, i, i+1)
		c.addFree(x)
		return
	}
	b.dropped = append(b.dropped, x)
}

func (c *contiguous) share() { c.shared = true }

func (c *contiguous) commit(b *Batch) error {
	c.survey(b)
	s := b.next
	out, err := s.index.append(nil, b.f.plain)
	if err != nil {
		return err
	}
	if err := s.seal(out, b.f.plain); err != nil {
		return err
	}
	if out, err = meta.AppendTrailer(out, s.vlmeta); err != nil {
		return err
	}
	if b.cur != nil && int64(s.headerLen) > tail(b.cur).off {
		// The longer header of a frame that is empty goes where its trailer is: move that first.
		if err := c.moveTail(b, int64(s.headerLen)); err != nil {
			return err
		}
	}
	if err := c.install(b.f, b.cur, s, out, c.tailPos(b, int64(len(out)))); err != nil {
		return err
	}
	if c.temp != "" {
		if err := c.publish(); err != nil {
			b.f.broken = err
			return err
		}
		s.src = c.st
	}
	c.retire(b.cur, b.dropped)
	return nil
}

// publish gives the file its name.
func (c *contiguous) publish() error {
	if runtime.GOOS != "windows" {
		err := replace(c.sys, c.temp, c.name, c.noSync)
		if err == nil {
			c.temp = ""
		}
		return err
	}
	// There a file that is open cannot be renamed.
	was, err := c.st.(file).Stat()
	if err = errors.Join(err, c.st.Close()); err != nil {
		return err
	}
	if err := replace(c.sys, c.temp, c.name, c.noSync); err != nil {
		return err
	}
	c.temp = ""
	f, err := c.sys.open(c.name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	c.st = file{f}
	is, err := f.Stat()
	if err == nil && !c.sys.same(was, is) {
		err = fmt.Errorf("another file has taken the place of the new one: %w", ErrChanged)
	}
	return err
}

// install writes the tail of s at pos, and then the header that makes s the frame in place of old, which may be nil.
// When that fails, what is stored is old, unless f.broken says that it may not be.
func (c *contiguous) install(f *Frame, old, s *snapshot, out []byte, pos int64) error {
	if s.index.n == 0 {
		s.headerLen, s.area, s.cbytes = int(pos), pos, 0
	} else {
		s.cbytes = pos - int64(s.headerLen)
	}
	s.frameLen = pos + int64(len(out))
	head, err := appendHeader(s)
	if err != nil {
		return err
	}
	x := extent{pos, s.frameLen}
	over := old != nil && s.index.n == 0 && x.meets(extent{0, old.frameLen}) // see tailPos
	if err := f.unsure(over, func() error { return c.write(out, pos) }); err != nil {
		if over {
			f.broken = err
		}
		return err
	}
	c.carve(x)
	if err := f.unsure(old != nil, func() error { return c.writeHeader(f, head, old != nil) }); err != nil {
		if old != nil {
			f.broken = err
			// Perhaps half of it was written: put the old one back. Not when it is all there and only may not last: half
			// of the old one would be worse.
			if head, e := appendHeader(old); e == nil && !errors.As(err, new(syncError)) {
				err = errors.Join(err, c.write(head, 0))
			}
		}
		return err
	}
	c.head = int64(len(head))
	c.carve(extent{0, c.head})
	s.sum = maphash.Bytes(f.seed, out)
	return nil
}

// unsure calls write. If write panics and writes over what the old state uses, nobody knows what is stored.
func (f *Frame) unsure(over bool, write func() error) error {
	returned := false
	defer func() {
		if over && !returned {
			f.broken = sched.ErrPanic
		}
	}()
	err := write()
	returned = true
	return err
}

// write writes b at off of the frame and waits until it will last.
func (c *contiguous) write(b []byte, off int64) error {
	if _, err := c.st.WriteAt(b, c.base+off); err != nil {
		return err
	}
	if c.noSync {
		return nil
	}
	if err := c.st.Sync(); err != nil {
		return syncError{err}
	}
	return nil
}

// syncError is an error after all was written.
type syncError struct{ error }

func (e syncError) Unwrap() error { return e.error }

// retire notes what only the state before the commit uses.
func (c *contiguous) retire(old *snapshot, dropped []extent) {
	if old == nil {
		return
	}
	c.retired = append(c.retired, retired{s: old, exts: append(dropped, tail(old))})
	c.cut = true
}

// moveTail makes the trailer of the batch's current state, which is empty, stand behind everything.
func (c *contiguous) moveTail(b *Batch, least int64) error {
	pos := max(c.end(b), least)
	if pos > maxHeaderLen {
		return nil
	}
	moved, err := c.move(b.f, b.cur, pos)
	if err == nil {
		b.cur = moved
	}
	return err
}

// move makes the state old, which is empty, one whose trailer is at pos, and returns it.
func (c *contiguous) move(f *Frame, old *snapshot, pos int64) (*snapshot, error) {
	out, err := meta.AppendTrailer(nil, old.vlmeta)
	if err != nil {
		return nil, err
	}
	s := old.successor()
	if err := c.install(f, old, s, out, pos); err != nil {
		return nil, err
	}
	c.retire(old, nil)
	s.draft = false
	f.snap.CompareAndSwap(old, s) // it stays nil when the frame was closed
	return s, nil
}

// reclaim frees the space of states that have no readers left, and cuts off what stands behind the frame.
func (c *contiguous) reclaim(f *Frame) {
	if f.broken != nil {
		return // who knows which state is stored
	}
	c.release()
	now := f.snap.Load()
	if now == nil || len(c.retired) > 0 || !c.cut {
		return
	}
	least := int64(now.successor().headerLen)
	if t := tail(now); now.index.n == 0 && t.off > least && t.end-t.off <= t.off-least {
		// Nobody reads the chunks any more that were behind the header of this empty frame. If moving fails the frame
		// is sound as it is, or f.broken says that it is not.
		if moved, err := c.move(f, now, least); err == nil {
			now = moved
		}
		if c.release(); len(c.retired) > 0 || f.broken != nil {
			return
		}
	}
	c.cut = false
	c.carve(extent{tail(now).off, math.MaxInt64})
	if size, err := c.st.Size(); err == nil && size > c.base+now.frameLen {
		c.st.Truncate(c.base + now.frameLen) // should it fail: a longer file is sound too
	}
}

// release frees the space of states that have no readers left.
func (c *contiguous) release() {
	for len(c.retired) > 0 && c.retired[0].s.readers.Load() == 0 {
		for _, x := range c.retired[0].exts {
			c.addFree(extent{min(max(x.off, c.head), x.end), x.end}) // headers grow over old trailers
		}
		if st := c.retired[0].st; st != nil {
			st.Close() // nothing was written to it since it was synced
		}
		c.retired = c.retired[1:]
	}
}

func (c *contiguous) rollback(b *Batch) {
	for _, x := range b.put {
		c.addFree(x)
	}
	c.cut = b.cur != nil
}

func (c *contiguous) stored(s *snapshot, enough int64) int64 {
	return coder.Evidence(s.src, c.base, s.frameLen, enough)
}

func (c *contiguous) close() error {
	err := c.st.Close()
	for _, r := range c.retired {
		if r.st != nil {
			r.st.Close()
		}
	}
	if c.temp != "" {
		c.sys.remove(c.temp) // never committed
	}
	return err
}

// readAll reads n bytes at off of the frame. n was checked against the size of the storage.
func readAll(src io.ReaderAt, off, n int64) ([]byte, error) {
	if n > int64(^uint(0)>>1) {
		return nil, fmt.Errorf("%d bytes: %w", n, ErrTooLarge)
	}
	b := make([]byte, n)
	got, err := src.ReadAt(b, off)
	if got == len(b) {
		return b, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return nil, corrupt("the file ends at byte %d", off+int64(got))
	}
	return nil, err
}
