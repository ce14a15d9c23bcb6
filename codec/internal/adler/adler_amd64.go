//go:build amd64 && !purego

package adler

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// most is the number of bytes that a kernel can add before the sums must be reduced. Its 32-bit sums have room for more
// than 20 times as many.
const most = 1 << 16

// add adds the first bytes of p to the sums, both below prime. It returns the sums and the rest of p.
func add(a, b uint32, p []byte) (uint32, uint32, []byte) {
	if !cpu.Has(cpu.AVX2) {
		return a, b, p
	}
	race.Read(p)
	for len(p) >= 32 {
		n := min(len(p), most) &^ 31
		var c, d uint64
		if n >= 64 && cpu.Has(cpu.AVX512) {
			n &^= 63
			c, d = addAVX512(a, b, p[:n])
		} else {
			c, d = addAVX2(a, b, p[:n])
		}
		a, b = uint32(c%prime), uint32(d%prime)
		p = p[n:]
	}
	return a, b, p
}

// addAVX2 adds p to the sums, both below prime, and returns them without reducing them. The length of p must be a
// multiple of 32, from 32 to most.
//
//go:noescape
func addAVX2(a, b uint32, p []byte) (uint64, uint64)

// addAVX512 is addAVX2 for multiples of 64.
//
//go:noescape
func addAVX512(a, b uint32, p []byte) (uint64, uint64)
