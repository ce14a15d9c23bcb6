// Package item converts stored items to numbers and to text.
package item

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// IsReal reports whether the items of a dtype are real numbers or booleans.
func IsReal(d meta.DType) bool {
	return d.Fields == nil && d.Elem == nil && d.Size <= 8 && strings.ContainsRune("biuf", rune(d.Kind))
}

// Numbers appends the items in data to dst. IsReal must be true for the dtype.
func Numbers(dst []float64, d meta.DType, data []byte) []float64 {
	dst = slices.Grow(dst, len(data)/d.Size)
	if d.Order == '>' && d.Size > 1 {
		return each(dst, d, data)
	}
	le := binary.LittleEndian
	switch string(d.Kind) + string(rune('0'+d.Size)) {
	case "f4":
		for i := 0; i < len(data); i += 4 {
			dst = append(dst, float64(math.Float32frombits(le.Uint32(data[i:]))))
		}
	case "f8":
		for i := 0; i < len(data); i += 8 {
			dst = append(dst, math.Float64frombits(le.Uint64(data[i:])))
		}
	case "u1", "b1":
		for _, b := range data {
			dst = append(dst, float64(b))
		}
	case "u2":
		for i := 0; i < len(data); i += 2 {
			dst = append(dst, float64(le.Uint16(data[i:])))
		}
	case "i2":
		for i := 0; i < len(data); i += 2 {
			dst = append(dst, float64(int16(le.Uint16(data[i:]))))
		}
	case "i4":
		for i := 0; i < len(data); i += 4 {
			dst = append(dst, float64(int32(le.Uint32(data[i:]))))
		}
	default:
		return each(dst, d, data)
	}
	return dst
}

// each is Numbers for any dtype.
func each(dst []float64, d meta.DType, data []byte) []float64 {
	for b := range slices.Chunk(data, d.Size) {
		dst = append(dst, Number(d, b))
	}
	return dst
}

// Number returns an item as a number. IsReal must be true for the dtype.
func Number(d meta.DType, b []byte) float64 {
	switch d.Kind {
	case 'f':
		return float(d, b)
	case 'i':
		return float64(signed(d, b))
	}
	return float64(unsigned(d, b))
}

// unsigned returns an integer, or the bits of a number, of up to 8 bytes.
func unsigned(d meta.DType, b []byte) uint64 {
	var word [8]byte
	copy(word[:], b)
	if d.Order == '>' {
		slices.Reverse(word[:len(b)])
	}
	return binary.LittleEndian.Uint64(word[:])
}

// signed returns a signed integer of up to 8 bytes.
func signed(d meta.DType, b []byte) int64 {
	shift := 64 - 8*len(b)
	return int64(unsigned(d, b)) << shift >> shift
}

// float returns a float of 2, 4 or 8 bytes.
func float(d meta.DType, b []byte) float64 {
	bits := unsigned(d, b)
	switch len(b) {
	case 2:
		return ndarray.Float16(bits).Float64()
	case 4:
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}
