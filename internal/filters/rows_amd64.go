//go:build amd64 && !purego

package filters

import "github.com/goblosc/blosc2/internal/cpu"

// rowsLeast is the length in elements of the shortest rows that vectors process, for elements of 2, 4 or 8 bytes.
const rowsLeast = 8

// unshuffleRowsVector does UnshuffleRows with vectors, or returns false if it cannot. n is the number of elements of
// the block.
func unshuffleRowsVector(dst, src []byte, width, n int, r *Rows) bool {
	if !cpu.Has(vectorLevel) || r.Len < rowsLeast || width == 16 && r.Len < vectorElements {
		return false
	}
	switch width {
	case 2, 4, 8, 16:
		raceScatterRows(dst, src, width, n, r)
	}
	switch width {
	case 2:
		rows2AVX2(&dst[r.At], &src[r.Block], n, r.Len, r.N, r.Step, r.BlockStep, r.Ahead)
	case 4:
		rows4AVX2(&dst[r.At], &src[r.Block], n, r.Len, r.N, r.Step, r.BlockStep, r.Ahead)
	case 8:
		rows8AVX2(&dst[r.At], &src[r.Block], n, r.Len, r.N, r.Step, r.BlockStep, r.Ahead)
	case 16:
		scatterRows(dst, src, width, n, r)
	default:
		return false
	}
	return true
}

// shuffleRowsVector does ShuffleRows with vectors, or returns false if it cannot. n is the number of elements of the
// block.
func shuffleRowsVector(dst, src []byte, width, n int, r *Rows) bool {
	if !cpu.Has(vectorLevel) || r.Len < rowsLeast {
		return false
	}
	switch width {
	case 2, 4, 8:
		raceGatherRows(dst, src, width, n, r)
	}
	switch width {
	case 2:
		gatherRows2AVX2(&dst[r.Block], &src[r.At], n, r.Len, r.N, r.BlockStep, r.Step, r.Ahead, &gatherMasks[2])
	case 4:
		gatherRows4AVX2(&dst[r.Block], &src[r.At], n, r.Len, r.N, r.BlockStep, r.Step, r.Ahead, &gatherMasks[4])
	case 8:
		gatherRows8AVX2(&dst[r.Block], &src[r.At], n, r.Len, r.N, r.BlockStep, r.Step, r.Ahead, &gatherMasks[8])
	default:
		return false
	}
	return true
}

// ShuffleRowsFaster reports whether ShuffleRows is faster than copying all rows of a block, of length elements each,
// and [Shuffle].
func ShuffleRowsFaster(width, length int) bool {
	if !cpu.Has(vectorLevel) || length < rowsLeast {
		return false
	}
	switch width {
	case 2:
		return true
	case 4, 8:
		// Between these lengths, the second iteration mostly repeats the first.
		return length == rowsLeast || length >= 2*rowsLeast
	}
	return false
}

// The kernels below need AVX2. They are for the width in their name, at least 8 elements per row and at least one row.
// The first three are the loop
//
//	for range rows {
//		for i := range n { for j := range width { dst[i*width+j] = src[j*rowLen+i] } }
//		dst, src = dst[dstStep:], src[srcStep:]
//	}
//
// and prefetch the lines of dst[ahead:], which need not exist. Loading a cache line takes longer than copying a row,
// and the hardware prefetcher does not predict rows that are far apart.

//go:noescape
func rows2AVX2(dst, src *byte, rowLen, n, rows, dstStep, srcStep, ahead int)

//go:noescape
func rows4AVX2(dst, src *byte, rowLen, n, rows, dstStep, srcStep, ahead int)

//go:noescape
func rows8AVX2(dst, src *byte, rowLen, n, rows, dstStep, srcStep, ahead int)

// The other three are the inverse loop
//
//	for range rows {
//		for i := range n { for j := range width { dst[j*rowLen+i] = src[i*width+j] } }
//		dst, src = dst[dstStep:], src[srcStep:]
//	}
//
// and prefetch the lines of src[ahead:]. They take the gatherMask of their width.

//go:noescape
func gatherRows2AVX2(dst, src *byte, rowLen, n, rows, dstStep, srcStep, ahead int, mask *[32]byte)

//go:noescape
func gatherRows4AVX2(dst, src *byte, rowLen, n, rows, dstStep, srcStep, ahead int, mask *[32]byte)

//go:noescape
func gatherRows8AVX2(dst, src *byte, rowLen, n, rows, dstStep, srcStep, ahead int, mask *[32]byte)
