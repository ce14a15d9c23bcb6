//go:build race

package zstdenc

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
