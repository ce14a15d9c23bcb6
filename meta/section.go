package meta

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/goblosc/blosc2/internal/errs"
)

// Limits of the format.
const (
	MaxLayers        = 16   // metalayers in a frame header
	MaxVLLayersRead  = 8192 // variable-length metalayers that a trailer may hold
	MaxVLLayersWrite = 16   // variable-length metalayers that C-Blosc2 can write, and so AppendTrailer
	MaxNameLen       = 31   // bytes in the name of a metalayer
)

// Sizes in bytes of the fixed parts of a section and of a trailer.
const (
	entryLen       = 6                                            // an entry of the map, without the name
	emptySection   = 10                                           // markers, idx_size and both counts
	trailerPrefix  = 2                                            // array marker and version
	fingerprintLen = 18                                           // fixext16 with its type
	trailerSuffix  = 5 + fingerprintLen                           // trailer_len and fingerprint
	emptyTrailer   = trailerPrefix + emptySection + trailerSuffix // 35
)

// Layer is one metalayer: a name and its content. By the convention of python-blosc2 the content is MessagePack (see
// Marshal), except for "b2nd" and "caterva" (see Array). In a trailer the content is one Blosc2 chunk that holds the
// MessagePack.
type Layer struct {
	Name    string // up to 31 bytes; see AppendHeader
	Content []byte
}

// AppendHeader appends the metalayer section to a frame header and returns the extended slice. header must start at the
// start of the frame, because the offsets in the section are relative to it. Usually it holds the 87 bytes of the fixed
// part. The caller must set the field header_len in that part. The error wraps ErrTooLarge if there are more than
// MaxLayers metalayers or if header_len cannot hold the size, and ErrParam of package frame if a name is too long or
// repeated. After an error AppendHeader returns header unchanged.
//
// A new name should be UTF-8 of 1 to 31 bytes without a NUL: C-Blosc2 ends a name at a NUL, and python-blosc2 fails to
// list the names of a frame if one of them is not UTF-8. AppendHeader does not check this, because a copy keeps the
// names of its source. C-Blosc2 also writes empty names.
func AppendHeader(header []byte, layers []Layer) ([]byte, error) {
	size, err := sectionSize("header", layers, MaxLayers, len(header))
	if err != nil {
		return header, err
	}
	dst := slices.Grow(header, size)
	// Here idx_size counts from the array marker; in a trailer it starts one byte later.
	return appendSection(dst, 0, 1, layers), nil
}

// AppendTrailer appends a complete frame trailer, with its length and an empty fingerprint, and returns the extended
// slice. Each content must be one Blosc2 chunk. The errors are those of AppendHeader, with MaxVLLayersWrite as the
// largest count. After an error AppendTrailer returns dst unchanged.
func AppendTrailer(dst []byte, layers []Layer) ([]byte, error) {
	size, err := sectionSize("trailer", layers, MaxVLLayersWrite, trailerPrefix+trailerSuffix)
	if err != nil {
		return dst, err
	}
	base := len(dst)
	dst = slices.Grow(dst, size+trailerPrefix+trailerSuffix)
	dst = append(dst, markFixArray+4, 1)
	dst = appendSection(dst, base, 0, layers)
	dst = appendUint32(dst, markUint32, len(dst)-base+trailerSuffix)
	var fingerprint [fingerprintLen]byte
	fingerprint[0] = markFixExt16
	return append(dst, fingerprint[:]...), nil
}

// sectionSize checks the metalayers and returns the size of their section. extra is the number of bytes around it.
func sectionSize(where string, layers []Layer, most, extra int) (int, error) {
	if len(layers) > most {
		return 0, fmt.Errorf("meta: %s: %d metalayers, want at most %d: %w", where, len(layers), most, ErrTooLarge)
	}
	seen := make(map[string]bool, len(layers))
	size := int64(emptySection)
	for _, l := range layers {
		if len(l.Name) > MaxNameLen {
			return 0, fmt.Errorf("meta: %s: metalayer name %q, want 1 to %d bytes: %w", where, l.Name, MaxNameLen, errs.ErrParam)
		}
		if seen[l.Name] {
			return 0, fmt.Errorf("meta: %s: two metalayers named %q: %w", where, l.Name, errs.ErrParam)
		}
		seen[l.Name] = true
		size += int64(entryLen+len(l.Name)+5) + int64(len(l.Content))
	}
	if size > math.MaxInt32-int64(extra) {
		return 0, fmt.Errorf("meta: %s: %d bytes of metalayers: %w", where, size, ErrTooLarge)
	}
	return int(size), nil
}

