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
	for i := range r.N {
		d, s := r.At+i*r.Step, r.Block+i*r.BlockStep
		raceWrite(dst[d : d+r.Len*width])
		for j := range width {
			raceRead(src[s+j*n:][:r.Len])
		}
	}
}

// raceGatherRows tells the race detector what a kernel of ShuffleRows reads and writes.
func raceGatherRows(dst, src []byte, width, n int, r *Rows) {
	for i := range r.N {
		d, s := r.Block+i*r.BlockStep, r.At+i*r.Step
		raceRead(src[s : s+r.Len*width])
		for j := range width {
			raceWrite(dst[d+j*n:][:r.Len])
		}
	}
}
