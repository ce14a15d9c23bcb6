package frame

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/meta"
)

// extent is a range of bytes, from the frame start.
type extent struct{ off, end int64 }

// contiguous is a store in one Storage.
//
// A commit never writes over bytes that the state before it names, nor over such that a reader of an older state
// still uses: new chunks, the index and the trailer go to free space or behind the end; then, after a sync, one
// write of the header makes them the frame. What the old state alone used becomes free after the commit. Bytes that
// no index names are part of the format: every reader knows them from deleted chunks.
type contiguous struct {
	st      Storage
	base    int64    // of the frame in st
	free    []extent // inside the frame, found since it was opened, unused
	retired []retired
	cut     bool   // the storage may be longer than the frame, by what older states used
	temp    string // the file has this name until the first commit
	name    string
	noSync  bool
}

// retired is space that becomes free when the readers of a state are gone.
type retired struct {
	s    *snapshot
	exts []extent
}

func (c *contiguous) open(s *snapshot, e, next entry) (source, error) {
	// Chunks of a batch that is not committed stand behind the chunks area of the header.
	area := max(s.cbytes, s.area-int64(s.headerLen))
	if int64(e) > area-chunk.MinHeaderSize {
		return source{}, corrupt("position %d in a chunks area of %d bytes", e, area)
	}
	src := source{off: c.base + int64(s.headerLen) + int64(e), size: area - int64(e)}
	if next > e {
		src.guess = min(int64(next-e), src.size)
	} else {
		src.guess = src.size
	}
	if s.chunkSize > 0 {
		src.guess = min(src.guess, int64(s.chunkSize)+chunk.MaxOverhead)
	}
	src.guess = min(src.guess, 64<<20)
	if m, ok := c.st.(*Memory); ok {
		if src.mem = m.view(src.off, src.size); src.mem == nil {
			return source{}, corrupt("the frame ends inside the chunk")
		}
		return src, nil
	}
	src.at = c.st
	return src, nil
}

// tail returns the space of a state's index and trailer.
func tail(s *snapshot) extent {
	if s.nbytes == 0 {
		return extent{int64(s.headerLen), s.frameLen}
	}
	return extent{s.indexPos(), s.frameLen}
}

// alloc returns the place for n new bytes: the first free space that is large enough, or the end.
func (c *contiguous) alloc(b *Batch, n int64) int64 {
	for i := range c.free {
		if x := &c.free[i]; x.end-x.off >= n {
			off := x.off
			x.off += n
			return off
		}
	}
	off := c.end(b)
	b.end = off + n
	return off
}

// end returns where everything that is in use, was in use, or is free, ends.
func (c *contiguous) end(b *Batch) int64 {
	end := max(b.end, int64(b.next.headerLen))
	if b.cur != nil {
		end = max(end, b.cur.frameLen)
	}
	for _, x := range c.free {
		end = max(end, x.end)
	}
	for _, r := range c.retired {
		for _, x := range r.exts {
			end = max(end, x.end)
		}
	}
	return end
}

func (c *contiguous) put(b *Batch, data []byte) (entry, error) {
	off := c.alloc(b, int64(len(data)))
	if _, err := c.st.WriteAt(data, c.base+off); err != nil {
		return 0, err
	}
	b.put = append(b.put, extent{off, off + int64(len(data))})
	b.next.area = max(b.next.area, off+int64(len(data)))
	return entry(off - int64(b.next.headerLen)), nil
}

func (c *contiguous) drop(b *Batch, e entry, size int64) {
	off := int64(e) + int64(b.next.headerLen)
	x := extent{off, off + size}
	for i, p := range b.put {
		if p == x { // written by this very batch
			b.put = append(b.put[:i], b.put[i+1:]...)
			c.free = append(c.free, x)
			return
		}
	}
	b.dropped = append(b.dropped, x)
}

