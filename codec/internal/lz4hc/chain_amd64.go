//go:build amd64 && !purego

package lz4hc

import (
	"github.com/goblosc/blosc2/codec/internal/lz4block"
	"github.com/goblosc/blosc2/internal/cpu"
)

// Reasons why the kernel stops. At atNeighbour, the next candidate has the required first bytes and is adjacent to
// walk.index, and walk.run is not 0. At atStart, the next candidate, walk.index, is so near the start of the input that
// the kernel cannot read before it.
const (
	walked      = iota // there are no more candidates, or positions
	atNeighbour        // the next candidate is adjacent
	atStart            // the next candidate is near the start
)

// hasKernel reports whether the kernel accepts a position. It reads 8 bytes before it, and 8 bytes after it that a
// match may contain.
func (s *search) hasKernel(pos int) bool {
	return cpu.Has(cpu.Baseline) && pos >= 8 && pos <= len(s.src)-8-lz4block.LastBytes
}

// find does what findGeneric does.
func (s *search) find(pos, low, longest int) match {
	if !s.hasKernel(pos) {
		return s.findGeneric(pos, low, longest)
	}
	return s.findKernel(pos, low, longest)
}

// findKernel does find with a kernel. If longest is lz4block.MinMatch-1, it may continue with later positions. walk.pos
// is the last one.
func (s *search) findKernel(pos, low, longest int) match {
	w := &s.walk
	w.pos, w.low, w.found, w.run = pos, low, match{pos, longest, 0}, 0
	if s.runs {
		w.run = -1
	}
	for again := false; ; again = true {
		switch findSSE2(s, again) {
		case walked:
			return w.found
		case atStart:
			return s.follow(w.found, w.pos, w.low, w.index, w.lowest, w.left, w.run)
		}
		if w.run < 0 {
			w.run = s.runAt(w.pos)
		}
		if w.run > 0 {
			w.index = s.jump(w.index-1, w.lowest, w.run, w.pos, w.low, &w.found)
		} else {
			w.index--
		}
	}
}

// findSSE2 enters positions into the tables up to walk.pos, and walks the chain of walk.pos, or continues with it if
// again is set. If it finds no longer match and walk.found.length is lz4block.MinMatch-1, it continues with the next
// position. It returns the reason why it stops.
//
//go:noescape
func findSSE2(s *search, again bool) (why int)
