package filters

import "encoding/binary"

// Copy copies src to dst[:len(src)]. For large blocks it is faster than the built-in copy.
//
// dst must not overlap src. Copy panics if dst is shorter than src.
func Copy(dst, src []byte) {
	dst = dst[:len(src)]
	if !copyKernel(dst, src) {
		copy(dst, src)
	}
}

// Fill fills dst with repetitions of value. The last repetition may be truncated.
//
// dst must not overlap value. Fill panics if value is empty.
func Fill(dst, value []byte) {
	word, ok := wordOf(value)
	switch {
	case ok && word == 0 && len(dst) > fillCached:
		for len(dst) > 0 {
			n := min(len(dst), movePiece)
			clear(dst[:n])
			dst = dst[n:]
		}
	case ok && fillKernel(dst, word, false):
	case ok && word == 0:
		clear(dst)
	default:
		fillGeneric(dst, value)
	}
}

// FillUncached is [Fill] that writes dst past the caches where it can, as [Join] does.
func FillUncached(dst, value []byte) {
	if word, ok := wordOf(value); !ok || !fillKernel(dst, word, true) {
		Fill(dst, value)
	}
}

// fillCached is a number of bytes that fit in the second-level cache. For more bytes, the instruction that the built-in
// clear uses is faster than vectors: it does not load the lines that it overwrites.
const fillCached = 512 << 10

// movePiece is the number of bytes that one string instruction moves or clears. Longer ones are never faster, and up to
// 50% slower on CPUs that handle interrupts.
const movePiece = 512 << 10

// wordOf returns eight bytes of repetitions of value, if its length divides eight.
func wordOf(value []byte) (uint64, bool) {
	le := binary.LittleEndian
	switch len(value) {
	case 1:
		return 0x0101010101010101 * uint64(value[0]), true
	case 2:
		return ones16 * uint64(le.Uint16(value)), true
	case 4:
		return 1<<32*uint64(le.Uint32(value)) + uint64(le.Uint32(value)), true
	case 8:
		return le.Uint64(value), true
	}
	_ = value[0]
	return 0, false
}

// fillGeneric doubles the filled part of dst until it is long enough for repeated copies.
func fillGeneric(dst, value []byte) {
	n := copy(dst, value)
	for piece := n; n < len(dst); {
		n += copy(dst[n:], dst[:piece])
		if piece < fillPiece {
			piece = n
		}
	}
}

// fillPiece is the least number of bytes that fillGeneric copies at once, if available.
const fillPiece = 8 << 10
