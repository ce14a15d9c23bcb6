package deflate

import "encoding/binary"

// longBits is the number of bits of the hash of 4 bytes.
const longBits = 16

// long holds positions by a hash of 4 bytes.
//
// The C library examines a number of positions with the same hash of 3 bytes. Fewer have the same hash of 4 bytes, and
// every match of 4 bytes or more is among them. So a walk along these finds the same match in less time. To end where
// the C library ends, each index has a rank: the number of positions with its hash of 3 bytes that were entered up to
// it. The difference of the ranks of two positions with the same 3 bytes is the number of positions that the C library
// examines from one to the other.
//
// To enter a position takes longer, so only levels that examine many positions use this. All of them are lazy.
type long struct {
	heads [1 << longBits]uint32 // as in matcher
	back  [1 << 16]uint16
	ranks [1 << 16]uint16 // for each index by its low bits
}

// insert enters an index with the 4 bytes in v. before is the previous index with the same hash of 3 bytes.
func (l *long) insert(v, index, before uint32) {
	head := &l.heads[longHash(v)]
	l.back[uint16(index)] = uint16(index - min(index-*head, unreachable))
	*head = index
	l.ranks[uint16(index)] = l.ranks[uint16(before)] + 1
}

// insertRun enters the indexes from index to last, which are in a run of one byte. v has 4 of these bytes.
func (l *long) insertRun(v, index, last uint32) {
	l.heads[longHash(v)] = last
	rank := l.ranks[uint16(index-1)]
	for ; index <= last; index++ {
		rank++
		l.back[uint16(index)], l.ranks[uint16(index)] = uint16(index-1), rank
	}
}

// longHash returns the hash of 4 bytes.
func longHash(v uint32) uint32 { return v * 2_654_435_761 >> (32 - longBits) }

// longestOfLong examines the positions with the same hash of 4 bytes. It fails if too many of them have other bytes.
func (m *matcher) longestOfLong(pos, first, before, nice, chain int) (n, distance int, ok bool) {
	src, farthest, l := m.src, m.farthest(pos), m.long
	index := uint16(m.base + uint32(pos))
	at, rank := l.back[index], l.ranks[index]
	length := max(before, minMatch)
	want := binary.LittleEndian.Uint16(src[pos+length-1:])
	for budget := longBudget(chain); ; budget-- {
		d := int(index - at)
		if d > farthest {
			break
		}
		if budget == 0 {
			return 0, 0, false
		}
		if int(rank-l.ranks[at]) > chain {
			if binary.LittleEndian.Uint32(src[pos-d:]) == binary.LittleEndian.Uint32(src[pos:]) {
				break // the C library does not come to this position
			}
		} else if binary.LittleEndian.Uint16(src[pos-d+length-1:]) == want { // a call would take too long
			if n := common(src, pos, pos-d); n > length {
				length, distance = n, d
				if n >= nice {
					break
				}
				want = binary.LittleEndian.Uint16(src[pos+n-1:])
			}
		}
		at = l.back[at]
	}
	if distance == 0 && before < minMatch {
		length, distance = m.matchOf3(pos, first, chain)
	}
	return length, distance, true
}

// longBudget returns how many positions with the same hash of 4 bytes may be examined. Of those with the same bytes
// there are at most chain.
func longBudget(chain int) int { return 2*chain + 8 }

// matchOf3 looks for a match of 3 bytes, where there is none of 4. It looks no farther than tooFar.
func (m *matcher) matchOf3(pos, first, chain int) (n, distance int) {
	v := binary.LittleEndian.Uint32(m.src[pos:])
	index := uint16(m.base + uint32(pos))
	farthest := min(m.farthest(pos), tooFar)
	for d := first; d <= farthest && chain > 0; chain-- {
		if (binary.LittleEndian.Uint32(m.src[pos-d:])^v)<<8 == 0 {
			return minMatch, d
		}
		d = int(index - m.back[index-uint16(d)])
	}
	return minMatch - 1, 0
}
