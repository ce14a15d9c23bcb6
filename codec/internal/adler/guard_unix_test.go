//go:build linux || darwin

package adler

import (
	"hash/adler32"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
)

// TestGuardPages sums bytes next to pages that cannot be touched.
func TestGuardPages(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	mem := trial.GuardPages(t, 1<<14)
	copy(mem, trial.Input(1, len(mem), 1))
	forEachKernel(func(name string) {
		for n := range 200 {
			for _, p := range [][]byte{mem[:n], mem[len(mem)-n:], mem[:len(mem)-n]} {
				if got, want := Checksum(p), adler32.Checksum(p); got != want {
					t.Fatalf("%s: %d bytes: %#x, want %#x", name, len(p), got, want)
				}
			}
		}
	})
}
