//go:build amd64 && !purego

package lz4hc

import (
	"github.com/goblosc/blosc2/codec/internal/lz4block"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// scan does scanGeneric. It also writes the sequences before the match that are not near the end of the input or of the
// output.
func (t *midTables) scan(b *block) (found, at int, best bool) {
	if !cpu.Has(cpu.Baseline) || b.anchor > len(b.src)-lz4block.TailLength || len(b.dst) < minRoom {
		return t.scanGeneric(b)
	}
	race.Write(b.dst)
	return scanKernel(t, b)
}

// minRoom is the least length of the output for the kernel.
const minRoom = 64

// scanKernel is scanGeneric if there may be a match, but it writes sequences itself as long as it can, and continues
// after them.
//
//go:noescape
func scanKernel(t *midTables, b *block) (found, at int, best bool)
