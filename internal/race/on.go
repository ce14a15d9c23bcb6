//go:build race

package race

import (
	"runtime"
	"unsafe"
)

// Enabled reports whether the race detector is on. It makes everything slower, and sync.Pool then drops items at
// random, so that allocations cannot be counted.
const Enabled = true

// Read reports a read of p.
func Read(p []byte) {
	if len(p) > 0 {
		// Safe: p is not empty, so p[0] exists, and the range is that of p.
		runtime.RaceReadRange(unsafe.Pointer(&p[0]), len(p))
	}
}

// Write reports a write to p.
func Write(p []byte) {
	if len(p) > 0 {
		// Safe: p is not empty, so p[0] exists, and the range is that of p.
		runtime.RaceWriteRange(unsafe.Pointer(&p[0]), len(p))
	}
}
