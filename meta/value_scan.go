package meta

import (
	"errors"
	"fmt"
)

// The msgpack package allocates as much as a length field says and recurses as deep as the input. So bytes from files
// pass this check first. It walks over one value without storing anything. Afterwards all lengths are known to fit the
// input.

// scanValue checks that b is exactly one MessagePack value, with valid lengths and depth.
func scanValue(b []byte) error {
	c := &cursor{b: b}
	c.skip(0)
	if c.err == nil && c.left() > 0 {
		c.fail(fmt.Errorf("%d bytes after the value", c.left()))
	}
	if c.err != nil && !errors.Is(c.err, ErrTooLarge) {
		return fmt.Errorf("byte %d: %w: %w", c.pos, c.err, ErrCorrupt)
	}
	return c.err
}

// skip skips one value.
func (c *cursor) skip(depth int) {
	if depth > MaxValueDepth {
		c.fail(fmt.Errorf("more than %d levels of nesting: %w", MaxValueDepth, ErrTooLarge))
		return
	}
	// The lengths are unsigned. They are compared with the number of bytes left before they become ints.
	switch m := c.byte(); {
	case m < 0x80 || m >= 0xe0 || m == 0xc0 || m == 0xc2 || m == 0xc3: // integers, nil, false, true
	case m < 0x90:
		c.skipElements(2*uint64(m&0x0f), depth)
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
		c.skipElements(2*uint64(c.uint16()), depth)
	case m == 0xdf:
		c.skipElements(2*uint64(c.uint32()), depth)
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

// skipElements skips n values, each of at least one byte.
func (c *cursor) skipElements(n uint64, depth int) {
	if n > uint64(c.left()) {
		c.fail(errShort)
	}
	for ; n > 0 && c.err == nil; n-- {
		c.skip(depth + 1)
	}
}
