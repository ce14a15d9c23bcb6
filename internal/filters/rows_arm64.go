//go:build arm64 && !purego

package filters

import "github.com/goblosc/blosc2/internal/cpu"

// rowsLeast is the length in elements of the shortest rows that vectors process, for elements of 2, 4 or 8 bytes.
const rowsLeast = vectorElements

// unshuffleRowsVector does UnshuffleRows with vectors, or returns false if it cannot. n is the number of elements of
// the block.
func unshuffleRowsVector(dst, src []byte, width, n int, r *Rows) bool {
	if !vectorRows(width, r.Len) {
		return false
	}
	raceScatterRows(dst, src, width, n, r)
	scatterRows(dst, src, width, n, r)
	return true
}

// shuffleRowsVector does ShuffleRows with vectors, or returns false if it cannot. n is the number of elements of the
// block.
func shuffleRowsVector(dst, src []byte, width, n int, r *Rows) bool {
	if !vectorRows(width, r.Len) {
		return false
	}
	raceGatherRows(dst, src, width, n, r)
	gatherRows(dst, src, width, n, r)
	return true
}

// vectorRows reports whether vectors process rows of length elements.
func vectorRows(width, length int) bool {
	switch width {
	case 2, 4, 8, 16:
		return cpu.Has(vectorLevel) && length >= vectorElements
	}
	return false
}

// gatherRows does ShuffleRows like scatterRows does UnshuffleRows.
func gatherRows(dst, src []byte, width, n int, r *Rows) {
	d, s := r.Block, r.At
	for range r.N {
		row := src[s : s+r.Len*width]
		if gatherVector(dst[d:], n, row, width, width, r.Len) < r.Len {
			at := r.Len - vectorElements
			gatherVector(dst[d+at:], n, row[at*width:], width, width, vectorElements)
		}
		d, s = d+r.BlockStep, s+r.Step
	}
}

// ShuffleRowsFaster reports whether ShuffleRows is faster than copying all rows of a block, of length elements each,
// and [Shuffle]. The kernels of this machine need a call for each row.
func ShuffleRowsFaster(width, length int) bool {
	return vectorRows(width, length) && length >= 4*vectorElements
}
