package numbers

import (
	"encoding/binary"
	"math/bits"
)

// Swap reverses the bytes of each number of width bytes. For a single number, such as a field of an item, it is faster
// than swapTo, which is faster for many.
func Swap(b []byte, width int) {
	n := binary.NativeEndian
	switch width {
	case 2:
		for ; len(b) >= 2; b = b[2:] {
			n.PutUint16(b, bits.ReverseBytes16(n.Uint16(b)))
		}
	case 4:
		for ; len(b) >= 4; b = b[4:] {
			n.PutUint32(b, bits.ReverseBytes32(n.Uint32(b)))
		}
	case 8:
		for ; len(b) >= 8; b = b[8:] {
			n.PutUint64(b, bits.ReverseBytes64(n.Uint64(b)))
		}
	}
}

// Load16 reads a number in the given byte order.
func Load16(b []byte, big bool) uint16 {
	if big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

// Load32 reads a number in the given byte order.
func Load32(b []byte, big bool) uint32 {
	if big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// Load64 reads a number in the given byte order.
func Load64(b []byte, big bool) uint64 {
	if big {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// Store16 writes a number in the given byte order.
func Store16(b []byte, x uint16, big bool) {
	if big {
		x = bits.ReverseBytes16(x)
	}
	binary.LittleEndian.PutUint16(b, x)
}

// Store32 writes a number in the given byte order.
func Store32(b []byte, x uint32, big bool) {
	if big {
		x = bits.ReverseBytes32(x)
	}
	binary.LittleEndian.PutUint32(b, x)
}

// Store64 writes a number in the given byte order.
func Store64(b []byte, x uint64, big bool) {
	if big {
		x = bits.ReverseBytes64(x)
	}
	binary.LittleEndian.PutUint64(b, x)
}
