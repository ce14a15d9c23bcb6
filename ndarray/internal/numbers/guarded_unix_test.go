//go:build linux || darwin

package numbers

import (
	"bytes"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/internal/guardpage"
)

// TestGuardedKernels converts rows that begin and end at guard pages.
func TestGuardedKernels(t *testing.T) {
	const size = 1 << 14
	dstMem, srcMem := guardpage.New(t, size), guardpage.New(t, size)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	rng := rand.New(rand.NewPCG(1, 2))
	randomNumbers(rng, srcMem, Type{'u', 8, false, 8})
	for _, p := range kernelPairs() {
		l := Conversion(p[0], p[1])
		for n := 1; n < 150; n++ {
			for _, atEnd := range []bool{false, true} {
				dst, src := dstMem[:n*p[0].size], srcMem[:n*p[1].size]
				if atEnd {
					dst, src = dstMem[size-len(dst):], srcMem[size-len(src):]
				}
				l.Run(dst, src)
				x, want := bytes.Clone(src), make([]byte, len(dst))
				if l.run(want, x); !bytes.Equal(dst, want) {
					t.Fatalf("%+v to %+v, %d numbers: %x, want %x", p[1], p[0], n, dst, want)
				}
			}
		}
	}
}
