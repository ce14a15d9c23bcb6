package convert

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/numbers"
)

// Bytes returns the memory of s.
//
// Safe: the result has as many bytes as the elements of s. T must have no pointers if the caller writes to it.
func Bytes[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// Foreign reports whether the numbers of a dtype are stored in the byte order that is not native to the machine.
func Foreign(d meta.DType) bool {
	return d.Order == '<' && numbers.BigEndian || d.Order == '>' && !numbers.BigEndian
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
	numbers.Swap(b, swapWidth(d))
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
