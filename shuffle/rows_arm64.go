//go:build arm64 && !purego

package shuffle

// rowsLeast is the length of the shortest rows of 2, 4 or 8 bytes an element that vectors do.
const rowsLeast = vectorElements

// unshuffleRowsVector does UnshuffleRows by vectors, if it can. n is the number of elements of the block.
func unshuffleRowsVector(dst, src []byte, width, n int, r *Rows) bool {
	switch width {
	case 2, 4, 8, 16:
		if vectors() && r.Len >= vectorElements {
			raceRows(dst, src, width, n, r)
			scatterRows(dst, src, width, n, r)
			return true
		}
	}
	return false
}
