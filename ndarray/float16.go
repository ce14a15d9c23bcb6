package ndarray

import (
	"math"
	"strconv"
	"unsafe"
)

// Float16 is a number of NumPy's float16, the 16-bit binary format of IEEE 754: one bit of sign, five of exponent
// and ten of fraction, for about three digits up to 65504. It holds these bits, so that == compares bits and not
// numbers; convert it to calculate.
type Float16 uint16

// Float16Of returns the Float16 nearest to x, of two the even one: an infinity from 65520 on, a zero up to 2^-25.
// A NaN stays one, with its sign and the upper ten bits of its payload; where these are zero, with a payload of 1.
func Float16Of[F ~float32 | ~float64](x F) Float16 {
	if x == x {
		return roundFloat16(math.Float64bits(float64(x)))
	}
	// Not by way of float64, which would make signaling NaNs quiet ones.
	var sign, payload uint16
	if unsafe.Sizeof(x) == 4 {
		b := *(*uint32)(unsafe.Pointer(&x))
		sign, payload = uint16(b>>16), uint16(b>>13)
	} else {
		b := *(*uint64)(unsafe.Pointer(&x))
		sign, payload = uint16(b>>48), uint16(b>>42)
	}
	return Float16(sign&0x8000 | 0x7c00 | max(payload&0x3ff, 1))
}

// roundFloat16 rounds the float64 with the bits b, which is no NaN.
func roundFloat16(b uint64) Float16 {
	const (
		drop     = 52 - 10           // bits of fraction that go
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

// Float32 returns the same number; a NaN with the same sign and payload.
func (h Float16) Float32() float32 { return math.Float32frombits(h.bits32()) }

// Float64 returns the same number; a NaN with the same sign and payload, though a quiet one.
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

// String returns the number in as few digits as tell it from other Float16s, as NumPy prints it.
func (h Float16) String() string {
	x := h.Float64()
	for digits := 1; digits < 5; digits++ {
		y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
		if err == nil && Float16Of(y) == h {
			x = y
			break
		}
	}
	return strconv.FormatFloat(x, 'g', 5, 64)
}
