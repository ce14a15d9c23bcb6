package lz4hc

import (
	"math/bits"

	"github.com/goblosc/blosc2/codec/internal/lz4block"
)

const (
	chainHashBits = 15
	aheadSize     = 64      // positions that are entered at once: the searched position and those after it
	windowSize    = 1 << 17 // a power of two that holds the distances and aheadSize
)

// chainTables holds, for each index of the window, the distance to the previous index with the same hash of 4 bytes.
// 65535 represents distances that are too large.
type chainTables struct {
	heads [1 << chainHashBits]uint32 // the last index of each hash
	back  [windowSize]uint16
	older [aheadSize]uint32 // for the last indexes entered, the previous entries of heads for their hashes
}

func chainHash(v uint32) uint32 { return v * 2_654_435_761 >> (32 - chainHashBits) }

// search finds matches in a block.
type search struct {
	*chainTables
	*block
	attempts int  // largest number of candidates for one position
	runs     bool // whether to skip runs of one byte
	next     int  // first position not yet in the tables
	walk     walk
}

// walk is the position of a kernel in a chain. Without a kernel, only pos is set.
type walk struct {
	pos, low int
	found    match
	index    uint32 // of the next candidate
	lowest   uint32 // lowest index that is near enough
	left     int    // candidates left
	run      int    // length of the run of one byte at pos; -1 = unknown, 0 = none
}

// insert enters positions into the tables up to pos, and some after it. These do not affect a search at pos, which
// starts with its entry in older. The positions of searches never decrease.
func (s *search) insert(pos int) {
	next, end := s.next, min(pos+aheadSize, len(s.src)-lz4block.LastBytes)
	for ; next < end; next++ {
		head := &s.heads[chainHash(lz4block.Load32(s.src, next))]
		index := s.base + uint32(next)
		s.older[index%aheadSize] = *head
		s.back[index%windowSize] = uint16(min(index-*head, lz4block.MaxDistance))
		*head = index
	}
	s.next = next
}

// findGeneric looks for a match that covers pos, starts at low or later, and is longer than longest. If there is none,
// it returns a match of length longest with distance 0.
func (s *search) findGeneric(pos, low, longest int) match {
	if pos >= s.next {
		s.insert(pos)
	}
	here := s.base + uint32(pos)
	run := 0
	if s.runs {
		run = -1
	}
	return s.follow(match{pos, longest, 0}, pos, low, s.older[here%aheadSize], max(s.base, here-lz4block.MaxDistance), s.attempts, run)
}

// follow follows the chain of pos from near to far, from index down to lowest, for the given number of candidates. It
// returns the longest match that starts at low or later, or found. Among equally long matches the nearest wins. run is
// the length of the run of one byte at pos; -1 = unknown, 0 = none.
//
// If a candidate and the previous one are adjacent and the input is a run of one byte, many more candidates probably
// are in the run. The search then jumps to the position in the candidate's run that matches the run of the input.
func (s *search) follow(found match, pos, low int, index, lowest uint32, attempts, run int) match {
	src, base, back := s.src, s.base, &s.back
	want := lz4block.Load32(src, pos)
	// The two bytes at the end of a longer match rule out most candidates. ahead is their offset from pos.
	ahead := low + found.length - 1 - pos
	tail := lz4block.Load16(src, pos+ahead)
	for ; attempts > 0 && index >= lowest; attempts-- {
		candidate := int(index - base)
		if lz4block.Load16(src, candidate+ahead) == tail && lz4block.Load32(src, candidate) == want {
			before := 0
			for before < pos-low && before < candidate && src[pos-before-1] == src[candidate-before-1] {
				before++
			}
			if n := before + lz4block.MatchLength(src, pos, candidate); n > found.length {
				found = match{pos - before, n, pos - candidate}
				ahead = low + n - 1 - pos
				tail = lz4block.Load16(src, pos+ahead)
			}
		}
		distance := back[index%windowSize]
		if distance == 1 && run != 0 && index-1 >= lowest {
			if run < 0 {
				run = s.runAt(pos)
			}
			if run > 0 && lz4block.Load32(src, candidate-1) == want {
				index = s.jump(index-1, lowest, run, pos, low, &found)
				ahead = low + found.length - 1 - pos
				tail = lz4block.Load16(src, pos+ahead)
				continue
			}
		}
		index -= uint32(distance)
	}
	return found
}

