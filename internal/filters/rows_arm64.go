//go:build arm64 && !purego

package filters

import "github.com/goblosc/blosc2/internal/cpu"

// rowsLeast is the length of the shortest rows of 2, 4 or 8 bytes an element that vectors do.
const rowsLeast = vectorElements

// unshuffleRowsVector does UnshuffleRows by vectors, if it can. n is the number of elements of the block.
func unshuffleRowsVector(dst, src []byte, width, n int, r *Rows) bool {
	if !vectorRows(width, r.Len) {
		return false
	}
	raceScatterRows(dst, src, width, n, r)
	scatterRows(dst, src, width, n, r)
	return true
}

// shuffleRowsVector does ShuffleRows by vectors, if it can. n is the number of elements of the block.
func shuffleRowsVector(dst, src []byte, width, n int, r *Rows) bool {
	if !vectorRows(width, r.Len) {
		return false
	}
	raceGatherRows(dst, src, width, n, r)
	gatherRows(dst, src, width, n, r)
	return true
}

// vectorRows tells whether vectors do rows of so many elements.
func vectorRows(width, length int) bool {
	switch width {
	case 2, 4, 8, 16:
		return cpu.Has(vectorLevel) && length >= vectorElements
	}
	return false
}

// gatherRows does ShuffleRows as scatterRows does UnshuffleRows.
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

// shuffleRowsFaster is ShuffleRowsFaster for what the kernels of this machine do: there is a call for each row.
func shuffleRowsFaster(width, length int) bool {
	return vectorRows(width, length) && length >= 4*vectorElements
}
