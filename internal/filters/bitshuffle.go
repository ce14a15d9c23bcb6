package filters

// BitShuffle is documented in package shuffle.
func BitShuffle(dst, src []byte, typeSize int) {
	dst = checked(dst, src, typeSize)
	n := len(src) / typeSize &^ 7
	m := n * typeSize
	if n > 0 {
		bitShuffleElements(dst[:m], src[:m], typeSize, n)
	}
	copy(dst[m:], src[m:])
}

// BitUnshuffle is documented in package shuffle.
func BitUnshuffle(dst, src []byte, typeSize int) {
	dst = checked(dst, src, typeSize)
	n := len(src) / typeSize &^ 7
	m := n * typeSize
	if n > 0 {
		bitUnshuffleElements(dst[:m], src[:m], typeSize, n)
	}
	copy(dst[m:], src[m:])
}

// BitUnshuffleV2 undoes the filter of chunk versions 1 and 2, which Blosc1 wrote: the block is a copy if the number of
// whole elements is not a multiple of eight, and the output of [BitShuffle] otherwise.
func BitUnshuffleV2(dst, src []byte, typeSize int) {
	dst = checked(dst, src, typeSize)
	if len(src)/typeSize%8 != 0 {
		copy(dst, src)
		return
	}
	BitUnshuffle(dst, src, typeSize)
}
