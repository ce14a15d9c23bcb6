//go:build amd64 && !purego

package zstd

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// BatchIsFaster reports whether DecodeBatch takes less time than one frame after the other.
func BatchIsFaster() bool { return cpu.Has(kernelLevel) }

// runBoth runs iterations for both, as long as none of the eight streams can end.
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

// bothKernel runs n iterations of five look-ups per stream, with n > 0. All words must have at least 55 bits, and do
// afterwards.
//
//go:noescape
func bothKernel(s, o *streams4, n int)
