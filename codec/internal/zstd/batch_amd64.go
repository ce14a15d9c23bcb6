//go:build amd64 && !purego

package zstd

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// BatchIsFaster reports whether DecodeBatch takes less time than one frame after the other.
func BatchIsFaster() bool { return cpu.Has(kernelLevel) }

// runBoth takes turns of both, as long as none of the eight streams can end.
func (s *streams4) runBoth(o *streams4) {
	if !BatchIsFaster() {
		return
	}
	for _, s := range [2]*streams4{s, o} {
		race.Read(s.src)
		race.Write(s.dst)
	}
	const codes = 5
	for n := min(s.turns(codes, 1), o.turns(codes, 1)); n > 0; n = min(s.turns(codes, 1), o.turns(codes, 1)) {
		bothKernel(s, o, n)
	}
}

// bothKernel takes n turns, which is not 0, of five look-ups a stream. All words have 55 bits at least, and do behind it.
//
//go:noescape
func bothKernel(s, o *streams4, n int)
