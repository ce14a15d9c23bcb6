package shuffle

// Shuffle writes to dst[:len(src)] the bytes of src, seen as elements of width bytes, with the bytes of equal
// position together: byte 0 of all elements, then byte 1 of all, and so on. The len(src)%width bytes at the end are
// copied. The width is the number of byte streams: the type size, or the filter's parameter where that is not zero.
//
// dst must not overlap src. Shuffle panics if dst is shorter than src or width is less than 1.
func Shuffle(dst, src []byte, width int) {
	dst = checked(dst, src, width)
	n := len(src) / width
	if width == 1 || n < 2 {
		copy(dst, src)
		return
	}
	m := n * width
	shuffleElements(dst[:m], src[:m], width, n)
	copy(dst[m:], src[m:])
}

// Unshuffle undoes [Shuffle]: it writes to dst[:len(src)] the elements whose bytes lie apart in src.
//
// dst must not overlap src. Unshuffle panics if dst is shorter than src or width is less than 1.
func Unshuffle(dst, src []byte, width int) {
	dst = checked(dst, src, width)
	n := len(src) / width
	if width == 1 || n < 2 {
		copy(dst, src)
		return
	}
	m := n * width
	unshuffleElements(dst[:m], src[:m], width, n)
	copy(dst[m:], src[m:])
}

// checked returns dst cut to the length of src, and panics where the caller broke the rules all filters share.
func checked(dst, src []byte, size int) []byte {
	if size < 1 {
		panic("shuffle: type size or stream count less than 1")
	}
	if len(dst) < len(src) {
		panic("shuffle: dst is shorter than src")
	}
	return dst[:len(src)]
}
