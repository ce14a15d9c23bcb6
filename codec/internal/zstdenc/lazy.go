package zstdenc

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// rowSize is the number of places of a row: one for each position with the same hash, and one for the head.
const rowSize = 16

// tagBits is the number of bits of a tag.
const tagBits = 8

// rows hold positions by their hashes.
//
// A row holds the newest positions, in a ring. For each position it holds 8 more bits of its hash, the tag. A search
// compares the tags, and examines only the positions with equal tags. The first tag is the place of the newest position
// instead.
//
// A hash is the product of the first bytes and a factor, without its low bits, which depend on few of the bytes. The
// tag is the low tagBits bits of the hash, and the number of the row is the rest.
type rows struct {
	positions []uint32
	tags      []uint8
}

// rowSearch is the part of an encoder that a search in rows uses. It is a separate type for the kernel.
type rowSearch struct {
	src      []byte // the input up to the end of the block
	base     uint32
	last     int // end of the last match
	next     int // all lower positions are in their rows, or skipped
	rows     *rows
	factor   uint64 // factor of the hash
	shift    uint64 // number of bits of the product below the hash
	attempts int    // largest number of positions to examine
	maxStep  int    // largest distance between two positions to examine
	ahead    int    // distance to the position whose row the kernel fetches
}

// fill enters the positions below at into the rows. Of adjacent positions with the same hash, it enters only the first.
// These occur in a run of one byte, and would fill the row.
func (s *rowSearch) fill(at int) {
	from, last := s.next, uint64(math.MaxUint64)
	s.next = at
	if at-from > manyPositions { // after a long match: enter only its beginning and its end
		last = s.fillFrom(from, from+firstPositions, last)
		from = at - lastPositions
	}
	s.fillFrom(from, at, last)
}

// fillFrom enters the positions up to end. last is the hash of the previous position. It returns the hash of the last
// one.
func (s *rowSearch) fillFrom(from, end int, last uint64) uint64 {
	for p := from; p < end; p++ {
		h := s.hash(p)
		if h != last {
			s.insert(p, h)
			last = h
		}
	}
	return last
}

// Of more than manyPositions positions, these numbers are entered.
const (
	manyPositions  = 128
	firstPositions = 64
	lastPositions  = 32
)

// hash returns the hash of the bytes at a position.
func (s *rowSearch) hash(at int) uint64 { return load64(s.src, at) * s.factor >> (s.shift & 63) }

// insert inserts a position with hash h before the others of its row.
func (s *rowSearch) insert(at int, h uint64) {
	row := h >> tagBits * rowSize
	tags := s.rows.tags[row:][:rowSize]
	place := (tags[0] - 1) % rowSize
	if place == 0 {
		place = rowSize - 1
	}
	tags[0], tags[place] = place, uint8(h)
	s.rows.positions[row:][:rowSize][place] = s.base + uint32(at)
}

// longestGeneric returns the length of the longest match at a position, if it is more than length, and its distance. It
// enters the position into its row.
func (s *rowSearch) longestGeneric(at, length int) (int, int) {
	src := s.src
	if length >= len(src)-at {
		return length, 0
	}
	if at > s.next {
		s.fill(at)
	}
	h := s.hash(at)
	row := h >> tagBits * rowSize
	tags := s.rows.tags[row:][:rowSize]
	positions := s.rows.positions[row:][:rowSize]
	head := int(tags[0])
	equal := equalBytes(binary.LittleEndian.Uint64(tags), uint8(h)) |
		equalBytes(binary.LittleEndian.Uint64(tags[8:]), uint8(h))<<8
	found := bits.RotateLeft16(uint16(equal&^1), -head) // the newest first
	distance := 0
	left := s.attempts
	for ; found != 0 && left > 0; found &= found - 1 {
		i := (bits.TrailingZeros16(found) + head) % rowSize
		from := int(positions[i]) - int(s.base)
		if uint(from) >= uint(at) { // from an earlier input, or from the first search of the block
			continue
		}
		left--
		// It must be longer than the best so far.
		if load32(src, from+length-3) != load32(src, at+length-3) {
			continue
		}
		if n := matchLength(src, from, at); n > length {
			length, distance = n, at-from
			if at+length+8 >= len(src) {
				break
			}
		}
	}
	// The position itself is entered after the search.
	s.insert(at, h)
	s.next = at + 1
	return length, distance
}

// equalBytes returns a bit for each byte of v that equals c.
func equalBytes(v uint64, c uint8) uint32 {
	const ones, low = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	v ^= uint64(c) * ones
	v = ^(v&low + low | v | low) // 0x80 in the bytes that are 0
	return uint32(v >> 7 * 0x0102040810204080 >> 56)
}

