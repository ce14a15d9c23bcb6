//go:build (amd64 || arm64) && !purego

package shuffle

// rowsPay is RowsPay for blocks that vectors can do.
func rowsPay(width, length int) bool {
	switch {
	case !vectors():
		return length >= rowsGeneric
	case width == 2 || width == 4 || width == 8:
		return length >= rowsLeast
	}
	return width == 16 && length >= vectorElements
}

// scatterRows does UnshuffleRows for rows of at least vectorElements elements, of a width that leaves no gaps in
// vectors. The elements left at the end of a row are written once more with those before them.
func scatterRows(dst, src []byte, width, n int, r *Rows) {
	d, s := r.At, r.Block
	for range r.N {
		row := dst[d : d+r.Len*width]
		if scatterVector(row, width, src[s:], n, width, r.Len) < r.Len {
			at := r.Len - vectorElements
			scatterVector(row[at*width:], width, src[s+at:], n, width, vectorElements)
		}
		d, s = d+r.Step, s+r.BlockStep
	}
}
