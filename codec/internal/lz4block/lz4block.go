// Package lz4block holds the parts that all writers of LZ4 blocks share.
//
// An LZ4 block is a sequence of
//
//	token, more literal length, literals, distance (2 bytes, little-endian), more match length
//
// The high half of the token is the number of literals. The low half is the match length less 4. If one of them is 15,
// more bytes follow, which are added to it; the last of these is the first one below 255. The block ends after the
// literals of its last sequence, of which there are at least 5. No match starts in its last 12 bytes.
package lz4block

import (
	"encoding/binary"
	"math/bits"
)

// Limits of the format and of the C library.
const (
	MinMatch    = 4
	MinLength   = 13         // shorter inputs are all literals
	TailLength  = 12         // no match starts in the last bytes
	LastBytes   = 5          // no match covers these last bytes
	MaxDistance = 65535      // of a match
	MaxLength   = 0x7E000000 // of the input
)

// Finish writes the last literals at dst[out:] and returns the length of the block, or 0 if it does not fit.
func Finish(dst []byte, out int, literals []byte) int {
	n := len(literals)
	if 1+n+(n+240)/255 > len(dst)-out {
		return 0
	}
	out = PutToken(dst, out, n)
	return out + copy(dst[out:], literals)
}

// PutToken writes a token for n literals and no match yet at dst[out:], and the bytes of their length. It returns the
// offset for the literals.
func PutToken(dst []byte, out, n int) int {
	if n < 15 {
		dst[out] = byte(n << 4)
		return out + 1
	}
	dst[out] = 15 << 4
	return PutLength(dst, out+1, n-15)
}

// PutLength writes the bytes of a length above 14, of which 15 are in the token, at dst[out:] and returns their end.
func PutLength(dst []byte, out, n int) int {
	for ; n >= 255; n -= 255 {
		dst[out] = 255
		out++
	}
	dst[out] = byte(n)
	return out + 1
}

// MatchLength returns the length of a match of src[a:] with src[b:], for b < a. Its first 4 bytes are known to be
// equal.
func MatchLength(src []byte, a, b int) int {
	start, limit := a, len(src)-LastBytes
	a += MinMatch
	b += MinMatch
	for a <= limit-8 {
		if x := Load64(src, a) ^ Load64(src, b); x != 0 {
			return a + bits.TrailingZeros64(x)/8 - start
		}
		a += 8
		b += 8
		// Long matches are compared in larger steps, with a vectorized comparison.
		for a-start >= 32 && a <= limit-64 && string(src[a:a+64]) == string(src[b:b+64]) {
			a += 64
			b += 64
		}
	}
	for a < limit && src[a] == src[b] {
		a++
		b++
	}
	return a - start
}

// Load16 returns the little-endian integer in the 2 bytes at b[i:].
func Load16(b []byte, i int) uint16 { return binary.LittleEndian.Uint16(b[i : i+2]) }

// Load32 returns the little-endian integer in the 4 bytes at b[i:].
func Load32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[i : i+4]) }

// Load64 returns the little-endian integer in the 8 bytes at b[i:].
func Load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8]) }