// matchLazy finds matches with rows of positions. With lazyMatch it looks for a better match at the next position
// before it takes a match. If the match has at most quickWait bytes, or always with patient, it also looks at the
// position after that. The score of a match is four times its length, less the bits of its offset. The score of a later
// match must be better by more than nextGain, and at the second position by more than quickGain or secondGain.
func (e *Encoder) matchLazy(start, end int) {
	src := e.src[:end]
	s := &e.rows
	kept := e.keptStep(start, end)
	if kept != keptRandom {
		e.chooseHash(start)
	}
	s.prepare(e, end)
	depth, second, longest := 0, quickGain, quickWait
	if e.params.strategy == lazyMatch {
		depth = 2
	}
	if e.params.patient {
		second, longest = secondGain, math.MaxInt
	}
	at, anchor := start, start
	if at == 0 {
		at = 1
	}
	r1, r2 := int(e.repeats[0]), int(e.repeats[1])
	limit := end - 12
	s.last = max(s.last, start-kept<<8)
	for at <= limit {
		length, distance, first := 3, 0, at // distance 0 is r1
		if r := at + 1 - r1; r >= 0 && load32(src, r) == load32(src, at+1) {
			length = 4 + matchLength(src, r+4, at+5)
			first = at + 1
		}
		if depth > 0 || length < 4 {
			if n, d := s.longest(at, length); d > 0 {
				length, distance, first = n, d, at
			}
		}
		if length < 4 {
			step := s.step(at)
			at += step
			long := at-s.last > longQuiet
			if long {
				at &^= 7
			}
			if long || step > 8 { // no match for a long time: skip the positions between
				s.next = max(s.next, at)
				s.ahead = nearAhead
				if next := s.step(at); at+next <= limit {
					s.ahead = next
				}
			}
			continue
		}
		s.ahead = nearAhead
		for wait := depth; wait > 0 && at < limit; {
			at++
			bar := 4*length - offsetBits(distance)
			if r := at - r1; r >= 0 && distance > 0 && load32(src, r) == load32(src, at) {
				if n := 4 + matchLength(src, r+4, at+4); 4*n > bar+1-wait%2 {
					length, distance, first = n, 0, at
					bar = 4*length - offsetBits(distance)
				}
			}
			gain := nextGain
			if wait < depth {
				gain = second
			}
			// A longer match may still have an offset that costs too much.
			if n, d := s.longest(at, max((bar+gain)/4, 3)); d > 0 && 4*n-offsetBits(d) > bar+gain {
				length, distance, first = n, d, at
				wait = depth
				continue
			}
			wait--
			if length > longest {
				break
			}
		}
		offset := uint32(1)
		if distance > 0 {
			from := first - distance
			for first > anchor && from > 0 && src[first-1] == src[from-1] {
				first--
				from--
				length++
			}
			offset = uint32(distance) + 3
			r1, r2 = distance, r1
		} else if first == anchor {
			// Without literals 1 is another offset.
			first++
			length--
		}
		e.add(anchor, first, offset, length)
		at = first + length
		anchor = at
		s.last = at
		for at <= limit && at >= r2 && load32(src, at) == load32(src, at-r2) {
			length := 4 + matchLength(src, at+4-r2, at+4)
			r1, r2 = r2, r1
			e.add(at, at, 1, length) // without literals 1 is the second offset
			at += length
			anchor = at
			s.last = at
		}
	}
	e.repeats = [3]uint32{uint32(r1), uint32(r2)} // the third offset is not used
	s.src = nil
	e.rest(anchor, end)
}

// nextGain and secondGain are those of the C library, which looks at the second position for all matches. For text that
// saves 7% of the size, and for all data it takes 10 to 20% more time. Numbers need it only for short matches, and are
// smaller with quickGain.
const (
	nextGain   = 4
	secondGain = 7
	quickGain  = 13
	quickWait  = 4
)

// chooseHash lets the search hash 4 bytes if a sample is better with matches of 4 bytes. The choice is made at the
// start of the input, and again where the search has found nothing for a long time: positions with the other hash are
// not found any more.
func (e *Encoder) chooseHash(start int) {
	if !e.params.sample {
		return
	}
	if start == 0 || e.unmatched(start) {
		e.short = e.quiet.short(e.src[start:])
	}
	if e.short {
		e.params.minMatch = 4
	}
}

// prepare prepares s for the block of an encoder that ends at end.
func (s *rowSearch) prepare(e *Encoder, end int) {
	p := &e.params
	s.src, s.base, s.rows = e.src[:end], e.base, &e.tables.rows
	s.factor, s.shift = factor(p.minMatch), uint64(64-tagBits-(p.hashLog-4))
	s.attempts, s.maxStep, s.ahead = 1<<p.searchLog, int(p.maxStep), nearAhead
}

// step returns the distance to the next position to search after one without a match.
func (s *rowSearch) step(at int) int { return min((at-s.last)>>8+1, s.maxStep) }

// nearAhead is the value of ahead where most positions are searched. Where steps are long, ahead is the next step.
const nearAhead = 4

// longQuiet is the number of bytes without a match after which positions between two steps are skipped, however short
// the steps are: to enter them takes more time than the search. Numbers that repeat are still found, because all steps
// then lead to multiples of 8. No step is shorter, as maxStep is at least 8.
const longQuiet = 32 << 10

// The largest steps that a block keeps from the previous one: in random bytes, and where blocks end because the
// statistics change.
const (
	keptRandom = 128
	keptSplit  = 3
)

// keptStep returns the largest step that the search of a block keeps from the previous block.
func (e *Encoder) keptStep(start, end int) int {
	switch {
	case e.first.split:
		return keptSplit
	case e.unmatched(start) && e.literals.noise(e.src[start:end]):
		return keptRandom
	}
	return 0
}

// unmatched reports whether the search in rows has found no match for a long time before a block.
func (e *Encoder) unmatched(start int) bool { return e.rows.last <= start-keptRandom<<7 }

// offsetBits returns an estimate of the cost of an offset in bits.
func offsetBits(distance int) int {
	if distance == 0 {
		return 0
	}
	return bits.Len(uint(distance + 2))
}
