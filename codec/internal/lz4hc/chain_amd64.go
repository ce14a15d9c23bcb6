//go:build amd64 && !purego

package lz4hc

import (
	"github.com/goblosc/blosc2/codec/internal/lz4block"
	"github.com/goblosc/blosc2/internal/cpu"
)

// Why the kernel stops.
const (
	walked      = iota // there are no more candidates, or positions
	atNeighbour        // walk.run is not 0, and the next candidate has the first bytes wanted and is the neighbour of walk.index
	atStart            // walk.index, the next candidate, is so near the start of the input that the kernel can't read before it
)

// hasKernel reports whether the kernel takes a position: it reads 8 bytes before it, and as many behind it that a match may
// have.
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

// findKernel does find with a kernel. Where longest is lz4block.MinMatch-1 it may go on to later positions; walk.pos is the
// last one.
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

// findSSE2 enters positions into the tables where walk.pos is not there yet, and walks the chain of walk.pos, or goes on
// with that. Where it finds nothing longer and walk.found.length is lz4block.MinMatch-1 it goes on with the next position.
// It returns why it stops.
//
//go:noescape
func findSSE2(s *search, again bool) (why int)
