//go:build amd64 && !purego

package adler

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// add adds the first bytes of p to the sums, both below prime. It returns the sums and the rest of p.
func add(a, b uint32, p []byte) (uint32, uint32, []byte) {
	if !cpu.Has(cpu.AVX2) {
		return a, b, p
	}
	race.Read(p)
	for len(p) >= 32 {
		n := min(len(p), longest) &^ 31
		a, b = addAVX2(a, b, p[:n])
		a, b = a%prime, b%prime
		p = p[n:]
	}
	return a, b, p
}

// addAVX2 adds p to the sums, both below prime, and returns them without reducing them. The length of p must be a
// multiple of 32, from 32 to longest.
//
//go:noescape
func addAVX2(a, b uint32, p []byte) (uint32, uint32)
