package filters

// Join undoes [Shuffle] for a block whose byte planes are separate: planes[j] holds byte j of each element. The planes
// need not be copied to one block first.
//
// If uncached is set, Join writes dst past the caches where it can. That is faster if dst does not fit in them.
//
// dst must not overlap a plane. Join panics if there is no plane, the lengths of the planes differ, or dst is shorter
// than their total.
func Join(dst []byte, planes [][]byte, uncached bool) {
	n := len(planes[0])
	for _, p := range planes {
		if len(p) != n {
			panic("shuffle: planes of different lengths")
		}
	}
	dst = dst[:n*len(planes)]
	joinGeneric(dst, planes, n, joinVector(dst, planes, n, uncached))
}

// UnshuffleUncached is [Unshuffle] that writes dst past the caches where it can, as [Join] does.
func UnshuffleUncached(dst, src []byte, width int) {
	if !JoinFaster(width) {
		Unshuffle(dst, src, width)
		return
	}
	dst = checked(dst, src, width)
	n := len(src) / width
	var planes [8][]byte
	for j := range width {
		planes[j] = src[j*n : (j+1)*n]
	}
	Join(dst, planes[:width], true)
	copy(dst[n*width:], src[n*width:])
}

// JoinFaster reports whether Join is faster than copying the planes of elements of width bytes to one block and
// [Unshuffle].
func JoinFaster(width int) bool { return joinFaster(width) }

// joinGeneric does Join for the elements from number done up.
func joinGeneric(dst []byte, planes [][]byte, n, done int) {
	width := len(planes)
	for j, p := range planes {
		for i := done; i < n; i++ {
			dst[i*width+j] = p[i]
		}
	}
}
