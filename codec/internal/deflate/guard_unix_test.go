//go:build linux || darwin

package deflate

import (
	"math/rand"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/guardpage"
)

// TestGuardPages encodes with input and output next to pages that cannot be touched: a kernel that reads or writes
// outside of them faults.
func TestGuardPages(t *testing.T) {
	const size = 1 << 16
	srcMem, dstMem := guardpage.New(t, size), guardpage.New(t, size)
	rounds := 200
	if testing.Short() {
		rounds = 30
	}
	all := encoders()
	forEachKernel(func(cpu.Level) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		for seed := range rounds {
			r := rand.New(rand.NewSource(int64(seed)))
			in := trial.Input(r.Intn(len(trial.Kinds())), r.Intn(1<<(1+r.Intn(15))), int64(seed))
			src, dst := srcMem[:len(in)], dstMem[size-1-r.Intn(len(in)+1):]
			if seed%2 == 0 {
				src = srcMem[size-len(in):]
			}
			copy(src, in)
			all[1+r.Intn(9)].Encode(dst, src)
		}
	})
}
