//go:build amd64 && !purego

package lz4hc

import "github.com/goblosc/blosc2/codec/internal/lz4block"

// generic tells to use no kernels. Only tests change it.
var generic = false

// find does what findGeneric does.
func (s *search) find(pos, low, longest int) match {
	if generic {
		return s.findGeneric(pos, low, longest)
	}
	return s.follow(pos, low, longest)
}

// first does what firstGeneric does.
func (s *search) first(pos int) match {
	if generic || pos > len(s.src)-lz4block.TailLength {
		return s.firstGeneric(pos)
	}
	return s.follow(pos, pos, lz4block.MinMatch-1)
}

// follow does find with a kernel, which stops where a candidate is in a run of one byte as pos may be. Where longest is
// lz4block.MinMatch-1 it does first.
func (s *search) follow(pos, low, longest int) match {
	w := &s.walk
	w.pos, w.low, w.found, w.left, w.run = pos, low, match{pos, longest, 0}, s.attempts, 0
	if s.runs {
		w.run = -1
	}
	for again := false; findSSE2(s, again); again = true {
		if w.run < 0 {
			w.run = s.runAt(w.pos)
		}
		if w.run > 0 {
			w.index = s.jump(w.index-1, w.lowest, w.run, w.pos, w.low, &w.found)
		} else {
			w.index--
		}
	}
	return w.found
}

// findSSE2 enters the positions before walk.pos into the tables and walks the chain of walk.pos, or goes on with that.
// Where it finds nothing longer and walk.found.length is lz4block.MinMatch-1 it goes on with the next position. It returns false
// at the end of the chain or of the input, and true where walk.run is not 0, the candidate is the neighbour of the next
// one, walk.index, and that has the first bytes wanted, too.
//
//go:noescape
func findSSE2(s *search, again bool) (stopped bool)
