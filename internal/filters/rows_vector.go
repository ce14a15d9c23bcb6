package filters

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// unshuffleRowsFaster is UnshuffleRowsFaster for blocks that vectors can do.
func unshuffleRowsFaster(width, length int) bool {
	switch {
	case !cpu.Has(vectorLevel):
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

// raceScatterRows reports to the race detector what a kernel of UnshuffleRows reads and writes.
func raceScatterRows(dst, src []byte, width, n int, r *Rows) {
	if race.Enabled {
		raceRows(src, dst, width, n, r, race.Read, race.Write)
	}
}

// raceGatherRows reports to the race detector what a kernel of ShuffleRows reads and writes.
func raceGatherRows(dst, src []byte, width, n int, r *Rows) {
	if race.Enabled {
		raceRows(dst, src, width, n, r, race.Write, race.Read)
	}
}

// raceRows calls ofBlock for the bytes of rows in each plane of the block and ofOther for those in the other memory.
func raceRows(block, other []byte, width, n int, r *Rows, ofBlock, ofOther func([]byte)) {
	for i := range r.N {
		b, o := r.Block+i*r.BlockStep, r.At+i*r.Step
		ofOther(other[o : o+r.Len*width])
		for j := range width {
			ofBlock(block[b+j*n:][:r.Len])
		}
	}
}
