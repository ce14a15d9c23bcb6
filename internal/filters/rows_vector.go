package filters

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// unshuffleRowsFaster is UnshuffleRowsFaster for the kernels of this machine.
func unshuffleRowsFaster(width, length int) bool {
	switch {
	case !cpu.Has(vectorLevel):
		return length >= rowsGeneric
	case width == 2 || width == 4 || width == 8:
		return length >= rowsLeast
	}
	return width == 16 && length >= vectorElements
}

// scatterRows does UnshuffleRows for rows of at least vectorElements elements, of a width without gaps in vectors. It
// writes the elements left at the end of a row together with elements before them, which it writes again.
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

// raceScatterRows reports the reads and writes of a kernel of UnshuffleRows to the race detector.
func raceScatterRows(dst, src []byte, width, n int, r *Rows) {
	if race.Enabled {
		raceRows(src, dst, width, n, r, race.Read, race.Write)
	}
}

// raceGatherRows reports the reads and writes of a kernel of ShuffleRows to the race detector.
func raceGatherRows(dst, src []byte, width, n int, r *Rows) {
	if race.Enabled {
		raceRows(dst, src, width, n, r, race.Write, race.Read)
	}
}

// raceRows calls ofBlock for the bytes of rows in each plane of the block, and ofOther for the rows in the other
// memory.
func raceRows(block, other []byte, width, n int, r *Rows, ofBlock, ofOther func([]byte)) {
	for i := range r.N {
		b, o := r.Block+i*r.BlockStep, r.At+i*r.Step
		ofOther(other[o : o+r.Len*width])
		for j := range width {
			ofBlock(block[b+j*n:][:r.Len])
		}
	}
}
