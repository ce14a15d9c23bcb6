package filters

// Shuffle is documented in package shuffle.
func Shuffle(dst, src []byte, width int) {
	dst = checked(dst, src, width)
	n := len(src) / width
	if width == 1 || n < 2 {
		copy(dst, src)
		return
	}
	m := n * width
	done := shuffleVector(dst[:m], src[:m], width, n)
	shuffleGeneric(dst[:m], src[:m], width, n, done)
	copy(dst[m:], src[m:])
}

// Unshuffle is documented in package shuffle.
func Unshuffle(dst, src []byte, width int) {
	dst = checked(dst, src, width)
	n := len(src) / width
	if width == 1 || n < 2 {
		copy(dst, src)
		return
	}
	m := n * width
	done := unshuffleVector(dst[:m], src[:m], width, n)
	unshuffleGeneric(dst[:m], src[:m], width, n, done)
	copy(dst[m:], src[m:])
}

// checked returns dst[:len(src)]. It panics if the arguments violate the rules that all filters share.
func checked(dst, src []byte, size int) []byte {
	if size < 1 {
		panic("shuffle: type size or stream count less than 1")
	}
	if len(dst) < len(src) {
		panic("shuffle: dst is shorter than src")
	}
	return dst[:len(src)]
}
