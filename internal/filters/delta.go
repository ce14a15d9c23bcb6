package filters

import (
	"crypto/subtle"
	"encoding/binary"
)

// DeltaEncode is documented in package shuffle.
func DeltaEncode(dst, src, ref []byte, typeSize int) {
	dst = checked(dst, src, typeSize)
	w := deltaWord(typeSize)
	if ref != nil {
		xorReference(dst, src, ref, w)
		return
	}
	m := len(src) / w * w
	copy(dst[m:], src[m:])
	// Go backwards, so that every word is read before it is overwritten if dst is src.
	le := binary.LittleEndian
	i := m
	for ; i >= w+8; i -= 8 {
		x := le.Uint64(src[i-8:i]) ^ le.Uint64(src[i-8-w:])
		le.PutUint64(dst[i-8:i], x)
	}
	for ; i > w; i-- {
		dst[i-1] = src[i-1] ^ src[i-1-w]
	}
	copy(dst[:i], src[:i])
}

// DeltaDecode is documented in package shuffle.
func DeltaDecode(dst, src, ref []byte, typeSize int) {
	dst = checked(dst, src, typeSize)
	w := deltaWord(typeSize)
	if ref != nil {
		xorReference(dst, src, ref, w)
		return
	}
	m := len(src) / w * w
	copy(dst[m:], src[m:])
	le := binary.LittleEndian
	last := uint64(0)     // the preceding word, repeated to fill 64 bits
	top := 64 - 8*uint(w) // shifts the highest word of 64 bits to the lowest
	repeat := ^uint64(0) / (1<<(8*uint(w)) - 1)
	i := 0
	for ; i <= m-8; i += 8 {
		x := le.Uint64(src[i : i+8])
		if w == 1 {
			x ^= x << 8
		}
		if w <= 2 {
			x ^= x << 16
		}
		if w <= 4 {
			x ^= x << 32
		}
		le.PutUint64(dst[i:i+8], x^last)
		last ^= x >> top * repeat
	}
	for ; i < m; i++ {
		x := src[i]
		if i >= w {
			x ^= dst[i-w]
		}
		dst[i] = x
	}
}

// xorReference does both directions of the filter for blocks other than the Delta reference block.
func xorReference(dst, src, ref []byte, w int) {
	m := min(len(src), len(ref)) / w * w
	subtle.XORBytes(dst[:m], src[:m], ref[:m])
	copy(dst[m:], src[m:])
}

// deltaWord returns the word size of the delta filter.
func deltaWord(typeSize int) int {
	switch {
	case typeSize == 1, typeSize == 2, typeSize == 4:
		return typeSize
	case typeSize%8 == 0:
		return 8
	}
	return 1
}
