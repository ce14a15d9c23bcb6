package blosclz

import (
	"encoding/binary"
	"math/bits"
)

// findGeneric is find without vectors.
func (e *Encoder) findGeneric(src []byte, hashBits uint, pos, limit, minFar int) (at, ref, end int) {
	shift := 32 - hashBits
	for ; pos < limit; pos++ {
		seq := binary.LittleEndian.Uint32(src[pos:])
		slot := &e.table[seq*hashFactor>>(shift&31)&(1<<maxHashBits-1)]
		ref := int(*slot)
		*slot = uint32(pos)
		distance := pos - ref
		if uint(distance-1) >= maxFar-1 || binary.LittleEndian.Uint32(src[ref:]) != seq {
			continue
		}
		end := matchEnd(src, pos+4, ref+4)
		if code := end - 4 - pos; code >= 4 && (distance <= maxNear || code >= minFar) {
			return pos, ref, end
		}
	}
	return pos, 0, 0
}

// matchEnd compares src[a:] with src[b:], for b < a, and returns the position after the first byte that differs. If no
// byte before the last one differs, it returns the position of the last byte.
func matchEnd(src []byte, a, b int) int {
	last := len(src) - 1
	start := a
	for a <= last-8 {
		x := binary.LittleEndian.Uint64(src[a:]) ^ binary.LittleEndian.Uint64(src[b:])
		if x != 0 {
			return a + bits.TrailingZeros64(x)/8 + 1
		}
		a += 8
		b += 8
		// Long matches are compared in larger steps, with a vectorized comparison.
		for a-start >= 32 && a <= last-64 && string(src[a:a+64]) == string(src[b:b+64]) {
			a += 64
			b += 64
		}
	}
	for a < last {
		if src[a] != src[b] {
			return a + 1
		}
		a++
		b++
	}
	return last
}
