//go:build linux || darwin

package zstdenc

import (
	"math/rand"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/internal/guardpage"
)

// TestGuardPages encodes with the input and the output next to pages that cannot be accessed: a kernel that reads or
// writes outside of them faults. The frames must be the same as those of the generic code.
func TestGuardPages(t *testing.T) {
	const size = 1 << 18
	srcMem, dstMem := guardpage.New(t, size), guardpage.New(t, size+1<<12)
	rounds := 30
	if brief() {
		rounds = 6
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for level := 1; level <= 9; level++ {
		r := rand.New(rand.NewSource(int64(level)))
		e, plain := NewEncoder(level), NewEncoder(level)
		for i := range rounds {
			content := mixed(r.Intn(1<<r.Intn(19)), int64(i))
			if level > 7 && len(content) > 1<<14 {
				continue
			}
			src, dst := srcMem[:len(content)], dstMem[:room(len(content))]
			if i%2 > 0 {
				src = srcMem[len(srcMem)-len(content):]
				dst = dstMem[len(dstMem)-len(dst):]
			}
			copy(src, content)
			compareKernels(t, e, plain, dst, src)
		}
	}
}
