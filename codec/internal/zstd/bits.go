package zstd

import (
	"encoding/binary"
	"math/bits"
)

// ahead is a number of bytes that precede every stream of bits: at least the header of its frame. A word of a stream
// may begin up to 8 bytes before the stream, so that its beginning needs no special case. A reader that takes bits from
// there detects it at the end, because the number of remaining bits is wrong.
const ahead = 8

// bitReader reads a stream of bits, from the end of the stream to start in src. The last byte of the stream has a 1
// above its highest bit. word holds the 8 bytes at src[pos:], of which the low left bits are not read yet.
type bitReader struct {
	src   []byte
	start int
	pos   int
	word  uint64
	left  uint // bits
}

// init reports whether src[start:end] is a stream of bits. start must be at least ahead.
func (r *bitReader) init(src []byte, start, end int) bool {
	if end <= start || src[end-1] == 0 {
		return false
	}
	r.src, r.start, r.pos = src, start, end-8
	r.word = binary.LittleEndian.Uint64(src[end-8:])
	r.left = 63 - uint(bits.LeadingZeros8(src[end-1]))
	return true
}

// remaining returns the number of bits left to read. It is negative if too many were read.
func (r *bitReader) remaining() int { return 8*(r.pos-r.start) + int(r.left) }

// refill brings left to at least 57. pos must be at least start. Afterwards it may be up to 8 bytes less.
func (r *bitReader) refill() {
	n := (64 - r.left) / 8
	r.pos -= int(n)
	r.left += 8 * n
	r.word = binary.LittleEndian.Uint64(r.src[r.pos:])
}

// read returns the next n bits, at most 32. If the stream has fewer, it takes none and returns false.
func (r *bitReader) read(n uint) (uint64, bool) {
	if int(n) > r.remaining() {
		return 0, false
	}
	if r.left < n {
		r.refill()
	}
	r.left -= n
	return r.word >> r.left & (1<<n - 1), true
}
