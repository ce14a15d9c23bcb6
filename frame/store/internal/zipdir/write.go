package zipdir

import (
	"encoding/binary"
	"io"
	"math"
	"unicode/utf8"

	"github.com/goblosc/blosc2/frame/store/internal/faults"
)

// A Writer writes a zip file with members that are not compressed. Its bytes are those of archive/zip, which would
// bring a program that compresses to every user of this package.
type Writer struct {
	w       io.Writer
	off     int64 // bytes written
	members []written
}

// written is a member of the file.
type written struct {
	name      string
	size, off int64
	sum       uint32
}

const (
	version   = 20       // that a reader must know
	version64 = 45       // for large files
	unix      = 3 << 8   // system of the writer
	utf8Name  = 0x800    // flag of names that are not ASCII
	date      = 1<<5 | 1 // 1980-01-01, so that the same members give the same file
	mode      = 0o600 << 16
)

// NewWriter returns a writer of a zip file to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Add begins a member of size bytes with a CRC-32. The caller then writes these bytes.
func (w *Writer) Add(name string, size int64, sum uint32) error {
	if len(name) > math.MaxUint16 {
		return faults.TooLargef("name of %d bytes", len(name))
	}
	if err := checkName(name); err != nil {
		return err
	}
	m := written{name: name, size: size, off: w.off, sum: sum}
	w.members = append(w.members, m)
	b := binary.LittleEndian.AppendUint32(nil, markLocal)
	b = m.append(b)
	b = binary.LittleEndian.AppendUint32(b, low32(size))
	b = binary.LittleEndian.AppendUint32(b, low32(size))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(name)))
	b = binary.LittleEndian.AppendUint16(b, 0)
	_, err := w.Write(append(b, name...))
	return err
}

// append appends the fields of a member that both of its headers have in the same order.
func (m *written) append(b []byte) []byte {
	flags := uint16(0)
	for _, c := range []byte(m.name) {
		if c >= utf8.RuneSelf {
			flags = utf8Name
		}
	}
	for _, v := range []uint16{version, flags, 0, 0, date} { // not compressed, at midnight
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return binary.LittleEndian.AppendUint32(b, m.sum)
}

// low32 returns a number if it fits 32 bits, and otherwise the mark for a larger number.
func low32(n int64) uint32 { return uint32(min(n, math.MaxUint32)) }

// Write writes bytes of the last member.
func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	w.off += int64(n)
	return n, err
}

// Close writes the directory. It does not close the writer below.
func (w *Writer) Close() error {
	le := binary.LittleEndian
	var b []byte
	for _, m := range w.members {
		size, off, extra := low32(m.size), low32(m.off), []byte(nil)
		if size == math.MaxUint32 || off == math.MaxUint32 {
			size, extra = math.MaxUint32, []byte{1, 0, 24, 0}
			for _, n := range []int64{m.size, m.size, m.off} {
				extra = le.AppendUint64(extra, uint64(n))
			}
		}
		b = le.AppendUint32(b, markCentral)
		b = le.AppendUint16(b, unix|version)
		b = m.append(b)
		b = le.AppendUint32(b, size)
		b = le.AppendUint32(b, size)
		b = le.AppendUint16(b, uint16(len(m.name)))
		b = le.AppendUint16(b, uint16(len(extra)))
		b = append(b, make([]byte, 6)...) // comment, disk, internal attributes
		b = le.AppendUint32(b, mode)
		b = le.AppendUint32(b, off)
		b = append(append(b, m.name...), extra...)
	}
	n, size, off := int64(len(w.members)), int64(len(b)), w.off
	if n >= math.MaxUint16 || size >= math.MaxUint32 || off >= math.MaxUint32 {
		b = le.AppendUint32(b, markEnd64)
		b = le.AppendUint64(b, 44) // bytes of this record that follow
		b = le.AppendUint32(b, version64<<16|version64)
		b = le.AppendUint64(b, 0) // disks
		for _, v := range []int64{n, n, size, off} {
			b = le.AppendUint64(b, uint64(v))
		}
		b = le.AppendUint32(b, markLocator)
		b = le.AppendUint32(b, 0)
		b = le.AppendUint64(b, uint64(off+size))
		b = le.AppendUint32(b, 1)
		n, size, off = math.MaxUint16, math.MaxUint32, math.MaxUint32
	}
	b = le.AppendUint32(b, markEnd)
	b = le.AppendUint32(b, 0) // disks
	b = le.AppendUint16(b, uint16(n))
	b = le.AppendUint16(b, uint16(n))
	b = le.AppendUint32(b, uint32(size))
	b = le.AppendUint32(b, uint32(off))
	_, err := w.Write(le.AppendUint16(b, 0)) // no comment
	return err
}
