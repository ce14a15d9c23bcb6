package meta

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Limits of the format.
const (
	MaxLayers        = 16   // metalayers in a frame header
	MaxVLLayersRead  = 8192 // variable-length metalayers that a trailer may hold
	MaxVLLayersWrite = 16   // variable-length metalayers that C-Blosc2 can write back; AppendTrailer keeps to it
	MaxNameLen       = 31   // bytes in the name of a layer
)

// Sizes in bytes of the fixed parts of a section and of a trailer.
const (
	entryLen       = 6                                            // of the map, without the name
	emptySection   = 10                                           // markers, idx_size and both counts
	trailerPrefix  = 2                                            // array marker and version
	fingerprintLen = 18                                           // fixext16 with its type
	trailerSuffix  = 5 + fingerprintLen                           // trailer_len and fingerprint
	emptyTrailer   = trailerPrefix + emptySection + trailerSuffix // 35
)

// Layer is one metalayer: a name and opaque bytes. By the convention of python-blosc2 the bytes are
// MessagePack (see Marshal), except for "b2nd" and "caterva" (see Array). In a trailer they are one
// Blosc2 chunk that holds them.
type Layer struct {
	Name    string // 1 to 31 bytes of any value
	Content []byte
}

// AppendHeader appends the metalayer section to a frame header and returns the extended slice. header
// must start at the frame start, because the offsets in the section are relative to it; usually it
// holds the 87 bytes of the fixed part. The field header_len inside that part is the caller's to fill.
// Errors wrap ErrLimit: more than MaxLayers layers, a name that is empty, too long or given twice, or
// more bytes than header_len can count; header is then returned as it was.
func AppendHeader(header []byte, layers []Layer) ([]byte, error) {
	size, err := sectionSize("header", layers, MaxLayers, len(header))
	if err != nil {
		return header, err
	}
	dst := grow(header, size)
	// Here idx_size counts from the array marker; in a trailer it starts one byte later.
	return appendSection(dst, 0, 1, layers), nil
}

// AppendTrailer appends a complete frame trailer, with the fields for its length and for a fingerprint
// (none), and returns the extended slice. Content is one Blosc2 chunk each. Errors wrap ErrLimit as in
// AppendHeader, with MaxVLLayersWrite as the count; dst is then returned as it was.
func AppendTrailer(dst []byte, layers []Layer) ([]byte, error) {
	size, err := sectionSize("trailer", layers, MaxVLLayersWrite, trailerPrefix+trailerSuffix)
	if err != nil {
		return dst, err
	}
	base := len(dst)
	dst = grow(dst, size+trailerPrefix+trailerSuffix)
	dst = append(dst, markFixArray+4, 1)
	dst = appendSection(dst, base, 0, layers)
	dst = appendUint32(dst, markUint32, len(dst)-base+trailerSuffix)
	var fingerprint [fingerprintLen]byte
	fingerprint[0] = markFixExt16
	return append(dst, fingerprint[:]...), nil
}

// sectionSize checks layers and returns the bytes of their section; extra are those around it.
func sectionSize(where string, layers []Layer, most, extra int) (int, error) {
	if len(layers) > most {
		return 0, fmt.Errorf("meta: %s: %d layers, at most %d: %w", where, len(layers), most, ErrLimit)
	}
	seen := make(map[string]bool, len(layers))
	size := int64(emptySection)
	for _, l := range layers {
		if len(l.Name) < 1 || len(l.Name) > MaxNameLen {
			return 0, fmt.Errorf("meta: %s: layer name %q is not 1 to %d bytes long: %w", where, l.Name, MaxNameLen, ErrLimit)
		}
		if seen[l.Name] {
			return 0, fmt.Errorf("meta: %s: two layers named %q: %w", where, l.Name, ErrLimit)
		}
		seen[l.Name] = true
		size += int64(entryLen+len(l.Name)+5) + int64(len(l.Content))
	}
	if size > math.MaxInt32-int64(extra) {
		return 0, fmt.Errorf("meta: %s: %d bytes of layers: %w", where, size, ErrLimit)
	}
	return int(size), nil
}

