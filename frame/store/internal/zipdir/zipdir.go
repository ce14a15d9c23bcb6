// Package zipdir reads the directory of a zip file with members that are not compressed, from any source and without
// trust in what it says.
package zipdir

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/source"
)

// Records of a zip file, all little-endian.
const (
	markLocal   = 0x04034b50 // header before the bytes of a member
	markCentral = 0x02014b50 // entry of the directory
	markEnd     = 0x06054b50 // end of the directory, at the end of the file
	markLocator = 0x07064b50 // directly before the end
	markEnd64   = 0x06064b50 // where the locator points to

	localLen   = 30
	centralLen = 46
	endLen     = 22
	locatorLen = 20
	end64Len   = 56

	tailLen = 64 << 10        // bytes at the end that are read at once; the directory of a small store is among them
	endMost = 64<<10 + endLen // largest end of a directory, with its comment
)

// A Member is an entry of the directory of a zip file.
type Member struct {
	Name   string
	Size   int64  // stored bytes
	Fault  error  // why Data returns an error: the member is compressed or encrypted
	header int64  // offset of the local header
	end    int64  // offset that the member must not exceed: the next local header, or the directory
	flags  uint16 // general purpose flags
}

// shown returns the name for an error.
func (m *Member) shown() string { return faults.Clip(m.Name) }

// directory describes where the directory of a zip file is.
type directory struct {
	offset, size, count int64
}

// Tail returns the last bytes of a file, which Read needs, with one read.
func Tail(ctx context.Context, src source.Source) ([]byte, error) {
	return lastBytes(ctx, src, tailLen)
}

// LongTail is Tail for a file that begins like a zip file, but whose Tail does not end like one. If its comment is not
// too long for Tail, the end of the file is missing, and LongTail returns ErrCorrupt. It returns nil for other files.
func LongTail(ctx context.Context, src source.Source) ([]byte, error) {
	var head [4]byte
	if n, _ := src.ReadAtContext(ctx, head[:], 0); n < len(head) || binary.LittleEndian.Uint32(head[:]) != markLocal {
		return nil, nil
	}
	tail, err := lastBytes(ctx, src, endMost)
	if err == nil && !IsZip(tail) {
		err = faults.Corruptf("a zip file without the directory at its end")
	}
	return tail, err
}

// lastBytes returns up to n bytes at the end of a file.
func lastBytes(ctx context.Context, src source.Source, n int64) ([]byte, error) {
	size := src.Size()
	tail := make([]byte, min(size, n))
	if _, err := src.ReadAtContext(ctx, tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return nil, err
	}
	return tail, nil
}

// IsZip reports whether a file with this tail is a zip file.
func IsZip(tail []byte) bool { return endOf(tail) >= 0 }

// endOf returns where the end of the directory is in the tail of a file, or -1.
func endOf(tail []byte) int {
	for i := len(tail) - endLen; i >= 0; i-- {
		if binary.LittleEndian.Uint32(tail[i:]) == markEnd &&
			i+endLen+int(binary.LittleEndian.Uint16(tail[i+20:])) == len(tail) {
			return i
		}
	}
	return -1
}

// Read returns the members of the zip file in src, in the order of their offsets. There may be most of them. It needs
// no read if the directory is in the tail of the file, and otherwise one for up to 4 MiB. It does not read local
// headers.
//
// Read also returns a source like src that holds the bytes that were read in memory: the directory and the last member
// before it, if that is small.
func Read(ctx context.Context, src source.Source, tail []byte, most int) ([]Member, source.Source, error) {
	size := src.Size()
	w := &window{src, size - int64(len(tail)), tail}
	d, err := findDirectory(source.Reader(ctx, src), tail, size)
	if err != nil {
		return nil, nil, err
	}
	if d.count > int64(most) {
		return nil, nil, faults.TooLargef("%d members, more than option MaxLeaves allows (%d)", d.count, most)
	}
	const atOnce = 4 << 20
	if start := max(d.offset-tailLen/4, 0); d.offset < w.off && size-start <= atOnce+2*tailLen {
		buf := make([]byte, size-start)
		n := copy(buf[w.off-start:], tail)
		if _, err := src.ReadAtContext(ctx, buf[:len(buf)-n], start); err != nil {
			return nil, nil, unexpected(err)
		}
		w.off, w.buf = start, buf
	}
	entries := source.Reader(ctx, source.Section(w, d.offset, d.size))
	members, err := readMembers(ctx, bufio.NewReaderSize(entries, int(min(d.size, 1<<20))), d)
	if err != nil {
		return nil, nil, err
	}
	return members, w.source(), checkMembers(members, d)
}

