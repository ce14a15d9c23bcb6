//go:build amd64 && !purego

package shuffle

// rowsLeast is the length of the shortest rows of 2, 4 or 8 bytes an element that vectors do.
const rowsLeast = 8

// unshuffleRowsVector does UnshuffleRows by vectors, if it can. n is the number of elements of the block.
func unshuffleRowsVector(dst, src []byte, width, n int, r *Rows) bool {
	if !vectors() || r.Len < rowsLeast || width == 16 && r.Len < vectorElements {
		return false
	}
	switch width {
	case 2, 4, 8, 16:
		raceRows(dst, src, width, n, r)
	}
	switch width {
	case 2:
		rows2AVX2(&dst[r.Dst], &src[r.Src], n, r.Len, r.N, r.DstStep, r.SrcStep, r.Ahead)
	case 4:
		rows4AVX2(&dst[r.Dst], &src[r.Src], n, r.Len, r.N, r.DstStep, r.SrcStep, r.Ahead)
	case 8:
		rows8AVX2(&dst[r.Dst], &src[r.Src], n, r.Len, r.N, r.DstStep, r.SrcStep, r.Ahead)
	case 16:
		scatterRows(dst, src, width, n, r)
	default:
		return false
	}
	return true
}

// The kernels below need AVX2. They are the loop, for the width in their name, at least 8 elements in a row and at least
// one row,
//
//	for range rows {
//		for i := range n { for j := range width { dst[i*width+j] = src[j*rowLen+i] } }
//		dst, src = dst[dstStep:], src[srcStep:]
//	}
//
// and bring the lines of dst[ahead:] into the cache on the way, which need not be there: memory takes longer to give a
// line than a row takes, and rows that lie apart are not foreseen by the processor.

//go:noescape
func rows2AVX2(dst, src *byte, rowLen, n, rows, dstStep, srcStep, ahead int)

//go:noescape
func rows4AVX2(dst, src *byte, rowLen, n, rows, dstStep, srcStep, ahead int)

//go:noescape
func rows8AVX2(dst, src *byte, rowLen, n, rows, dstStep, srcStep, ahead int)