// appendSection appends a section that sectionSize has checked. Offsets count from dst[base]. extra is added to
// idx_size.
func appendSection(dst []byte, base, extra int, layers []Layer) []byte {
	idx := 6 + extra
	for _, l := range layers {
		idx += entryLen + len(l.Name)
	}
	dst = append(dst, markFixArray+3)
	dst = appendUint16(dst, markUint16, idx)
	dst = appendUint16(dst, markMap16, len(layers))
	// The first content follows the map (idx-6-extra bytes) and the marker and count of the contents.
	off := len(dst) - base + idx - 6 - extra + 3
	for _, l := range layers {
		dst = append(dst, byte(markFixStr+len(l.Name)))
		dst = append(dst, l.Name...)
		dst = appendUint32(dst, markInt32, off)
		off += 5 + len(l.Content)
	}
	dst = appendUint16(dst, markArray16, len(layers))
	for _, l := range layers {
		dst = appendUint32(dst, markBin32, len(l.Content))
		dst = append(dst, l.Content...)
	}
	return dst
}

// ParseHeader reads the metalayer section of a frame header. header is the whole header (header_len bytes from the
// start of the frame), and start is the offset of the section in it, 87. The contents are parts of header, not copies,
// and keep the order of the map.
//
// It accepts what C-Blosc2 accepts: idx_size and the array markers are not checked. Contents may be stored in any
// order, overlap or be shared. Names may be empty or repeated; C-Blosc2 uses the first one. The error wraps ErrCorrupt,
// and ErrTooLarge too if there are more than MaxLayers metalayers.
func ParseHeader(header []byte, start int) ([]Layer, error) {
	return parseSection("header", header, start, MaxLayers)
}

// ParseTrailer reads a whole frame trailer, trailer_len bytes. The contents (one Blosc2 chunk each) are parts of
// trailer, not copies, and keep the order of the map. ParseTrailer is as tolerant as ParseHeader, with MaxVLLayersRead
// as the largest count, and ignores the fingerprint. The length field must equal len(trailer). The error wraps
// ErrCorrupt, and ErrTooLarge too if there are too many metalayers.
func ParseTrailer(trailer []byte) ([]Layer, error) {
	if len(trailer) < emptyTrailer {
		return nil, fmt.Errorf("meta: trailer of %d bytes, want at least %d: %w", len(trailer), emptyTrailer, ErrCorrupt)
	}
	tail := trailer[len(trailer)-trailerSuffix:]
	if n := binary.BigEndian.Uint32(tail[1:]); tail[0] != markUint32 || uint64(n) != uint64(len(trailer)) {
		return nil, fmt.Errorf("meta: trailer of %d bytes, but its length field is %d (marker %#02x): %w", len(trailer), n, tail[0], ErrCorrupt)
	}
	return parseSection("trailer", trailer, trailerPrefix, MaxVLLayersRead)
}

// parseSection reads the section at start. Offsets in it count from b[0].
func parseSection(where string, b []byte, start, most int) ([]Layer, error) {
	if start < 0 || start > len(b) {
		return nil, fmt.Errorf("meta: %s of %d bytes has no metalayer section at %d: %w", where, len(b), start, ErrCorrupt)
	}
	c := &cursor{b: b, pos: start}
	c.next(4) // array marker, idx_size with its marker: no reader checks them
	if m := c.byte(); c.err == nil && m != markMap16 {
		c.fail(errMarker)
	}
	n := int(c.uint16())
	if c.err != nil {
		return nil, fmt.Errorf("meta: %s: map of metalayers: %w: %w", where, c.err, ErrCorrupt)
	}
	if n > most {
		return nil, fmt.Errorf("meta: %s: %d metalayers, want at most %d: %w: %w", where, n, most, ErrTooLarge, ErrCorrupt)
	}
	if n > c.left()/entryLen {
		return nil, fmt.Errorf("meta: %s: %d metalayers in %d bytes: %w", where, n, c.left(), ErrCorrupt)
	}
	layers := make([]Layer, n)
	for i := range layers {
		if err := parseEntry(c, &layers[i]); err != nil {
			return nil, fmt.Errorf("meta: %s: metalayer %d: %w: %w", where, i, err, ErrCorrupt)
		}
	}
	return layers, nil
}

// parseEntry reads one entry of the map and finds its content.
func parseEntry(c *cursor, l *Layer) error {
	m := c.byte()
	if c.err == nil && m&0xe0 != markFixStr {
		c.fail(errMarker)
	}
	l.Name = string(c.next(int(m & 0x1f)))
	if m := c.byte(); c.err == nil && m != markInt32 {
		c.fail(errMarker)
	}
	off := int(int32(c.uint32()))
	if c.err != nil {
		return c.err
	}
	if off < 0 || off > len(c.b) {
		return fmt.Errorf("%q: content at byte %d of %d", l.Name, off, len(c.b))
	}
	at := cursor{b: c.b, pos: off}
	if m := at.byte(); at.err == nil && m != markBin32 {
		at.fail(errMarker)
	}
	n := at.uint32()
	if at.err != nil {
		return fmt.Errorf("%q: content at byte %d: %w", l.Name, off, at.err)
	}
	if uint64(n) > uint64(at.left()) {
		return fmt.Errorf("%q: content of %d bytes, but only %d are left", l.Name, n, at.left())
	}
	l.Content = at.next(int(n))
	return nil
}
