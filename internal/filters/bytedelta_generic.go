package filters

import "encoding/binary"

// High bits of the bytes of a word, and ones in its fields of 16 bits.
const (
	highBits = 0x8080808080808080
	ones16   = 0x0001000100010001
)

// byteDiffGeneric writes dst[i] = src[i] - src[i-1], with 0 before the first byte, except for the first bytes up to from,
// which another kernel has done. Both have the same length and do not overlap.
func byteDiffGeneric(dst, src []byte, from int) {
	dst = dst[:len(src)]
	le := binary.LittleEndian
	last := uint64(0) // the byte before
	if from > 0 {
		last = uint64(src[from-1])
	}
	i := from
	for ; i <= len(src)-8; i += 8 {
		x := le.Uint64(src[i : i+8])
		y := x<<8 | last
		// Eight subtractions in one: with its high bit set no byte borrows from the next; that bit is put right after.
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

// byteSumGeneric undoes byteDiffGeneric: dst[i] = dst[i-1] + src[i], except for the first bytes up to from, which another
// kernel has done. Both have the same length; dst may be src.
//
// The even and the odd bytes of a word are summed apart, in fields of 16 bits, where a multiplication by ones gives
// all prefix sums at once and no field overflows into the next.
func byteSumGeneric(dst, src []byte, from int) {
	dst = dst[:len(src)]
	le := binary.LittleEndian
	sum := uint64(0) // of all bytes before; only its low byte matters
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
