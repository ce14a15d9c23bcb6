//go:build amd64 && !purego

package adler

import (
	"github.com/goblosc/blosc2/codec/internal/race"
	"golang.org/x/sys/cpu"
)

// avx2 is whether there is a kernel to use. Only tests change it.
var avx2 = cpu.X86.HasAVX2

// Checksum returns the checksum of p.
func Checksum(p []byte) uint32 {
	a, b := uint32(1), uint32(0)
	if avx2 {
		race.Read(p)
		for len(p) >= 32 {
			n := min(len(p), longest) &^ 31
			a, b = addAVX2(a, b, p[:n])
			a, b = a%prime, b%prime
			p = p[n:]
		}
	}
	a, b = checksumGeneric(a, b, p)
	return b<<16 | a
}

// addAVX2 adds p to the sums, both below prime, and returns them, not reduced. The length of p is a multiple of 32 from
// 32 to longest.
//
//go:noescape
func addAVX2(a, b uint32, p []byte) (uint32, uint32)