// first looks for a match that starts at pos or, if there is none, at the next position that has one. If no position
// has one, the length is less than lz4block.MinMatch.
func (s *search) first(pos int) match {
	for ; pos <= len(s.src)-lz4block.TailLength; pos = s.walk.pos + 1 {
		s.walk.pos = pos // the kernel may move on
		if m := s.find(pos, pos, lz4block.MinMatch-1); m.length >= lz4block.MinMatch {
			return m
		}
	}
	return match{}
}

// jump handles a candidate in a run of one byte, for an input at pos that is a run of length run. It returns the next
// candidate: the position where the rest of the candidate's run is as long as the run at pos, if that is before the
// candidate, or otherwise the start of the candidate's run. If matches cannot start before pos, it takes the start as a
// match at once, and the next candidate is the one before it.
func (s *search) jump(index, lowest uint32, run, pos, low int, found *match) (next uint32) {
	candidate := int(index - s.base)
	b := s.src[candidate]
	// The exact length of a longer run does not matter.
	limit := min(len(s.src)-lz4block.LastBytes, candidate+lz4block.MinMatch+run)
	forward := lz4block.MinMatch + runLength(s.src, candidate+lz4block.MinMatch, limit, b)
	back := runBefore(s.src, candidate, candidate-int(index-lowest))
	if back+forward >= run && forward <= run {
		return index + uint32(forward) - uint32(run)
	}
	index -= uint32(back)
	if low < pos {
		return index
	}
	if n := min(back+forward, run); n > found.length {
		*found = match{pos, n, pos - int(index-s.base)}
	}
	return index - uint32(s.back[index%windowSize])
}

// runAt returns the length of the run of one byte at pos, or 0 if it is less than 4.
func (s *search) runAt(pos int) int {
	v := lz4block.Load32(s.src, pos)
	if v != v&0xff*0x01010101 {
		return 0
	}
	return lz4block.MinMatch + runLength(s.src, pos+lz4block.MinMatch, len(s.src)-lz4block.LastBytes, byte(v))
}

// runLength returns the number of bytes equal to b at the start of src[i:limit]. The byte before i is b.
func runLength(src []byte, i, limit int, b byte) int {
	start := i
	pattern := uint64(b) * 0x0101010101010101
	for i < limit && i <= len(src)-8 {
		if x := lz4block.Load64(src, i) ^ pattern; x != 0 {
			return min(i+bits.TrailingZeros64(x)/8, limit) - start
		}
		i += 8
		// Long runs are compared in larger steps: a run equals itself shifted by one.
		for i-start >= 32 && i <= limit-64 && string(src[i:i+64]) == string(src[i-1:i+63]) {
			i += 64
		}
	}
	i = min(i, limit)
	for i < limit && src[i] == b {
		i++
	}
	return i - start
}

// runBefore returns the number of bytes equal to src[i] at the end of src[limit:i].
func runBefore(src []byte, i, limit int) int {
	start := i
	pattern := uint64(src[i]) * 0x0101010101010101
	for i > limit && i >= 8 {
		if x := lz4block.Load64(src, i-8) ^ pattern; x != 0 {
			return start - max(i-bits.LeadingZeros64(x)/8, limit)
		}
		i -= 8
		for start-i >= 32 && i >= limit+64 && string(src[i-64:i]) == string(src[i-63:i+1]) {
			i -= 64
		}
	}
	i = max(i, limit)
	for i > limit && src[i-1] == src[i] {
		i--
	}
	return start - i
}
