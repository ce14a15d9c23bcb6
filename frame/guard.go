package frame

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/internal/coder"
)

// A disk writes a sector of 512 bytes whole or not at all, and several in any order. A header write whose changed bytes
// lie in more than one sector can thus be torn by a crash. Before such a write a guard is put at the end of the file,
// behind everything that any state uses, and synced:
//
//	n bytes   the header as it is stored
//	n bytes   the header as it will be
//	8 bytes   position of the guard from the frame start
//	4 bytes   n
//	4 bytes   CRC-32C of all these
//	8 bytes   "b2header"
//
// with big-endian integers. After the header is written and synced the guard is cut off, so that no two commits have
// one. Opening looks for a guard where something stands behind the frame. When the stored header is a mixture of the
// two in the guard, the new one counts: its index and trailer were synced before. When it is one of them, the guard
// has no meaning.
const (
	sector      = 512
	guardMagic  = "b2header"
	guardSuffix = 24
)

// guard is what was found at the end of a file.
type guard struct {
	pos  int64 // from the frame start
	head []byte
	torn bool // the stored header is neither the old nor the new one
}

// crosses tells whether the bytes that differ in was and is, which start at byte at of the storage, lie in more than
// one sector.
func crosses(was, is []byte, at int64) bool {
	first, last := int64(-1), int64(0)
	for i := range is {
		if was[i] != is[i] {
			if first < 0 {
				first = at + int64(i)
			}
			last = at + int64(i)
		}
	}
	return first >= 0 && first/sector != last/sector
}

// writeHeader writes the header of a state in place of that of another, under a guard if it needs one.
func (c *contiguous) writeHeader(f *Frame, head []byte, replaces bool) error {
	end := c.base + int64(len(head))
	if !replaces || c.noSync || c.base/sector == (end-1)/sector {
		return c.write(head, 0)
	}
	was, err := readAll(c.st, c.base, int64(len(head)))
	if err != nil {
		return err
	}
	if !crosses(was, head, c.base) {
		return c.write(head, 0)
	}
	size, err := c.st.Size()
	if err != nil {
		return err
	}
	pos := size - c.base
	g := append(append(make([]byte, 0, 2*len(head)+guardSuffix), was...), head...)
	g = binary.BigEndian.AppendUint64(g, uint64(pos))
	g = binary.BigEndian.AppendUint32(g, uint32(len(head)))
	g = binary.BigEndian.AppendUint32(g, crc32c.Checksum(g))
	if err = c.write(append(g, guardMagic...), pos); err == nil {
		if err = c.write(head, 0); err != nil {
			// Perhaps half of it was written: put the old one back, or leave the guard for the next opening.
			if e := c.write(was, 0); e != nil {
				return errors.Join(err, e)
			}
		}
	}
	if e := c.unguard(pos, int64(len(g))); e != nil && f.broken == nil {
		f.broken = e // what is stored is sound, but must not be edited as long as the guard is there
	}
	return err
}

// unguard takes away the guard of n bytes and its magic.
func (c *contiguous) unguard(pos, n int64) error {
	err := c.st.Truncate(c.base + pos)
	if err != nil {
		if _, e := c.st.WriteAt(make([]byte, len(guardMagic)), c.base+pos+n); e == nil {
			return nil
		}
	}
	return err
}

// findGuard returns the guard at the end of the size bytes from the frame start at base, or nil.
func findGuard(src io.ReaderAt, base, size int64) (*guard, error) {
	if size < guardSuffix+3*fixedLen {
		return nil, nil
	}
	b, err := readAll(src, base+size-guardSuffix, guardSuffix)
	if err != nil || string(b[16:]) != guardMagic {
		return nil, err
	}
	pos, n := int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint32(b[8:]))
	if n < fixedLen || pos < n || pos != size-guardSuffix-2*n {
		return nil, nil
	}
	if !coder.MayRead(src, base+pos, 2*n, 0) {
		return nil, nil
	}
	heads, err := readAll(src, base+pos, 2*n)
	if err != nil {
		return nil, err
	}
	if sum := binary.BigEndian.Uint32(b[12:]); crc32c.Update(crc32c.Checksum(heads), b[:12]) != sum {
		return nil, nil
	}
	stored, err := readAll(src, base, n)
	if err != nil {
		return nil, err
	}
	was, is := heads[:n:n], heads[n:]
	g := &guard{pos: pos, head: is, torn: !bytes.Equal(stored, was) && !bytes.Equal(stored, is)}
	for i, x := range stored {
		if x != was[i] && x != is[i] {
			g.torn = false // a guard of other headers
		}
	}
	return g, nil
}

// mend finishes the header write of a frame that is opened for editing and returns the size of the storage, which
// then has no guard.
func (c *contiguous) mend(size int64) (int64, error) {
	g, err := findGuard(c.st, c.base, size-c.base)
	if err != nil || g == nil {
		return size, err
	}
	if g.torn {
		if err := c.write(g.head, 0); err != nil {
			return size, err
		}
	}
	return c.base + g.pos, c.st.Truncate(c.base + g.pos)
}

// overlay is a source in which other bytes stand at base.
type overlay struct {
	io.ReaderAt
	base int64
	head []byte
}

func (o overlay) ReadAt(p []byte, off int64) (int, error) {
	n, err := o.ReaderAt.ReadAt(p, off)
	lo, hi := max(off, o.base), min(off+int64(n), o.base+int64(len(o.head)))
	if lo < hi {
		copy(p[lo-off:hi-off], o.head[lo-o.base:hi-o.base])
	}
	return n, err
}
