package meta

import (
	"encoding/binary"
	"errors"
)

// MessagePack markers that this package writes or reads by hand.
const (
	markFixArray = 0x90
	markFixStr   = 0xa0
	markBin32    = 0xc6
	markUint8    = 0xcc
	markUint16   = 0xcd
	markUint32   = 0xce
	markUint64   = 0xcf
	markInt8     = 0xd0
	markInt16    = 0xd1
	markInt32    = 0xd2
	markInt64    = 0xd3
	markFixExt16 = 0xd8
	markStr8     = 0xd9
	markStr16    = 0xda
	markStr32    = 0xdb
	markArray16  = 0xdc
	markArray32  = 0xdd
	markMap16    = 0xde
)

// Frames require one fixed width per field, whatever the value, so that a field can be rewritten in place. General
// encoders choose the shortest form; these helpers do not.

func appendUint16(dst []byte, mark byte, v int) []byte {
	return binary.BigEndian.AppendUint16(append(dst, mark), uint16(v))
}

func appendUint32(dst []byte, mark byte, v int) []byte {
	return binary.BigEndian.AppendUint32(append(dst, mark), uint32(v))
}

func appendInt64(dst []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, markInt64), uint64(v))
}

// Errors of a cursor. The callers wrap them with ErrCorrupt and the location.
var (
	errShort     = errors.New("truncated")
	errMarker    = errors.New("unexpected marker")
	errIntRange  = errors.New("integer out of range")
	errStrLength = errors.New("string longer than its container")
)

// cursor reads big-endian fields and never reads after the end of b. After the first error all reads return zero and
// err keeps its value, so that several reads need one check.
type cursor struct {
	b   []byte
	pos int // 0 <= pos <= len(b)
	err error
}

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// left returns the number of bytes that remain.
func (c *cursor) left() int { return len(c.b) - c.pos }

// next returns the next n bytes as a part of b, or nil if there are fewer.
func (c *cursor) next(n int) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > c.left() {
		c.fail(errShort)
		return nil
	}
	p := c.b[c.pos : c.pos+n : c.pos+n]
	c.pos += n
	return p
}

func (c *cursor) byte() byte {
	p := c.next(1)
	if p == nil {
		return 0
	}
	return p[0]
}

func (c *cursor) uint16() uint16 {
	p := c.next(2)
	if p == nil {
		return 0
	}
	return binary.BigEndian.Uint16(p)
}

func (c *cursor) uint32() uint32 {
	p := c.next(4)
	if p == nil {
		return 0
	}
	return binary.BigEndian.Uint32(p)
}

func (c *cursor) uint64() uint64 {
	p := c.next(8)
	if p == nil {
		return 0
	}
	return binary.BigEndian.Uint64(p)
}

// int reads an integer of any MessagePack form and checks that it is within 0..hi.
func (c *cursor) int(hi int64) int64 {
	var v int64
	switch m := c.byte(); {
	case m < 0x80:
		v = int64(m)
	case m >= 0xe0:
		v = int64(int8(m))
	case m == markUint8:
		v = int64(c.byte())
	case m == markUint16:
		v = int64(c.uint16())
	case m == markUint32:
		v = int64(c.uint32())
	case m == markUint64:
		u := c.uint64()
		if u > 1<<63-1 {
			c.fail(errIntRange)
		}
		v = int64(u)
	case m == markInt8:
		v = int64(int8(c.byte()))
	case m == markInt16:
		v = int64(int16(c.uint16()))
	case m == markInt32:
		v = int64(int32(c.uint32()))
	case m == markInt64:
		v = int64(c.uint64())
	default:
		c.fail(errMarker)
	}
	if c.err == nil && (v < 0 || v > hi) {
		c.fail(errIntRange)
	}
	if c.err != nil {
		return 0
	}
	return v
}

// str reads a string of any MessagePack form.
func (c *cursor) str() string {
	var n uint32
	switch m := c.byte(); {
	case m&0xe0 == markFixStr:
		n = uint32(m & 0x1f)
	case m == markStr8:
		n = uint32(c.byte())
	case m == markStr16:
		n = uint32(c.uint16())
	case m == markStr32:
		n = c.uint32()
	default:
		c.fail(errMarker)
	}
	if c.err == nil && uint64(n) > uint64(c.left()) {
		c.fail(errStrLength)
	}
	return string(c.next(int(n)))
}
