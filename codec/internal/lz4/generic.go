package lz4

import (
	"encoding/binary"
	"math/bits"
)

// encodeGeneric writes all sequences of a block but the last literals. It reports whether there was room.
//
// The loop is one function, as every sequence passes through it.
func encodeGeneric[T uint16 | uint32](b *block, table *[1 << smallBits]T, factor uint64, shift uint) bool {
	src, dst, base := b.src, b.dst, b.base
	pos, match, anchor, out := b.pos, b.match, b.anchor, b.out
	lastStart := len(src) - tailLength
	found := b.found
	for {
		if !found {
			// The next position is loaded ahead of the steps.
			next, step, steps := pos, 1, b.steps
			value := load64(src, next)
			for {
				slot := &table[value*factor>>(shift&63)&(1<<smallBits-1)]
				pos = next
				next += step
				step = steps >> stepBits
				steps++
				if next > lastStart+1 {
					b.anchor, b.out = anchor, out
					return true
				}
				want := uint32(value)
				value = load64(src, next)
				match = max(int(*slot)-base, 0)
				*slot = T(pos + base)
				if load32(src, match) == want && pos-match <= maxDistance {
					break
				}
			}
		}
		found = false
		back := min(pos-anchor, match)
		for back > 0 && src[pos-1] == src[match-1] {
			pos--
			match--
			back--
		}
		n := pos - anchor
		if n/255+n+9 > len(dst)-out {
			return false
		}
		token := out
		out++
		if n >= 15 {
			dst[token] = 15 << 4
			out = putLength(dst, out, n-15)
		} else {
			dst[token] = byte(n << 4)
		}
		if n <= 16 && 16 <= len(dst)-out && 16 <= len(src)-anchor {
			// A fixed length spares a call; what is copied too much is overwritten later.
			copy(dst[out:out+16], src[anchor:anchor+16])
			out += n
		} else {
			out += copy(dst[out:], src[anchor:pos])
		}
		for {
			distance := pos - match
			dst[out] = byte(distance)
			dst[out+1] = byte(distance >> 8)
			out += 2
			n := common(src, pos+minMatch, match+minMatch, len(src)-lastBytes)
			pos += minMatch + n
			if (n+240)/255+6 > len(dst)-out {
				return false
			}
			if n >= 15 {
				dst[token] |= 15
				out = putLength(dst, out, n-15)
			} else {
				dst[token] |= byte(n)
			}
			anchor = pos
			if pos > lastStart {
				b.anchor, b.out = anchor, out
				return true
			}
			table[load64(src, pos-2)*factor>>(shift&63)&(1<<smallBits-1)] = T(pos - 2 + base)
			// A match may follow at once.
			value := load64(src, pos)
			slot := &table[value*factor>>(shift&63)&(1<<smallBits-1)]
			match = max(int(*slot)-base, 0)
			*slot = T(pos + base)
			if pos-match > maxDistance || load32(src, match) != uint32(value) {
				break
			}
			token = out // there is room, as 6 bytes were left above
			dst[token] = 0
			out++
		}
		pos++
	}
}

// finish writes the last literals and returns the length of the block, or 0 when it does not fit.
func (b *block) finish() int {
	literals := b.src[b.anchor:]
	n := len(literals)
	if 1+n+(n+240)/255 > len(b.dst)-b.out {
		return 0
	}
	token := b.out
	b.out++
	if n >= 15 {
		b.dst[token] = 15 << 4
		b.out = putLength(b.dst, b.out, n-15)
	} else {
		b.dst[token] = byte(n << 4)
	}
	b.out += copy(b.dst[b.out:], literals)
	return b.out
}

// putLength writes the bytes of a length above 14 at dst[out:] and returns their end.
func putLength(dst []byte, out, n int) int {
	for ; n >= 255; n -= 255 {
		dst[out] = 255
		out++
	}
	dst[out] = byte(n)
	return out + 1
}

// common returns how many bytes of src from a on equal those from b on, b < a, up to position limit.
func common(src []byte, a, b, limit int) int {
	start := a
	for a <= limit-8 {
		if x := load64(src, a) ^ load64(src, b); x != 0 {
			return a + bits.TrailingZeros64(x)/8 - start
		}
		a += 8
		b += 8
		// Long matches go by larger steps; the comparison is a vectorized one.
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

func load32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[i : i+4]) }
func load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8]) }
