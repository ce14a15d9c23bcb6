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
	lookahead   = maxMatch + minMatch + 1 // the C library loads more input if it has less than this
	maxDistance = windowSize - lookahead
	lastStart   = 2*windowSize - lookahead // position in the C library's window at which it moves
	tooFar      = 4096                     // matches of 3 bytes at larger distances are not used
	hashBits    = 15
	seenBits    = 18

	// unreachable is a distance that represents all distances that are too large. Adding it to a valid distance gives
	// less than 1<<16.
	unreachable = windowSize + 1<<8
)

// matcher finds matches of the input with itself. Indexes are positions plus base. base grows from input to input, so
// that the indexes of old inputs are too far away. So tables are cleared only if indexes get large.
type matcher struct {
	heads [1 << hashBits]uint32 // the last index of each hash
	back  [1 << 16]uint16       // for each index, the previous one with its hash; both by their low bits

	// recent has a bit for each seenHash of positions since the window moved, and older for positions between the last
	// two moves. Both ranges are longer than the largest distance, so there is no match if both bits are 0. In noise
	// that is the common case, and avoids a walk of unpredictable length.
	recent, older [1 << seenBits / 32]uint32

	long *long // or nil

	src  []byte
	base uint32
	end  uint32 // the largest index in the tables
	low  int    // start of the C library's window; this position cannot be matched
	walk walk
}

// walk is the task of a kernel, and its position.
type walk struct {
	pos, stop int
	before    int // required length of a match, less one
	nice      int
	chain     int
	budget    int
	length    int
	distance  int
}

// begin starts an input.
func (m *matcher) begin(src []byte) {
	if m.end > 1<<30 {
		m.heads = [1 << hashBits]uint32{}
		if m.long != nil {
			m.long.heads = [1 << longBits]uint32{}
		}
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

// slide moves the C library's window if it has less than lookahead bytes left and can move. pos is the next position.
func (m *matcher) slide(pos int) {
	if p := pos - m.low; p > lastStart || p == lastStart && len(m.src)-m.low < 2*windowSize {
		m.low += windowSize
		age(m.older[:], m.recent[:])
	}
}

// age turns recent bits into older bits. It is not a part of slide because Go 1.26 miscompiles the copy of a large
// array of known length on s390x: the copy does not end.
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

// insert enters a position into the tables. It returns the distance of the previous position with its hash, or
// unreachable if no position can have the same 3 bytes.
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
	if m.long != nil {
		m.long.insert(v, index, index-distance)
	}

	h := seenHash(v)
	word, bit := &m.recent[h/32], uint32(1)<<(h%32)
	if (*word|m.older[h/32])&bit == 0 {
		distance = unreachable
	}
	*word |= bit
	return int(distance)
}

// insertAllGeneric enters the positions from pos to end that have 3 bytes.
func (m *matcher) insertAllGeneric(pos, end int) {
	for end = min(end, len(m.src)-minMatch+1); pos < end; pos++ {
		m.insert(pos)
	}
}

// insertRun enters the positions from pos to end. They, and the 4 bytes at each of them, are in a run of one byte. So
// is the position before pos, which must have been entered.
func (m *matcher) insertRun(pos, end int) {
	if pos >= end {
		return
	}
	index, v := m.base+uint32(pos), binary.LittleEndian.Uint32(m.src[pos-1:])
	last := index + uint32(end-pos) - 1
	m.heads[hash(v)] = last
	for i := index; i <= last; i++ {
		m.back[uint16(i)] = uint16(i - 1)
	}
	if m.long != nil {
		m.long.insertRun(v, index, last)
	}
}

// longest looks for a match of pos that is longer than length, which is at least 2. first is the distance of the
// previous position with the same hash of 3 bytes. The C library begins there, and examines chain positions in total.
// longest returns length and 0 if there is no match.
func (m *matcher) longest(pos, first, length, nice, chain int) (n, distance int) {
	limit := min(maxMatch, len(m.src)-pos)
	if first > min(maxDistance, pos-m.low-1) || length >= limit {
		return length, 0
	}
	nice = min(nice, limit)
	if m.long != nil && limit > minMatch && first <= m.farthest(pos) {
		if n, distance, ok := m.longestOfLong(pos, first, length, nice, chain); ok {
			return n, distance
		}
	}
	return m.longestOfAll(pos, first, length, nice, chain)
}

// farthest returns the largest distance of the positions to examine after the first.
func (m *matcher) farthest(pos int) int { return min(maxDistance, pos-m.low) - 1 }

// longestOfAll examines what the C library does.
func (m *matcher) longestOfAll(pos, first, length, nice, chain int) (n, distance int) {
	src, farthest := m.src, m.farthest(pos)
	index := uint16(m.base + uint32(pos))
	at := index - uint16(first)
	want := binary.LittleEndian.Uint16(src[pos+length-1:])
	for d := first; ; {
		if binary.LittleEndian.Uint16(src[pos-d+length-1:]) == want {
			if n := common(src, pos, pos-d); n > length {
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

// common returns the number of equal bytes, at most maxMatch, at the start of src[a:] and src[b:], for b < a.
func common(src []byte, a, b int) int {
	limit := min(maxMatch, len(src)-a)
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
