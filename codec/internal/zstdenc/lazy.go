package zstdenc

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// rowSize is how many places a row has, one for each position with the same hash but the first.
const rowSize = 16

// rows are positions by their hashes.
//
// A row has the newest positions, in a ring, and for each 8 more bits of its hash, its tag. A search compares the tags, and
// looks at the positions of those that are equal only. The first tag is the place of the newest position instead.
type rows struct {
	positions []uint32
	tags      []uint8
}

func (r *rows) fit(n int) {
	resize(&r.positions, n)
	resize(&r.tags, n)
}

func (r *rows) clear() {
	clear(r.positions)
	clear(r.tags)
}

// rowSearch is what a search in rows has of an encoder. It is apart for the kernel.
type rowSearch struct {
	src      []byte // up to the end of the block
	base     uint32
	next     int // all positions below are in their rows, or left out
	rows     *rows
	factor   uint64 // of the hash
	shift    uint64 // what is below the hash of a row
	attempts int    // positions to look at
}

// fill brings the rows up to date: the positions below at are put into them. Of neighbours with the same hash only the
// first is, which is where a run of one byte begins: the others would leave no room in the row.
func (s *rowSearch) fill(at int) {
	from, last := s.next, uint64(math.MaxUint64)
	s.next = at
	if at-from > manyPositions { // behind a long match: its beginning and its end will do
		last = s.fillFrom(from, from+firstPositions, last)
		from = at - lastPositions
	}
	s.fillFrom(from, at, last)
}

// fillFrom fills in the positions up to end. last is the hash of the position before, and of the last one.
func (s *rowSearch) fillFrom(from, end int, last uint64) uint64 {
	for p := from; p < end; p++ {
		h := load64(s.src, p) * s.factor >> 32
		if h != last {
			s.insert(p, h)
			last = h
		}
	}
	return last
}

// Of more than manyPositions, so many go into their rows.
const (
	manyPositions  = 128
	firstPositions = 64
	lastPositions  = 32
)

// insert puts a position with hash h before the others of its row.
func (s *rowSearch) insert(at int, h uint64) {
	row := h >> (s.shift & 63) * rowSize
	tags := s.rows.tags[row:][:rowSize]
	place := (tags[0] - 1) % rowSize
	if place == 0 {
		place = rowSize - 1
	}
	tags[0], tags[place] = place, uint8(h)
	s.rows.positions[row:][:rowSize][place] = s.base + uint32(at)
}

// longestGeneric returns the longest match at a position, if it is longer than length, and how far back it is. The
// position goes into its row.
func (s *rowSearch) longestGeneric(at, length int) (int, int) {
	src := s.src
	if length >= len(src)-at {
		return length, 0
	}
	if at > s.next {
		s.fill(at)
	}
	h := load64(src, at) * s.factor >> 32
	row := h >> (s.shift & 63) * rowSize
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
		if uint(from) >= uint(at) { // of a former input, or found when the block was searched the first time
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
	// The position itself goes in after the search.
	s.insert(at, h)
	s.next = at + 1
	return length, distance
}

// equalBytes returns a bit for each byte of v that is c.
func equalBytes(v uint64, c uint8) uint32 {
	const ones, low = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	v ^= uint64(c) * ones
	v = ^(v&low + low | v | low) // 0x80 in the bytes that are 0
	return uint32(v >> 7 * 0x0102040810204080 >> 56)
}

// matchLazy finds matches with rows of positions. With lazyMatch a match waits whether there is a better one at the next
// position, with lazy2Match also at the one behind. A match is as good as it is long, four times, less the bits of its
// offset.
func (e *Encoder) matchLazy(start, end int) {
	src := e.src[:end]
	s := &e.rows
	s.prepare(e, end)
	depth := int(e.params.strategy - greedyMatch)
	at, anchor := start, start
	if at == 0 {
		at = 1
	}
	r1, r2 := int(e.repeats[0]), int(e.repeats[1])
	limit := end - 12
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
			step := min((at-anchor)>>8+1, int(e.params.maxStep))
			at += step
			if step > 8 { // nothing for long: leave out what is between
				s.next = max(s.next, at)
			}
			continue
		}
		for wait := depth; wait > 0 && at < limit; {
			at++
			bar := 4*length - offsetBits(distance)
			if r := at - r1; r >= 0 && distance > 0 && load32(src, r) == load32(src, at) {
				if n := 4 + matchLength(src, r+4, at+4); 4*n > bar+1-wait%2 {
					length, distance, first = n, 0, at
					bar = 4*length - offsetBits(distance)
				}
			}
			gain := 4
			if wait < depth {
				gain = 7
			}
			// A longer match may still have too dear an offset.
			if n, d := s.longest(at, max(length-2, 3)); d > 0 && 4*n-offsetBits(d) > bar+gain {
				length, distance, first = n, d, at
				wait = depth
				continue
			}
			wait--
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
		for at <= limit && at >= r2 && load32(src, at) == load32(src, at-r2) {
			length := 4 + matchLength(src, at+4-r2, at+4)
			r1, r2 = r2, r1
			e.add(at, at, 1, length) // behind no literals 1 is the second offset
			at += length
			anchor = at
		}
	}
	e.repeats = [3]uint32{uint32(r1), uint32(r2)} // the third one is not used
	s.src = nil
	e.rest(anchor, end)
}

// prepare makes s ready for the block of an encoder that ends there.
func (s *rowSearch) prepare(e *Encoder, end int) {
	p := &e.params
	s.src, s.base, s.rows = e.src[:end], e.base, &e.tables.rows
	s.factor, s.shift = factor(p.minMatch), uint64(32-p.hashLog+4)
	s.attempts = 1 << p.searchLog
}

// offsetBits is about what an offset costs, in bits.
func offsetBits(distance int) int {
	if distance == 0 {
		return 0
	}
	return bits.Len(uint(distance + 2))
}
