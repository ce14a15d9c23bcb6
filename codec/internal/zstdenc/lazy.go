package zstdenc

import (
	"math/bits"
)

// rowSize is how many positions with the same hash, or row, are kept.
const rowSize = 16

// insert puts the positions from tables.next to below at into their rows.
//
// A row has the newest positions, in a ring, and for each 8 more bits of its hash, its tag. A search compares the tags,
// 8 at a time, and looks at the positions of those that are equal only.
func (e *Encoder) insert(src []byte, at int) {
	from := e.tables.next
	e.tables.next = at
	if at-from > 128 { // behind a long match: its beginning and its end will do
		for p := from; p < from+64; p++ {
			e.insertOne(src, p)
		}
		from = at - 32
	}
	for p := from; p < at; p++ {
		e.insertOne(src, p)
	}
}

// row has positions with the same hash.
type row struct {
	positions [rowSize]uint32
	tags      [2]uint64 // more of their hashes, a byte each
	head      uint8     // the newest
}

// push puts a position before the others.
func (r *row) push(position uint32, tag uint8) {
	head := (r.head - 1) % rowSize
	r.head = head
	r.positions[head] = position
	shift := 8 * uint(head) & 63
	t := &r.tags[head/8%2]
	*t = *t&^(255<<shift) | uint64(tag)<<shift
}

func (e *Encoder) insertOne(src []byte, at int) {
	h := load64(src, at) & e.mask * prime >> 32
	e.tables.rows[h>>(e.rowShift&63)].push(e.base+uint32(at), uint8(h))
}

// longest returns the longest match at a position, if it is longer than length, and how far back it is.
func (e *Encoder) longest(src []byte, at, length int) (int, int) {
	if length >= len(src)-at {
		return length, 0
	}
	if at > e.tables.next {
		e.insert(src, at)
	}
	h := load64(src, at) & e.mask * prime >> 32
	r := &e.tables.rows[h>>(e.rowShift&63)]
	head := int(r.head)
	equal := equalBytes(r.tags[0], uint8(h)) | equalBytes(r.tags[1], uint8(h))<<8
	found := bits.RotateLeft16(uint16(equal), -head) // the newest first
	distance := 0
	left := 1 << e.params.searchLog
	for ; found != 0 && left > 0; found &= found - 1 {
		i := (bits.TrailingZeros16(found) + head) % rowSize
		from := int(r.positions[i]) - int(e.base)
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
	r.push(e.base+uint32(at), uint8(h))
	e.tables.next = at + 1
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
			if n, d := e.longest(src, at, length); d > 0 {
				length, distance, first = n, d, at
			}
		}
		if length < 4 {
			step := (at-anchor)>>8 + 1
			at += step
			if step > 8 { // nothing for long: leave out what is between
				e.tables.next = max(e.tables.next, at)
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
			if n, d := e.longest(src, at, max(length-2, 3)); d > 0 && 4*n-offsetBits(d) > bar+gain {
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
	e.rest(anchor, end)
}

// offsetBits is about what an offset costs, in bits.
func offsetBits(distance int) int {
	if distance == 0 {
		return 0
	}
	return bits.Len(uint(distance + 2))
}
