package shuffle

// BitShuffle writes to dst[:len(src)] the bits of src, seen as elements of typeSize bytes, with the bits of equal
// position together (the rule of chunk versions 3 and later, drawn in the package comment). The elements beyond the
// last multiple of eight, and the bytes at the end that fill no element, are copied.
//
// dst must not overlap src. BitShuffle panics if dst is shorter than src or typeSize is less than 1.
func BitShuffle(dst, src []byte, typeSize int) {
	dst = checked(dst, src, typeSize)
	n := len(src) / typeSize &^ 7
	m := n * typeSize
	if n > 0 {
		bitShuffleElements(dst[:m], src[:m], typeSize, n)
	}
	copy(dst[m:], src[m:])
}

// BitUnshuffle undoes [BitShuffle].
//
// dst must not overlap src. BitUnshuffle panics if dst is shorter than src or typeSize is less than 1.
func BitUnshuffle(dst, src []byte, typeSize int) {
	dst = checked(dst, src, typeSize)
	n := len(src) / typeSize &^ 7
	m := n * typeSize
	if n > 0 {
		bitUnshuffleElements(dst[:m], src[:m], typeSize, n)
	}
	copy(dst[m:], src[m:])
}

// BitShuffleV2 is [BitShuffle] by the rule of chunk versions 1 and 2, which are those of Blosc1: where the number of
// whole elements is not a multiple of eight the block is copied as it is.
func BitShuffleV2(dst, src []byte, typeSize int) {
	dst = checked(dst, src, typeSize)
	if len(src)/typeSize%8 != 0 {
		copy(dst, src)
		return
	}
	BitShuffle(dst, src, typeSize)
}

// BitUnshuffleV2 undoes [BitShuffleV2].
func BitUnshuffleV2(dst, src []byte, typeSize int) {
	dst = checked(dst, src, typeSize)
	if len(src)/typeSize%8 != 0 {
		copy(dst, src)
		return
	}
	BitUnshuffle(dst, src, typeSize)
}
