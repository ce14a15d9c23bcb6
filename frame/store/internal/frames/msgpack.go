package frames

import (
	"encoding/binary"

	"github.com/goblosc/blosc2/frame/store/internal/faults"
)

// This file finds the values in MessagePack without decoding them.

// SkipValues returns the number of bytes of the first n MessagePack values in b. It uses no memory, whatever the
// nesting.
func SkipValues(b []byte, n int64) (int, error) {
	at := 0
	for ; n > 0; n-- {
		if at >= len(b) {
			return 0, faults.Corruptf("MessagePack ends at byte %d inside a value", at)
		}
		size, values, err := valueHeader(b[at:])
		if err != nil {
			return 0, err
		}
		if size > int64(len(b)-at) || values > int64(len(b)-at) { // each value has at least one byte
			return 0, faults.Corruptf("MessagePack ends inside a value that starts at byte %d", at)
		}
		at += int(size)
		n += values
	}
	return at, nil
}

// valueHeader returns the number of bytes of the value at the start of b, without the values that it contains, and the
// number of those.
func valueHeader(b []byte) (size, values int64, err error) {
	switch c := b[0]; {
	case c <= 0x7f, c >= 0xe0, c == 0xc0, c == 0xc2, c == 0xc3: // small integers, nil, false, true
		return 1, 0, nil
	case c <= 0x8f:
		return 1, 2 * int64(c&15), nil
	case c <= 0x9f:
		return 1, int64(c & 15), nil
	case c <= 0xbf:
		return 1 + int64(c&31), 0, nil
	case c == 0xc1:
		return 0, 0, faults.Corruptf("MessagePack byte c1")
	case c <= 0xc6: // bin
		n, w, err := lengthField(b, 1<<(c-0xc4))
		return w + n, 0, err
	case c <= 0xc9: // ext
		n, w, err := lengthField(b, 1<<(c-0xc7))
		return w + n + 1, 0, err
	case c <= 0xcb: // floats
		return 1 + 4<<(c-0xca), 0, nil
	case c <= 0xcf: // unsigned integers
		return 1 + 1<<(c-0xcc), 0, nil
	case c <= 0xd3: // integers
		return 1 + 1<<(c-0xd0), 0, nil
	case c <= 0xd8: // fixext
		return 2 + 1<<(c-0xd4), 0, nil
	case c <= 0xdb: // str
		n, w, err := lengthField(b, 1<<(c-0xd9))
		return w + n, 0, err
	case c <= 0xdd: // arrays
		n, w, err := lengthField(b, 2<<(c-0xdc))
		return w, n, err
	default: // maps
		n, w, err := lengthField(b, 2<<(c-0xde))
		return w, 2 * n, err
	}
}

// lengthField reads the length after the first byte of a value. It returns the number of bytes up to its end, too.
func lengthField(b []byte, width int) (n, end int64, err error) {
	if len(b) < 1+width {
		return 0, 0, faults.Corruptf("MessagePack ends inside a length")
	}
	switch width {
	case 1:
		n = int64(b[1])
	case 2:
		n = int64(binary.BigEndian.Uint16(b[1:]))
	default:
		n = int64(binary.BigEndian.Uint32(b[1:]))
	}
	return n, int64(1 + width), nil
}

// ArrayHeader returns the number of elements of the MessagePack array b, and its bytes after the header.
func ArrayHeader(b []byte) (n int64, rest []byte, err error) {
	if len(b) == 0 || b[0]&0xf0 != 0x90 && b[0] != 0xdc && b[0] != 0xdd {
		return 0, nil, faults.Corruptf("not a MessagePack array")
	}
	size, n, err := valueHeader(b)
	if err != nil {
		return 0, nil, err
	}
	if rest = b[size:]; n > int64(len(rest)) {
		return 0, nil, faults.Corruptf("MessagePack array of %d elements in %d bytes", n, len(rest))
	}
	return n, rest, nil
}
