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

// raceRows tells the race detector what a kernel of UnshuffleRows reads and writes.
func raceRows(dst, src []byte, width, n int, r *Rows) {
	for i := range r.N {
		d, s := r.Dst+i*r.DstStep, r.Src+i*r.SrcStep
		raceWrite(dst[d : d+r.Len*width])
		for j := range width {
			raceRead(src[s+j*n:][:r.Len])
		}
	}
}
