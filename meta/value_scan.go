package meta

import (
	"errors"
	"fmt"
)

// The msgpack package allocates as much as a length field says and recurses as deep as the input. So bytes from files
// pass this check first. It walks over one value without storing anything. Afterwards all lengths are known to fit the
// input.

// Bytes of memory that decoding takes at most: for a value, and for a map that is not empty besides its values.
const (
	valueMemory = 64
	mapMemory   = 512
)

// scanner walks over values and counts them.
type scanner struct {
	cursor
	values, maps int64
}

// scanValue checks that b is exactly one MessagePack value, with valid lengths and depth. It returns the number of
// bytes of memory that decoding the value takes at most.
func scanValue(b []byte) (memory int64, err error) {
	c := &scanner{cursor: cursor{b: b}}
	c.skip(0)
	if c.err == nil && c.left() > 0 {
		c.fail(fmt.Errorf("%d bytes after the value", c.left()))
	}
	if c.err != nil && !errors.Is(c.err, ErrTooLarge) {
		return 0, fmt.Errorf("byte %d: %w: %w", c.pos, c.err, ErrCorrupt)
	}
	return int64(len(b)) + valueMemory*c.values + mapMemory*c.maps, c.err
}

// skip skips one value.
func (c *scanner) skip(depth int) {
	if depth > MaxValueDepth {
		c.fail(fmt.Errorf("more than %d levels of nesting: %w", MaxValueDepth, ErrTooLarge))
		return
	}
	c.values++
	// The lengths are unsigned. They are compared with the number of bytes left before they become ints.
	switch m := c.byte(); {
	case m < 0x80 || m >= 0xe0 || m == 0xc0 || m == 0xc2 || m == 0xc3: // integers, nil, false, true
	case m < 0x90:
		c.skipMap(uint64(m&0x0f), depth)
	case m < 0xa0:
		c.skipElements(uint64(m&0x0f), depth)
	case m < 0xc0:
		c.skipBytes(uint64(m & 0x1f))
	case m == markUint8 || m == markInt8:
		c.skipBytes(1)
	case m == markUint16 || m == markInt16:
		c.skipBytes(2)
	case m == 0xca || m == markUint32 || m == markInt32: // 0xca: float of 32 bits
		c.skipBytes(4)
	case m == 0xcb || m == markUint64 || m == markInt64:
		c.skipBytes(8)
	case m == 0xc4 || m == markStr8: // 0xc4 to 0xc6: bytes
		c.skipBytes(uint64(c.byte()))
	case m == 0xc5 || m == markStr16:
		c.skipBytes(uint64(c.uint16()))
	case m == markBin32 || m == markStr32:
		c.skipBytes(uint64(c.uint32()))
	case m == 0xc7: // to 0xc9: extensions, with a byte for the type
		c.skipBytes(uint64(c.byte()) + 1)
	case m == 0xc8:
		c.skipBytes(uint64(c.uint16()) + 1)
	case m == 0xc9:
		c.skipBytes(uint64(c.uint32()) + 1)
	case m >= 0xd4 && m <= markFixExt16:
		c.skipBytes(1<<(m-0xd4) + 1)
	case m == markArray16:
		c.skipElements(uint64(c.uint16()), depth)
	case m == markArray32:
		c.skipElements(uint64(c.uint32()), depth)
	case m == markMap16:
		c.skipMap(uint64(c.uint16()), depth)
	case m == 0xdf:
		c.skipMap(uint64(c.uint32()), depth)
	default: // 0xc1 has no meaning
		c.fail(errMarker)
	}
}

func (c *cursor) skipBytes(n uint64) {
	if n > uint64(c.left()) {
		c.fail(errShort)
		return
	}
	c.next(int(n))
}

// skipMap skips n keys with their values.
func (c *scanner) skipMap(n uint64, depth int) {
	if n > 0 {
		c.maps++
	}
	c.skipElements(2*n, depth)
}

// skipElements skips n values, each of at least one byte.
func (c *scanner) skipElements(n uint64, depth int) {
	if n > uint64(c.left()) {
		c.fail(errShort)
	}
	for ; n > 0 && c.err == nil; n-- {
		c.skip(depth + 1)
	}
}
