//go:build linux || darwin

package adler

import (
	"hash/adler32"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/cpu/cputest"
	"github.com/goblosc/blosc2/internal/guardpage"
)

// TestGuardPages sums bytes next to pages that cannot be touched.
func TestGuardPages(t *testing.T) {
	mem := guardpage.New(t, 1<<14)
	copy(mem, trial.Input(1, len(mem), 1))
	cputest.Each(t, func(t *testing.T) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		for n := range 200 {
			for _, p := range [][]byte{mem[:n], mem[len(mem)-n:], mem[:len(mem)-n]} {
				if got, want := Checksum(p), adler32.Checksum(p); got != want {
					t.Fatalf("%d bytes: %#x, want %#x", len(p), got, want)
				}
			}
		}
	}, cpu.AVX2, cpu.AVX512)
}
