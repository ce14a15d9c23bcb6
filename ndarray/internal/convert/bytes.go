package convert

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
)

// Bytes returns the memory of s.
//
// Safe: the result has as many bytes as the elements of s. T must have no pointers if the caller writes to it.
func Bytes[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// Foreign reports whether the numbers of a dtype are stored in the byte order that is not native to the machine.
func Foreign(d meta.DType) bool {
	little := binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	return d.Order == '<' && !little || d.Order == '>' && little
}

// ToNative converts stored scalars to Go's representation in place: numbers to the byte order of the machine, and true
// booleans to 1.
func ToNative(d meta.DType, b []byte) {
	if d.Kind == 'b' {
		for i, x := range b {
			if x > 1 {
				b[i] = 1
			}
		}
	}
	if !Foreign(d) {
		return
	}
	swap(b, swapWidth(d))
}

// Stored returns scalars as they are stored: the memory of data, or a copy in the other byte order.
func Stored[T any](d meta.DType, data []T) []byte {
	b := Bytes(data)
	if Foreign(d) {
		b = append([]byte(nil), b...)
		ToNative(d, b)
	}
	return b
}

// One returns the item 1 of a dtype, as it is stored. It returns ErrType for a dtype without a number 1.
func One(d meta.DType) ([]byte, error) {
	b := make([]byte, d.Size) // little-endian
	width := d.Size
	le := binary.LittleEndian
	switch {
	case d.Fields != nil || d.Elem != nil:
		width = 0
	case d.Kind == 'b' || d.Kind == 'i' || d.Kind == 'u':
		b[0] = 1
	case d.Kind == 'f' && d.Size == 2:
		le.PutUint16(b, 0x3c00)
	case d.Kind == 'f' && d.Size == 4 || d.Kind == 'c' && d.Size == 8:
		le.PutUint32(b, math.Float32bits(1))
		width = 4
	case d.Kind == 'f' && d.Size == 8 || d.Kind == 'c' && d.Size == 16:
		le.PutUint64(b, math.Float64bits(1))
		width = 8
	default:
		width = 0
	}
	if width == 0 {
		return nil, fmt.Errorf("ndarray: %w: dtype %v has no number 1", errs.ErrType, d)
	}
	if d.Order == '>' {
		slices.Reverse(b[:width])
	}
	return b, nil
}

// swap reverses the bytes of each number of width bytes.
func swap(b []byte, width int) {
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

// load16 reads a number in the given byte order.
func load16(b []byte, big bool) uint16 {
	if big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

// load32 reads a number in the given byte order.
func load32(b []byte, big bool) uint32 {
	if big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// load64 reads a number in the given byte order.
func load64(b []byte, big bool) uint64 {
	if big {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// store16 writes a number in the given byte order.
func store16(b []byte, x uint16, big bool) {
	if big {
		x = bits.ReverseBytes16(x)
	}
	binary.LittleEndian.PutUint16(b, x)
}

// store32 writes a number in the given byte order.
func store32(b []byte, x uint32, big bool) {
	if big {
		x = bits.ReverseBytes32(x)
	}
	binary.LittleEndian.PutUint32(b, x)
}

// store64 writes a number in the given byte order.
func store64(b []byte, x uint64, big bool) {
	if big {
		x = bits.ReverseBytes64(x)
	}
	binary.LittleEndian.PutUint64(b, x)
}
