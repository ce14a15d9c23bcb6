//go:build linux || darwin

package lz4hc

import (
	"math/rand"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
)

// TestGuardPages compresses with the input and the output at pages that cannot be touched: a kernel that reads or writes
// outside of them faults.
func TestGuardPages(t *testing.T) {
	const size = 1 << 17
	srcMem, dstMem := trial.GuardPages(t, size), trial.GuardPages(t, size)
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for level := 1; level <= 9; level += 4 {
		r := rand.New(rand.NewSource(int64(level)))
		kernel, plain := NewEncoder(level), NewEncoder(level)
		for i := range rounds {
			content := pieces(r, r.Intn(1<<r.Intn(18)))
			room := r.Intn(len(content) + 1)
			src, dst := srcMem[:len(content)], dstMem[:room]
			if i%2 > 0 {
				src = srcMem[len(srcMem)-len(content):]
			}
			if i&2 > 0 {
				dst = dstMem[len(dstMem)-room:]
			}
			copy(src, content)
			encodeBoth(t, kernel, plain, dst, src)
		}
	}
}