// window is a source that holds the bytes from off up in memory.
type window struct {
	source.Source
	off int64
	buf []byte
}

// ReadAtContext takes a range from memory if all of its bytes are in memory.
func (w *window) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off < w.off || off-w.off > int64(len(w.buf))-int64(len(p)) {
		return w.Source.ReadAtContext(ctx, p, off)
	}
	return copy(p, w.buf[off-w.off:]), nil
}

// Refresh calls that of the source.
func (w *window) Refresh(ctx context.Context) error { return source.Refresh(ctx, w.Source) }

// source returns w, as a source.RangeReader and a source.Gapper if its source is one.
func (w *window) source() source.Source {
	r, ok := w.Source.(source.RangeReader)
	if !ok {
		return w
	}
	if g, ok := w.Source.(source.Gapper); ok {
		return gappedWindow{rangedWindow{w, r}, source.Costs{Gapper: g}}
	}
	return rangedWindow{w, r}
}

// rangedWindow is a window of a source.RangeReader.
type rangedWindow struct {
	*window
	whole source.RangeReader
}

// gappedWindow is a window of a source.RangeReader with a Gap.
type gappedWindow struct {
	rangedWindow
	source.Costs
}

// ReadRanges takes ranges from memory if all of their bytes are in memory.
func (w rangedWindow) ReadRanges(ctx context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error {
	var rest []frame.Range
	var of []int
	for i, r := range want {
		if r.Off < w.off || r.Len < 0 || r.Off-w.off > int64(len(w.buf))-r.Len {
			rest, of = append(rest, r), append(of, i)
		} else if err := got(i, 0, w.buf[r.Off-w.off:][:r.Len:r.Len]); err != nil {
			return err
		}
	}
	if len(rest) == 0 {
		return ctx.Err()
	}
	return w.whole.ReadRanges(ctx, rest, func(i int, at int64, b []byte) error { return got(of[i], at, b) })
}

// unexpected returns io.ErrUnexpectedEOF for io.EOF, and other errors as they are.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// findDirectory finds the directory from the last bytes of a file of size bytes.
func findDirectory(r io.ReaderAt, tail []byte, size int64) (directory, error) {
	at := endOf(tail)
	if at < 0 {
		return directory{}, faults.Formatf("no end of a zip directory")
	}
	e := tail[at:]
	d := directory{
		offset: int64(binary.LittleEndian.Uint32(e[16:])),
		size:   int64(binary.LittleEndian.Uint32(e[12:])),
		count:  int64(binary.LittleEndian.Uint16(e[10:])),
	}
	end := size - int64(len(tail)) + int64(at) // where the directory ends
	if disks := binary.LittleEndian.Uint32(e[4:]); disks != 0 && disks != 0xffffffff {
		return directory{}, faults.Unsupportedf("zip file in several parts")
	}
	if d.offset == math.MaxUint32 || d.size == math.MaxUint32 || d.count == math.MaxUint16 {
		var err error
		if d, end, err = findDirectory64(r, end, d); err != nil {
			return directory{}, err
		}
	}
	if d.offset < 0 || d.size < 0 || d.offset > end || d.size != end-d.offset {
		return directory{}, faults.Corruptf("zip directory of %d bytes at %d, but it ends at %d", d.size, d.offset, end)
	}
	if d.count < 0 || d.count > d.size/centralLen {
		return directory{}, faults.Corruptf("zip directory of %d bytes with %d members", d.size, d.count)
	}
	return d, nil
}

// findDirectory64 reads the records of a large zip file before its end at end. If there are none, the numbers in d
// count.
func findDirectory64(r io.ReaderAt, end int64, d directory) (directory, int64, error) {
	if end < locatorLen+end64Len {
		return d, end, nil
	}
	var l [locatorLen]byte
	if _, err := r.ReadAt(l[:], end-locatorLen); err != nil {
		return d, 0, err
	}
	if binary.LittleEndian.Uint32(l[:]) != markLocator {
		return d, end, nil
	}
	at := int64(binary.LittleEndian.Uint64(l[8:]))
	if at < 0 || at > end-locatorLen-end64Len {
		return d, 0, faults.Corruptf("zip64 record at %d in a file with the directory before %d", at, end)
	}
	var e [end64Len]byte
	if _, err := r.ReadAt(e[:], at); err != nil {
		return d, 0, err
	}
	if binary.LittleEndian.Uint32(e[:]) != markEnd64 {
		return d, 0, faults.Corruptf("no zip64 record at %d", at)
	}
	if n := binary.LittleEndian.Uint64(e[4:]); n != uint64(end-locatorLen-at-12) {
		return d, 0, faults.Corruptf("zip64 record of %d bytes at %d, but its locator is at %d", n, at, end-locatorLen)
	}
	d.count = int64(binary.LittleEndian.Uint64(e[32:]))
	d.size = int64(binary.LittleEndian.Uint64(e[40:]))
	d.offset = int64(binary.LittleEndian.Uint64(e[48:]))
	return d, at, nil
}

// readMembers reads the entries of the directory.
func readMembers(ctx context.Context, src io.Reader, d directory) ([]Member, error) {
	var members []Member // grows with the entries that are read, whatever their claimed number
	left := d.size
	for i := range d.count {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		m, n, err := readZipMember(src, left)
		if err != nil {
			return nil, fmt.Errorf("entry %d of the zip directory: %w", i, err)
		}
		left -= n
		members = append(members, m)
	}
	if left != 0 {
		return nil, faults.Corruptf("%d bytes after the %d entries of the zip directory", left, d.count)
	}
	return members, nil
}

// readZipMember reads an entry of at most left bytes, and returns its length.
func readZipMember(src io.Reader, left int64) (Member, int64, error) {
	var h [centralLen]byte
	if left < centralLen {
		return Member{}, 0, faults.Corruptf("only %d bytes left", left)
	}
	if _, err := io.ReadFull(src, h[:]); err != nil {
		return Member{}, 0, err
	}
	if binary.LittleEndian.Uint32(h[:]) != markCentral {
		return Member{}, 0, faults.Corruptf("it does not start with the mark of an entry")
	}
	nameLen := int64(binary.LittleEndian.Uint16(h[28:]))
	extraLen := int64(binary.LittleEndian.Uint16(h[30:]))
	rest := nameLen + extraLen + int64(binary.LittleEndian.Uint16(h[32:]))
	if rest > left-centralLen {
		return Member{}, 0, faults.Corruptf("%d bytes of names, only %d left", rest, left-centralLen)
	}
	text := make([]byte, rest)
	if _, err := io.ReadFull(src, text); err != nil {
		return Member{}, 0, err
	}
	m := Member{
		Name:   string(text[:nameLen]),
		flags:  binary.LittleEndian.Uint16(h[8:]),
		Size:   int64(binary.LittleEndian.Uint32(h[20:])),
		header: int64(binary.LittleEndian.Uint32(h[42:])),
	}
	decoded := int64(binary.LittleEndian.Uint32(h[24:]))
	if err := m.readWide(text[nameLen:][:extraLen], &decoded); err != nil {
		return m, 0, err
	}
	switch method := binary.LittleEndian.Uint16(h[10:]); {
	case method != 0:
		m.Fault = faults.Unsupportedf("compressed member of the zip file (method %d)", method)
	case m.flags&1 != 0:
		m.Fault = faults.Unsupportedf("encrypted member of the zip file")
	case decoded != m.Size:
		return m, 0, faults.Corruptf("%q is stored, but has %d bytes of %d", m.shown(), m.Size, decoded)
	}
	return m, centralLen + rest, nil
}

// readWide takes the sizes and the offset that do not fit 32 bits from the extra fields of an entry.
func (m *Member) readWide(extra []byte, decoded *int64) error {
	wide := []*int64{decoded, &m.Size, &m.header}
	wide = slices.DeleteFunc(wide, func(n *int64) bool { return *n != math.MaxUint32 })
	for len(extra) >= 4 && len(wide) > 0 {
		id, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if extra = extra[4:]; n > len(extra) {
			return faults.Corruptf("%q: extra field of %d bytes, only %d left", m.shown(), n, len(extra))
		}
		if id == 1 {
			if n < 8*len(wide) {
				return faults.Corruptf("%q: zip64 field of %d bytes, want %d", m.shown(), n, 8*len(wide))
			}
			for i, to := range wide {
				if *to = int64(binary.LittleEndian.Uint64(extra[8*i:])); *to < 0 {
					return faults.Corruptf("%q: size or offset %d", m.shown(), uint64(*to))
				}
			}
			return nil
		}
		extra = extra[n:]
	}
	return nil
}

// checkMembers sorts the members by offset and sets their ends. It returns an error for names that are unsafe or
// repeated, and for members that overlap each other or the directory.
func checkMembers(members []Member, d directory) error {
	slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.header, b.header) })
	names := make(map[string]bool, len(members))
	for i := range members {
		m := &members[i]
		if err := checkName(m.Name); err != nil {
			return err
		}
		if names[m.Name] {
			return faults.Corruptf("the zip file has two members %q", m.shown())
		}
		names[m.Name] = true
		m.end = d.offset
		if i+1 < len(members) {
			m.end = members[i+1].header
		}
		if space := m.end - m.header - localLen - int64(len(m.Name)); m.Size > space {
			return faults.Corruptf("%q has %d bytes at %d, but the next part of the zip file starts at %d", m.shown(), m.Size, m.header, m.end)
		}
	}
	return nil
}

