package filters

import "encoding/binary"

// Masks of the high bit of each byte of a word, and of the low bit of each field of 16 bits.
const (
	highBits = 0x8080808080808080
	ones16   = 0x0001000100010001
)

// byteDiffGeneric writes dst[i] = src[i] - src[i-1], with 0 before the first byte, for i from from up. Another kernel
// has processed the bytes before from. dst and src have the same length and do not overlap.
func byteDiffGeneric(dst, src []byte, from int) {
	dst = dst[:len(src)]
	le := binary.LittleEndian
	last := uint64(0) // the previous byte
	if from > 0 {
		last = uint64(src[from-1])
	}
	i := from
	for ; i <= len(src)-8; i += 8 {
		x := le.Uint64(src[i : i+8])
		y := x<<8 | last
		// Eight subtractions in one. A byte with its high bit set does not borrow from the next. The XOR below corrects
		// that bit.
		d := (x | highBits) - y&^highBits
		le.PutUint64(dst[i:i+8], d^(x^^y)&highBits)
		last = x >> 56
	}
	b := byte(last)
	for ; i < len(src); i++ {
		dst[i] = src[i] - b
		b = src[i]
	}
}

// byteSumGeneric undoes byteDiffGeneric: dst[i] = dst[i-1] + src[i], for i from from up. Another kernel has processed
// the bytes before from. dst and src have the same length, and dst may be src.
//
// It sums the even and the odd bytes of a word separately, in fields of 16 bits. A multiplication by ones16 yields all
// prefix sums at once, and no field overflows into the next.
func byteSumGeneric(dst, src []byte, from int) {
	dst = dst[:len(src)]
	le := binary.LittleEndian
	sum := uint64(0) // sum of all previous bytes; only its low byte matters
	if from > 0 {
		sum = uint64(dst[from-1])
	}
	i := from
	for ; i <= len(src)-8; i += 8 {
		x := le.Uint64(src[i : i+8])
		even := (x & bytes1) * ones16
		odd := (x >> 8 & bytes1) * ones16
		before := (sum & 0xff) * ones16
		lo := even + odd<<16 + before
		hi := even + odd + before
		le.PutUint64(dst[i:i+8], lo&bytes1|hi&bytes1<<8)
		sum += (even + odd) >> 48
	}
	b := byte(sum)
	for ; i < len(src); i++ {
		b += src[i]
		dst[i] = b
	}
}
