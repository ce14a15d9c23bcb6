package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"
)

// A disk writes a sector of 512 bytes completely or not at all, and several sectors in any order. So a crash can tear a
// header write whose changed bytes are in more than one sector. Before such a write, a header journal is written to the
// end of the file, after all bytes that any state uses, and synced:
//
//	n bytes   the old header
//	n bytes   the new header
//	8 bytes   position of the journal from the frame start
//	4 bytes   n
//	4 bytes   CRC-32C of all bytes before
//	8 bytes   "b2header"
//
// with big-endian integers. After the header is written and synced, the journal is removed, so that two commits never
// have one each. Opening looks for a journal if bytes follow the frame. If the stored header is a mixture of the two
// headers, the new header is used, because its index and trailer were synced before. If it is one of the two, the
// journal has no meaning.
const (
	sector        = 512
	minHeader     = 87 // bytes of a header without metalayers
	JournalMagic  = "b2header"
	JournalSuffix = 24 // bytes after the headers
)

// Journal is a header journal that was found at the end of a file.
type Journal struct {
	Head   []byte // the new header
	Stored []byte // the stored header
	Torn   bool   // the stored header is neither the old nor the new one
	pos    int64  // from the frame start
}

// EarlyError is an error of ReplaceHeader that occurred before the header was written.
type EarlyError struct{ error }

// Unwrap returns the error.
func (e EarlyError) Unwrap() error { return e.error }

// ReplaceHeader writes a header over another one, with a journal if a crash could tear the write. left is an error if
// the journal cannot be removed: the stored frame is valid, but must not be edited while the journal exists. After an
// EarlyError, the old header is stored.
func (s *Segment) ReplaceHeader(head []byte) (left, err error) {
	// Without syncs, only a process that is killed counts, and one that opens the frame during the write. A short
	// header that is not at the start of a sector is then rarely torn.
	aligned := s.Aligned || s.NoSync
	if aligned && len(head) <= sector {
		return nil, s.Write(head, 0)
	}
	was, err := ReadAll(s.Bytes, 0, int64(len(head)))
	if err != nil {
		return nil, EarlyError{err}
	}
	if !crosses(was, head, aligned) {
		return nil, s.Write(head, 0)
	}
	// 1. Write and sync the journal.
	pos, err := s.Size()
	if err != nil {
		return nil, EarlyError{err}
	}
	j := appendJournal(was, head, pos)
	if err = s.Write(j, pos); err != nil {
		err = EarlyError{err}
	} else {
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

// appendJournal returns a journal at pos with two headers.
func appendJournal(was, head []byte, pos int64) []byte {
	j := append(append(make([]byte, 0, 2*len(head)+JournalSuffix), was...), head...)
	j = binary.BigEndian.AppendUint64(j, uint64(pos))
	j = binary.BigEndian.AppendUint32(j, uint32(len(head)))
	j = binary.BigEndian.AppendUint32(j, crc32c.Checksum(j))
	return append(j, JournalMagic...)
}

// crosses reports whether the bytes that differ in was and is, which are at the start of the storage, may lie in more
// than one sector.
func crosses(was, is []byte, aligned bool) bool {
	first, last := -1, 0
	for i := range is {
		if was[i] != is[i] {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if !aligned {
		return first >= 0 && first < last
	}
	return first >= 0 && first/sector != last/sector
}

// removeJournal truncates the journal of n bytes, or if that fails overwrites its magic.
func (s *Segment) removeJournal(pos, n int64) error {
	err := s.Truncate(pos)
	if err != nil {
		if _, e := s.WriteAt(make([]byte, len(JournalMagic)), pos+n-int64(len(JournalMagic))); e == nil {
			return nil
		}
	}
	return err
}

// FindJournal returns the journal at the end of a storage of size bytes, or nil.
func FindJournal(src io.ReaderAt, size int64) (*Journal, error) {
	if size < JournalSuffix+3*minHeader {
		return nil, nil
	}
	b, err := ReadAll(src, size-JournalSuffix, JournalSuffix)
	if err != nil || string(b[16:]) != JournalMagic {
		return nil, err
	}
	pos, n := int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint32(b[8:]))
	if n < minHeader || pos < n || pos != size-JournalSuffix-2*n {
		return nil, nil
	}
	if err := coder.MayRead(src, pos, 2*n, 0); errors.Is(err, errs.ErrTooLarge) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	heads, err := ReadAll(src, pos, 2*n)
	if err != nil {
		return nil, err
	}
	if sum := binary.BigEndian.Uint32(b[12:]); crc32c.Update(crc32c.Checksum(heads), b[:12]) != sum {
		return nil, nil
	}
	stored, err := ReadAll(src, 0, n)
	if err != nil {
		return nil, err
	}
	was, is := heads[:n:n], heads[n:]
	j := &Journal{pos: pos, Head: is, Stored: stored, Torn: !bytes.Equal(stored, was) && !bytes.Equal(stored, is)}
	for i, x := range stored {
		if x != was[i] && x != is[i] {
			j.Torn = false // a journal of other headers
		}
	}
	return j, nil
}

// ReplayJournal completes an interrupted header write of a frame that is opened for editing, removes the journal, and
// returns the new size of the storage. size is the size before.
func (s *Segment) ReplayJournal(size int64) (int64, error) {
	j, err := FindJournal(s.Bytes, size)
	if err != nil || j == nil {
		return size, err
	}
	if j.Torn {
		if err := s.Write(j.Head, 0); err != nil {
			return size, err
		}
	}
	return j.pos, s.Truncate(j.pos)
}

// WithHeader returns src with the new header of the journal as its first bytes.
func (j *Journal) WithHeader(src io.ReaderAt) io.ReaderAt {
	return overlay{src, j.Head}
}

// overlay is a source with other bytes at the start.
type overlay struct {
	io.ReaderAt
	head []byte
}

func (o overlay) ReadAt(p []byte, off int64) (int, error) {
	n, err := o.ReaderAt.ReadAt(p, off)
	if off >= 0 && off < int64(len(o.head)) {
		copy(p[:n], o.head[off:])
	}
	return n, err
}