// checkName returns an error for a name that is absolute, has an element "." or "..", or means different files on
// different systems.
func checkName(name string) error {
	if !fs.ValidPath(strings.TrimSuffix(name, "/")) || name == "." || strings.ContainsAny(name, "\\\x00") {
		return faults.Corruptf("unsafe name %q of a member of the zip file", faults.Clip(name))
	}
	return nil
}

// Data returns the bytes of a member of the zip file src. It reads and checks the local header. In the same read it
// loads up to ahead bytes of the member into memory.
func (m *Member) Data(ctx context.Context, src source.Source, ahead int64) (source.Source, error) {
	if m.Fault != nil {
		return nil, m.Fault
	}
	headerLen := int64(localLen + len(m.Name))
	h := make([]byte, min(headerLen+min(ahead, m.Size), m.end-m.header))
	if _, err := src.ReadAtContext(ctx, h, m.header); err != nil {
		return nil, unexpected(err)
	}
	nameLen := int(binary.LittleEndian.Uint16(h[26:]))
	if binary.LittleEndian.Uint32(h) != markLocal || nameLen != len(m.Name) || string(h[localLen:headerLen]) != m.Name {
		return nil, faults.Corruptf("no member %q at byte %d of the zip file", m.shown(), m.header)
	}
	if method := binary.LittleEndian.Uint16(h[8:]); method != 0 {
		return nil, faults.Corruptf("%q is stored, but its local header says method %d", m.shown(), method)
	}
	start := m.header + headerLen + int64(binary.LittleEndian.Uint16(h[28:]))
	if start > m.end || m.Size > m.end-start {
		return nil, faults.Corruptf("%q has %d bytes at %d, but the next part of the zip file starts at %d", m.shown(), m.Size, start, m.end)
	}
	if ahead > 0 {
		src = (&window{src, m.header, h}).source()
	}
	return source.Section(src, start, m.Size), nil
}