// grow makes room for n more bytes in one allocation.
func grow(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	return append(make([]byte, 0, len(dst)+n), dst...)
}

// appendSection appends a section that sectionSize has passed. Offsets count from dst[base];
// extra is added to idx_size.
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

// ParseHeader reads the metalayer section of a frame header. header is the whole header (header_len
// bytes from the frame start) and start the position of the section in it, 87. The contents are parts
// of header, not copies, and keep the order of the map.
//
// It accepts what C-Blosc2 accepts: idx_size and the array markers are not checked, contents may stand
// in any order, overlap or be shared, and names may be empty or repeated (the first of a name is the
// one that C-Blosc2 finds). Errors wrap ErrCorrupt, and ErrLimit as well for more than MaxLayers layers.
func ParseHeader(header []byte, start int) ([]Layer, error) {
	layers, err := parseSection("header", header, start, MaxLayers)
	return layers, err
}

// ParseTrailer reads a whole frame trailer, trailer_len bytes. The contents (one Blosc2 chunk each)
// are parts of trailer, not copies, and keep the order of the map. It is as tolerant as ParseHeader,
// with MaxVLLayersRead as the count; the fingerprint is ignored. The length field must agree with
// len(trailer). Errors wrap ErrCorrupt, and ErrLimit as well for too many layers.
func ParseTrailer(trailer []byte) ([]Layer, error) {
	if len(trailer) < emptyTrailer {
		return nil, fmt.Errorf("meta: trailer of %d bytes, at least %d: %w", len(trailer), emptyTrailer, ErrCorrupt)
	}
	tail := trailer[len(trailer)-trailerSuffix:]
	if n := binary.BigEndian.Uint32(tail[1:]); tail[0] != markUint32 || uint64(n) != uint64(len(trailer)) {
		return nil, fmt.Errorf("meta: trailer of %d bytes says it has %d (marker %#02x): %w", len(trailer), n, tail[0], ErrCorrupt)
	}
	layers, err := parseSection("trailer", trailer, trailerPrefix, MaxVLLayersRead)
	return layers, err
}

// parseSection reads the section at start. Offsets in it count from b[0].
func parseSection(where string, b []byte, start, most int) ([]Layer, error) {
	if start < 0 || start > len(b) {
		return nil, fmt.Errorf("meta: %s of %d bytes has no layer section at %d: %w", where, len(b), start, ErrCorrupt)
	}
	c := &cursor{b: b, pos: start}
	c.next(4) // array marker, idx_size with its marker: no reader checks them
	if m := c.byte(); c.err == nil && m != markMap16 {
		c.fail(errMarker)
	}
	n := int(c.uint16())
	if c.err != nil {
		return nil, fmt.Errorf("meta: %s: map of layers: %w: %w", where, c.err, ErrCorrupt)
	}
	if n > most {
		return nil, fmt.Errorf("meta: %s: %d layers, at most %d: %w: %w", where, n, most, ErrLimit, ErrCorrupt)
	}
	if n > c.left()/entryLen {
		return nil, fmt.Errorf("meta: %s: %d layers in %d bytes: %w", where, n, c.left(), ErrCorrupt)
	}
	layers := make([]Layer, n)
	for i := range layers {
		if err := parseEntry(c, &layers[i]); err != nil {
			return nil, fmt.Errorf("meta: %s: layer %d: %w: %w", where, i, err, ErrCorrupt)
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
		return fmt.Errorf("%q: content at %d of %d bytes", l.Name, off, len(c.b))
	}
	at := cursor{b: c.b, pos: off}
	if m := at.byte(); at.err == nil && m != markBin32 {
		at.fail(errMarker)
	}
	n := at.uint32()
	if at.err != nil {
		return fmt.Errorf("%q: content at %d: %w", l.Name, off, at.err)
	}
	if uint64(n) > uint64(at.left()) {
		return fmt.Errorf("%q: %d bytes of content with %d left", l.Name, n, at.left())
	}
	l.Content = at.next(int(n))
	return nil
}
