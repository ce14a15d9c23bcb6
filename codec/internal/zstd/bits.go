package zstd

import (
	"encoding/binary"
	"math/bits"
)

// ahead is how many bytes stand before any stream of bits: the header of its frame, at least. A word of a stream may
// begin up to 8 bytes before the stream, so that nothing special is needed near its beginning; who takes bits from
// there finds out in the end, as not all bits are left that should be.
const ahead = 8

// bitReader reads a stream of bits, from the end of the stream to start in src. The last byte of the stream has a 1
// above its highest bit. word holds the 8 bytes of src from pos on, of which the low left bits are still to be read.
type bitReader struct {
	src   []byte
	start int
	pos   int
	word  uint64
	left  uint // bits
}

// init reports whether src[start:end] is a stream of bits. start is not less than ahead.
func (r *bitReader) init(src []byte, start, end int) bool {
	if end <= start || src[end-1] == 0 {
		return false
	}
	r.src, r.start, r.pos = src, start, end-8
	r.word = binary.LittleEndian.Uint64(src[end-8:])
	r.left = 63 - uint(bits.LeadingZeros8(src[end-1]))
	return true
}

// remaining returns how many bits are to be read. It is negative when too many were.
func (r *bitReader) remaining() int { return 8*(r.pos-r.start) + int(r.left) }

// refill brings left to 57 or more. pos must not be less than start before; it may be up to 8 bytes less then.
func (r *bitReader) refill() {
	n := (64 - r.left) / 8
	r.pos -= int(n)
	r.left += 8 * n
	r.word = binary.LittleEndian.Uint64(r.src[r.pos:])
}

// read returns the next n bits, at most 32. Where the stream has less it takes none and returns false.
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
