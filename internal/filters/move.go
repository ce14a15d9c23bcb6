package filters

import "encoding/binary"

// Copy copies src to dst[:len(src)]. It is the built-in copy, but faster where there is much to copy.
//
// dst must not overlap src. Copy panics if dst is shorter than src.
func Copy(dst, src []byte) {
	dst = dst[:len(src)]
	if !copyKernel(dst, src) {
		copy(dst, src)
	}
}

// Fill writes value to all of dst, over and over. The last one may be cut off.
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
	case ok && fillKernel(dst, word):
	case ok && word == 0:
		clear(dst)
	default:
		fillGeneric(dst, value)
	}
}

// fillCached is how many bytes are sure to have room in the second-level cache. Beyond it the instruction that the
// built-in clear uses is faster than vectors: it need not read what it overwrites.
const fillCached = 512 << 10

// movePiece is how many bytes one string instruction moves or clears: longer ones are slower by up to a half on
// processors that are interrupted, and never faster.
const movePiece = 512 << 10

// wordOf returns eight bytes of value, over and over, if they hold it a whole number of times.
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

// fillGeneric doubles what is there until it is enough to be copied again and again.
func fillGeneric(dst, value []byte) {
	n := copy(dst, value)
	for piece := n; n < len(dst); {
		n += copy(dst[n:], dst[:piece])
		if piece < fillPiece {
			piece = n
		}
	}
}

// fillPiece is how many bytes of dst fillGeneric copies from at least, when it has them.
const fillPiece = 8 << 10
