//go:build race

package race

import (
	"runtime"
	"unsafe"
)

// Read tells the race detector that a kernel it does not see into reads p.
func Read(p []byte) {
	if len(p) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(&p[0]), len(p))
	}
}

// Write tells the race detector that a kernel it does not see into writes p.
func Write(p []byte) {
	if len(p) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(&p[0]), len(p))
	}
}