func (c *contiguous) commit(b *Batch) error {
	s := b.next
	if s.nbytes == 0 {
		s.cbytes, s.area = 0, int64(s.headerLen)
	}
	index, err := s.index.append(nil, b.f.plain)
	if err != nil {
		return err
	}
	out, err := meta.AppendTrailer(index, s.vlmeta)
	if err != nil {
		return err
	}
	pos := c.tailPos(b, int64(len(out)))
	if s.nbytes > 0 {
		s.cbytes = pos - int64(s.headerLen)
	}
	s.frameLen = pos + int64(len(out))
	head, err := appendHeader(s)
	if err != nil {
		return err
	}
	undo, err := c.save(b, extent{pos, s.frameLen})
	if err != nil {
		return err
	}
	if err := c.write(out, pos); err != nil {
		return errors.Join(err, undo())
	}
	c.carve(extent{pos, s.frameLen})
	if err := c.write(head, 0); err != nil {
		b.f.broken = err
		if b.cur != nil { // perhaps half of it was written: put the old one back
			if old, e := appendHeader(b.cur); e == nil {
				err = errors.Join(err, c.write(old, 0), undo())
			}
		}
		return err
	}
	if c.temp != "" {
		if err := replace(c.temp, c.name, c.noSync); err != nil {
			b.f.broken = err
			return err
		}
		c.temp = ""
	}
	c.retire(b)
	return nil
}

// write writes b at off of the frame and waits until it will last.
func (c *contiguous) write(b []byte, off int64) error {
	if _, err := c.st.WriteAt(b, c.base+off); err != nil {
		return err
	}
	if c.noSync {
		return nil
	}
	return c.st.Sync()
}

// save returns a function that puts back what stands at x, if it is in use: that is so only when the frame
// becomes or stays empty, because the format wants the trailer of an empty frame right behind the header.
func (c *contiguous) save(b *Batch, x extent) (undo func() error, err error) {
	if b.cur == nil || b.next.nbytes > 0 {
		return func() error { return nil }, nil
	}
	old, err := readAll(c.st, c.base+x.off, min(x.end, b.cur.frameLen)-x.off)
	if err != nil {
		return nil, err
	}
	return func() error { return c.write(old, x.off) }, nil
}

// tailPos returns where an index and trailer of n bytes go: right behind the chunks if nothing that is in use
// stands there, else behind everything. Free space behind the chunks is where the tail before the last one was.
func (c *contiguous) tailPos(b *Batch, n int64) int64 {
	pos := max(b.next.area, int64(b.next.headerLen))
	if b.next.nbytes == 0 {
		return pos // see save
	}
	free := func(exts ...extent) bool {
		for _, x := range exts {
			if x.off < pos+n && pos < x.end {
				return false
			}
		}
		return true
	}
	ok := free(b.dropped...)
	if b.cur != nil {
		ok = ok && free(tail(b.cur))
	}
	for _, r := range c.retired {
		ok = ok && free(r.exts...)
	}
	if ok {
		return pos
	}
	return max(pos, c.end(b))
}

// retire notes what only the state before the commit uses.
func (c *contiguous) retire(b *Batch) {
	if b.cur == nil {
		return
	}
	c.retired = append(c.retired, retired{b.cur, append(b.dropped, tail(b.cur))})
	c.cut = true
}

// reclaim frees the space of states that have no readers left, and cuts off what stands behind the frame.
func (c *contiguous) reclaim(f *Frame) {
	now := f.snap.Load()
	for len(c.retired) > 0 && c.retired[0].s.readers.Load() == 0 {
		for _, x := range c.retired[0].exts {
			c.addFree(x)
		}
		c.retired = c.retired[1:]
	}
	if now == nil || len(c.retired) > 0 || !c.cut {
		return
	}
	c.cut = false
	c.carve(extent{tail(now).off, math.MaxInt64})
	if size, err := c.st.Size(); err == nil && size > c.base+now.frameLen {
		c.st.Truncate(c.base + now.frameLen) // should it fail: a longer file is sound too
	}
}

// addFree adds free space, joined with what it touches.
func (c *contiguous) addFree(x extent) {
	kept := c.free[:0]
	for _, y := range c.free {
		switch {
		case y.end == x.off:
			x.off = y.off
		case x.end == y.off:
			x.end = y.end
		default:
			kept = append(kept, y)
		}
	}
	c.free = append(kept, x)
}

// carve takes x out of the free space.
func (c *contiguous) carve(x extent) {
	var kept []extent
	for _, y := range c.free {
		if y.off < min(y.end, x.off) {
			kept = append(kept, extent{y.off, min(y.end, x.off)})
		}
		if max(y.off, x.end) < y.end {
			kept = append(kept, extent{max(y.off, x.end), y.end})
		}
	}
	c.free = kept
}

func (c *contiguous) rollback(b *Batch) {
	for _, x := range b.put {
		c.addFree(x)
	}
	c.cut = b.cur != nil
}

func (c *contiguous) close() error {
	err := c.st.Close()
	if c.temp != "" {
		os.Remove(c.temp) // never committed
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
