package deflate

import (
	"encoding/binary"
	"math/bits"
)

// Limits of the format and of the C library.
const (
	minMatch    = 3
	maxMatch    = 258
	windowSize  = 1 << 15
	lookahead   = maxMatch + minMatch + 1 // C loads more of the input when it has less than this
	maxDistance = windowSize - lookahead
	lastStart   = 2*windowSize - lookahead // where in C's window it moves
	tooFar      = 4096                     // matches of 3 bytes from farther do not pay
	hashBits    = 15
	seenBits    = 18

	// unreachable is a distance that stands for all that are too far: adding it to one that is not gives less than 1<<16.
	unreachable = windowSize + 1<<8
)

// matcher finds matches of the input with itself. Indexes are positions plus base, which grows from input to input such
// that those of old inputs are too far away; so tables are cleared only when indexes get large.
type matcher struct {
	heads [1 << hashBits]uint32 // the last index of each hash
	back  [1 << 16]uint16       // for each index, that before of its hash; both by their low bits

	// A bit for each seenHash of positions since the window moved, and of those between that and when it did before. The
	// two are longer than the greatest distance, so where both bits are 0 there is no match. In noise that is the common
	// case, and spares a walk whose length cannot be predicted.
	recent, older [1 << seenBits / 32]uint32

	src  []byte
	base uint32
	end  uint32 // the greatest index in the tables
	low  int    // where C's window begins; what is there has no match
	walk walk
}

// walk is what a kernel is to do, and where it is.
type walk struct {
	pos, stop int
	before    int // length of match wanted, less one
	nice      int
	chain     int
	length    int
	distance  int
}

// begin makes ready for an input.
func (m *matcher) begin(src []byte) {
	if m.end > 1<<30 {
		m.heads = [1 << hashBits]uint32{}
		m.end = 0
	}
	m.src = src
	m.base = m.end + 1<<16
	m.end = m.base + uint32(len(src))
	clear(m.recent[:])
	if m.low > 0 {
		clear(m.older[:])
	}
	m.low = 0
}

// slide moves C's window, when pos is the next position: where less than lookahead bytes of it are left and it can.
func (m *matcher) slide(pos int) {
	if p := pos - m.low; p > lastStart || p == lastStart && len(m.src)-m.low < 2*windowSize {
		m.low += windowSize
		age(m.older[:], m.recent[:])
	}
}

// age makes recent bits older ones. It is no part of slide because Go 1.26 gets the copy of an array of known length wrong
// on s390x, where that is large: it does not end.
//
//go:noinline
func age(older, recent []uint32) {
	copy(older, recent)
	clear(recent)
}

// hash returns the hash of the first 3 bytes of v.
func hash(v uint32) uint32 {
	return (v<<10 ^ v>>3&0x1fe0 ^ v>>16&0xff) & (1<<hashBits - 1)
}

// seenHash returns another hash of the first 3 bytes of v.
func seenHash(v uint32) uint32 { return v << 8 * 2_654_435_761 >> (32 - seenBits) }

// insert enters a position into the tables, and returns how far back the one before of its hash is, or unreachable where
// none can have the same 3 bytes.
func (m *matcher) insert(pos int) int {
	var v uint32
	if src := m.src[pos:]; len(src) >= 4 {
		v = binary.LittleEndian.Uint32(src)
	} else {
		v = uint32(src[0]) | uint32(src[1])<<8 | uint32(src[2])<<16
	}
	head := &m.heads[hash(v)]
	index := m.base + uint32(pos)
	distance := min(index-*head, unreachable)
	m.back[uint16(index)] = uint16(index - distance)
	*head = index

	h := seenHash(v)
	word, bit := &m.recent[h/32], uint32(1)<<(h%32)
	if (*word|m.older[h/32])&bit == 0 {
		distance = unreachable
	}
	*word |= bit
	return int(distance)
}

// insertAllGeneric enters the positions from pos to end, those that have 3 bytes.
func (m *matcher) insertAllGeneric(pos, end int) {
	for end = min(end, len(m.src)-minMatch+1); pos < end; pos++ {
		m.insert(pos)
	}
}

// insertRun enters the positions from pos to end, which are in a run of one byte, as 3 bytes from each of them are, and as
// the position before pos is, which has been entered.
func (m *matcher) insertRun(pos, end int) {
	if pos >= end {
		return
	}
	index := m.base + uint32(pos)
	m.heads[hash(binary.LittleEndian.Uint32(m.src[pos-1:]))] = index + uint32(end-pos) - 1
	for range end - pos {
		m.back[uint16(index)] = uint16(index - 1)
		index++
	}
}

// longest looks for a match of pos that is longer than length, first at a distance and then at those before of its hash,
// so many in all. It returns length and 0 where there is none.
func (m *matcher) longest(pos, first, length, nice, chain int) (n, distance int) {
	src := m.src
	limit := min(maxMatch, len(src)-pos)
	if first > min(maxDistance, pos-m.low-1) || length >= limit {
		return length, 0
	}
	nice = min(nice, limit)
	farthest := min(maxDistance, pos-m.low) - 1
	index := uint16(m.base + uint32(pos))
	at := index - uint16(first)
	want := binary.LittleEndian.Uint16(src[pos+length-1:])
	for d := first; ; {
		if binary.LittleEndian.Uint16(src[pos-d+length-1:]) == want {
			if n := common(src, pos, pos-d, limit); n > length {
				length, distance = n, d
				if n >= nice {
					break
				}
				want = binary.LittleEndian.Uint16(src[pos+n-1:])
			}
		}
		at = m.back[at]
		d = int(index - at)
		if chain--; d > farthest || chain == 0 {
			break
		}
	}
	return length, distance
}

// common returns how many bytes of src from a on equal those from b on, b < a, and limit at most.
func common(src []byte, a, b, limit int) int {
	p, q := src[a:a+limit], src[b:b+limit]
	n := 0
	for ; len(p)-n >= 8; n += 8 {
		if x := binary.LittleEndian.Uint64(p[n:]) ^ binary.LittleEndian.Uint64(q[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < limit && p[n] == q[n] {
		n++
	}
	return n
}
