// Package float16 converts between float16, the 16-bit binary format of IEEE 754, and Go's floats.
package float16

import (
	"math"
	"strconv"
	"unsafe"
)

// Float16 holds the bits of a float16.
type Float16 uint16

// Of returns the Float16 nearest to x and rounds ties to even. It returns an infinity from 65520 up, and a zero up to
// 2^-25. A NaN keeps its sign and the upper ten bits of its payload; if these are zero, the payload becomes 1.
func Of[F ~float32 | ~float64](x F) Float16 {
	if x == x {
		return round(math.Float64bits(float64(x)))
	}
	// A conversion to float64 would make signaling NaNs quiet.
	var sign, payload uint16
	if unsafe.Sizeof(x) == 4 {
		// Safe: x has four bytes and the alignment of float32, which is that of uint32.
		b := *(*uint32)(unsafe.Pointer(&x))
		sign, payload = uint16(b>>16), uint16(b>>13)
	} else {
		// Safe: F is float32 or float64, so x has eight bytes here, and the alignment of float64, which is that of
		// uint64.
		b := *(*uint64)(unsafe.Pointer(&x))
		sign, payload = uint16(b>>48), uint16(b>>42)
	}
	return Float16(sign&0x8000 | 0x7c00 | max(payload&0x3ff, 1))
}

// round rounds the float64 with the bits b, which is not a NaN.
func round(b uint64) Float16 {
	const (
		drop     = 52 - 10           // bits of fraction that are dropped
		rebias   = (1023 - 15) << 52 // between the exponents
		overflow = 0x40effe00 << 32  // 65520
		normal   = 0x3f10 << 48      // 2^-14
		least    = 0x3e60 << 48      // 2^-25
	)
	sign := Float16(b >> 48 & 0x8000)
	switch b &^= 1 << 63; {
	case b >= overflow:
		return sign | 0x7c00
	case b >= normal: // rounding up may carry into the exponent, as it should
		return sign | Float16((b-rebias+1<<(drop-1)-1+b>>drop&1)>>drop)
	case b <= least:
		return sign
	}
	shift := 1023 + 28 - b>>52
	m := b&(1<<52-1) | 1<<52
	return sign | Float16((m+1<<(shift-1)-1+m>>shift&1)>>shift)
}

// Float32 returns the same number. A NaN keeps its sign and payload.
func (h Float16) Float32() float32 { return math.Float32frombits(h.bits32()) }

// Float64 returns the same number. A NaN keeps its sign and payload but becomes quiet.
func (h Float16) Float64() float64 { return float64(h.Float32()) }

// bits32 returns the bits of the same float32.
func (h Float16) bits32() uint32 {
	sign, exponent, fraction := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0:
		return sign | math.Float32bits(float32(fraction)*(1.0/(1<<24)))
	case 0x1f:
		return sign | 0x7f800000 | fraction<<13
	}
	return sign | (exponent+127-15)<<23 | fraction<<13
}

// String returns the number with the fewest digits that identify it, as NumPy prints it.
func (h Float16) String() string {
	x := h.Float64()
	// Halfway between texts, the one away from zero may identify a power of two, as there numbers are farther apart.
	away := math.Nextafter(x, math.Copysign(math.Inf(1), x))
	for digits := 1; digits < 5; digits++ {
		for _, near := range [...]float64{x, away} {
			y, err := strconv.ParseFloat(strconv.FormatFloat(near, 'e', digits-1, 64), 64)
			if err == nil && Of(y) == h {
				return strconv.FormatFloat(y, 'g', 5, 64)
			}
		}
	}
	return strconv.FormatFloat(x, 'g', 5, 64)
}
