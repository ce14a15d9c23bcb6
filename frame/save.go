package frame

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/goblosc/blosc2/internal/task"
)

// Save writes the frame in its contiguous form, without dead bytes, to w, and returns the number of bytes written: what
// python-blosc2 calls to_cframe. The chunks go to w one after the other, as they are stored, so that the memory in use
// is bounded by the largest stored chunk and the index. Save reads the headers of all chunks first. It reads one
// committed state, regardless of concurrent commits, and does not change the frame. Errors are those of w, of ctx and
// of reading, and ErrChecksum for a chunk that does not match the checksum that the frame keeps.
func (f *Frame) Save(ctx context.Context, w io.Writer) (n int64, err error) {
	ctx = task.Context(ctx)
	s, err := f.acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer f.release(s, &err)
	c, err := f.contiguousForm(ctx, s)
	if err != nil {
		return 0, err
	}
	out := &counter{w: w}
	err = c.write(ctx, out)
	return out.n, err
}

// contiguousForm is a state of a frame, and where its parts go in a contiguous frame without dead bytes.
type contiguousForm struct {
	f     *Frame
	s     *snapshot
	head  []byte
	tail  []byte
	order []int // chunks, each stored one once
	sizes []int // of these, in bytes
}

// contiguousForm finds out the sizes of all chunks of s, and makes the parts of the frame that depend on them.
func (f *Frame) contiguousForm(ctx context.Context, s *snapshot) (*contiguousForm, error) {
	c := &contiguousForm{f: f, s: s}
	next := s.successor()
	n, err := headerLen(s.meta)
	if err != nil {
		return nil, f.wrap("metalayers", -1, err)
	}
	next.sparse, next.headerLen, next.area, next.cbytes = false, n, int64(n), 0
	if s.index.list != nil {
		if next.index, err = c.place(ctx, next); err != nil {
			return nil, err
		}
	}
	tx := &transaction{next: next}
	if err := tx.encodeTail(f.plain); err != nil {
		return nil, f.wrap("index", -1, err)
	}
	c.tail = tx.tail
	next.cbytes = next.area - int64(n)
	next.frameLen = next.area + int64(len(c.tail))
	if c.head, err = appendHeader(next); err != nil {
		return nil, f.wrap("header", -1, err)
	}
	return c, nil
}

// place returns the index of next, whose chunks follow each other from the end of the header on.
func (c *contiguousForm) place(ctx context.Context, next *snapshot) (index, error) {
	f, s := c.f, c.s
	list := slices.Clone(s.index.list)
	var moved map[entry]entry // where chunks are that the index references twice
	if _, shared := s.index.storedEntries(); shared {
		moved = make(map[entry]entry, len(list))
	}
	chunks := f.once(ctx, s)
	for i, e := range list {
		if err := ctx.Err(); err != nil {
			return index{}, err
		}
		if e < 0 {
			continue
		}
		if to, ok := moved[e]; ok {
			list[i] = to
			continue
		}
		h, err := f.chunkHeader(ctx, s, i)
		if err == nil {
			err = chunks.spend(i, h.CBytes)
		}
		if err != nil {
			return index{}, err
		}
		list[i] = entry(next.area - int64(next.headerLen))
		if moved != nil {
			moved[e] = list[i]
		}
		c.order, c.sizes = append(c.order, i), append(c.sizes, h.CBytes)
		next.area += int64(h.CBytes)
	}
	return newIndex(list, s.index.checksums), nil
}

// write writes the frame.
func (c *contiguousForm) write(ctx context.Context, w io.Writer) error {
	if _, err := w.Write(c.head); err != nil {
		return err
	}
	var buf []byte
	for k, i := range c.order {
		err := ctx.Err()
		if err != nil {
			return err
		}
		if buf, err = c.f.rawChunk(ctx, buf[:0], c.s, i); err != nil {
			return err
		}
		if err := c.f.checkChecksum(c.s, i, buf); err != nil {
			return err
		}
		if len(buf) != c.sizes[k] {
			return c.f.chunkError(c.s, i, fmt.Errorf("%d bytes, a moment ago %d: %w", len(buf), c.sizes[k], ErrChanged))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	_, err := w.Write(c.tail)
	return err
}

// counter counts the bytes that it passes on.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}
