//go:build amd64 && !purego

package deflate

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// margin is the number of bytes of the input after a position that a kernel may read.
const margin = maxMatch + 32

// find does what findGeneric does.
func (e *Encoder) find(pos, before, chain int) (at, length, distance int) {
	stop := min(len(e.src)-margin, e.low+lastStart)
	if !cpu.Has(cpu.Baseline) || pos >= stop {
		return e.findGeneric(pos, before, chain)
	}
	w := &e.walk
	w.pos, w.stop, w.before, w.nice, w.chain, w.budget = pos, stop, before, e.nice, chain, longBudget(chain)
	findSSE2(&e.matcher, &e.block)
	return w.pos, w.length, w.distance
}

// insertAll does what insertAllGeneric does.
func (e *Encoder) insertAll(pos, end int) {
	if n := min(end, len(e.src)-margin); cpu.Has(cpu.Baseline) && pos < n {
		insertSSE2(&e.matcher, pos, n)
		pos = n
	}
	e.insertAllGeneric(pos, end)
}

// raceEncode reports the reads of the kernels to the race detector.
func raceEncode(src []byte) { race.Read(src) }

// findSSE2 does findGeneric until it finds a match or reaches walk.stop. It begins before walk.stop.
//
//go:noescape
func findSSE2(m *matcher, b *block)

// insertSSE2 does insertAllGeneric. pos must be less than end.
//
//go:noescape
func insertSSE2(m *matcher, pos, end int)
