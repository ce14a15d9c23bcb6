package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/internal/coder"
)

// A disk writes a sector of 512 bytes whole or not at all, and several in any order. A header write whose changed bytes
// lie in more than one sector can thus be torn by a crash. Before such a write a header journal is put at the end of
// the file, after everything that any state uses, and synced:
//
//	n bytes   the header as it is stored
//	n bytes   the header as it will be
//	8 bytes   position of the journal from the frame start
//	4 bytes   n
//	4 bytes   CRC-32C of all these
//	8 bytes   "b2header"
//
// with big-endian integers. After the header is written and synced the journal is removed, so that no two commits have
// one. Opening looks for a journal where bytes follow the frame. When the stored header is a mixture of the two in the
// journal, the new one counts: its index and trailer were synced before. When it is one of them, the journal has no
// meaning.
const (
	sector        = 512
	minHeader     = 87 // bytes of a header without metalayers
	JournalMagic  = "b2header"
	JournalSuffix = 24 // bytes after the headers
)

// Journal is a header journal that was found at the end of a file.
type Journal struct {
	Head []byte // the new header
	Torn bool   // the stored header is neither the old nor the new one
	pos  int64  // from the frame start
}

// Segment is the part of a storage that a frame is in, from byte Base on.
type Segment struct {
	Bytes
	Base   int64
	NoSync bool
}

// SyncError is an error after all was written.
type SyncError struct{ error }

// Unwrap returns the error.
func (e SyncError) Unwrap() error { return e.error }

// Write writes b at off of the segment and waits until it will last. An error after the write is a SyncError.
func (s *Segment) Write(b []byte, off int64) error {
	if _, err := s.WriteAt(b, s.Base+off); err != nil {
		return err
	}
	if s.NoSync {
		return nil
	}
	if err := s.Sync(); err != nil {
		return SyncError{err}
	}
	return nil
}

// ReplaceHeader writes a header over another one, with a journal if a crash could tear the write. left is an error if
// the journal cannot be removed: the stored frame is right, but must not be edited as long as the journal exists.
func (s *Segment) ReplaceHeader(head []byte) (left, err error) {
	if s.NoSync || s.Base/sector == (s.Base+int64(len(head))-1)/sector {
		return nil, s.Write(head, 0)
	}
	was, err := ReadAll(s.Bytes, s.Base, int64(len(head)))
	if err != nil {
		return nil, err
	}
	if !crosses(was, head, s.Base) {
		return nil, s.Write(head, 0)
	}
	// 1. Write and sync the journal.
	size, err := s.Size()
	if err != nil {
		return nil, err
	}
	pos := size - s.Base
	j := appendJournal(was, head, pos)
	if err = s.Write(j, pos); err == nil {
		// 2. Write and sync the header. A failed write may have written a part of it: write the old header again, or
		// leave the journal for the next opening.
		if err = s.Write(head, 0); err != nil {
			if e := s.Write(was, 0); e != nil {
				return nil, errors.Join(err, e)
			}
		}
	}
	// 3. Remove the journal.
	return s.removeJournal(pos, int64(len(j))), err
}

// appendJournal returns the journal at pos of two headers.
func appendJournal(was, head []byte, pos int64) []byte {
	j := append(append(make([]byte, 0, 2*len(head)+JournalSuffix), was...), head...)
	j = binary.BigEndian.AppendUint64(j, uint64(pos))
	j = binary.BigEndian.AppendUint32(j, uint32(len(head)))
	j = binary.BigEndian.AppendUint32(j, crc32c.Checksum(j))
	return append(j, JournalMagic...)
}

// crosses reports whether the bytes that differ in was and is, which start at byte at of the storage, lie in more than
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

// removeJournal cuts off the journal of n bytes, or else writes over its magic.
func (s *Segment) removeJournal(pos, n int64) error {
	err := s.Truncate(s.Base + pos)
	if err != nil {
		if _, e := s.WriteAt(make([]byte, len(JournalMagic)), s.Base+pos+n-int64(len(JournalMagic))); e == nil {
			return nil
		}
	}
	return err
}

// FindJournal returns the journal at the end of the size bytes from the frame start at base, or nil.
func FindJournal(src io.ReaderAt, base, size int64) (*Journal, error) {
	if size < JournalSuffix+3*minHeader {
		return nil, nil
	}
	b, err := ReadAll(src, base+size-JournalSuffix, JournalSuffix)
	if err != nil || string(b[16:]) != JournalMagic {
		return nil, err
	}
	pos, n := int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint32(b[8:]))
	if n < minHeader || pos < n || pos != size-JournalSuffix-2*n {
		return nil, nil
	}
	if !coder.MayRead(src, base+pos, 2*n, 0) {
		return nil, nil
	}
	heads, err := ReadAll(src, base+pos, 2*n)
	if err != nil {
		return nil, err
	}
	if sum := binary.BigEndian.Uint32(b[12:]); crc32c.Update(crc32c.Checksum(heads), b[:12]) != sum {
		return nil, nil
	}
	stored, err := ReadAll(src, base, n)
	if err != nil {
		return nil, err
	}
	was, is := heads[:n:n], heads[n:]
	j := &Journal{pos: pos, Head: is, Torn: !bytes.Equal(stored, was) && !bytes.Equal(stored, is)}
	for i, x := range stored {
		if x != was[i] && x != is[i] {
			j.Torn = false // a journal of other headers
		}
	}
	return j, nil
}

// ReplayJournal completes an interrupted header write of a frame that is opened for editing, removes the journal, and
// returns the size of the storage, which was size.
func (s *Segment) ReplayJournal(size int64) (int64, error) {
	j, err := FindJournal(s.Bytes, s.Base, size-s.Base)
	if err != nil || j == nil {
		return size, err
	}
	if j.Torn {
		if err := s.Write(j.Head, 0); err != nil {
			return size, err
		}
	}
	return s.Base + j.pos, s.Truncate(s.Base + j.pos)
}

// WithHeader returns the source src in which the bytes from base on are those of the journal's new header.
func (j *Journal) WithHeader(src io.ReaderAt, base int64) io.ReaderAt {
	return overlay{src, base, j.Head}
}

// overlay is a source with other bytes from base on.
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
