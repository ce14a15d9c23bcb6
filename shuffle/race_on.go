//go:build race

package shuffle

import (
	"runtime"
	"unsafe"
)

// raceRead tells the race detector that a kernel it does not see into reads p.
func raceRead(p []byte) {
	if len(p) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(&p[0]), len(p))
	}
}

// raceWrite tells the race detector that a kernel it does not see into writes p.
func raceWrite(p []byte) {
	if len(p) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(&p[0]), len(p))
	}
}

// raceScatterRows tells the race detector what a kernel of UnshuffleRows reads and writes.
func raceScatterRows(dst, src []byte, width, n int, r *Rows) {
	raceRows(src, dst, width, n, r, raceRead, raceWrite)
}

// raceGatherRows tells the race detector what a kernel of ShuffleRows reads and writes.
func raceGatherRows(dst, src []byte, width, n int, r *Rows) {
	raceRows(dst, src, width, n, r, raceWrite, raceRead)
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
