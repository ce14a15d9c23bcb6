package lz4hc

import "github.com/goblosc/blosc2/codec/internal/lz4block"

const midHashBits = 14

// midTables holds the last index of each hash of 4 bytes and of each hash of 7.
type midTables struct {
	short, long [1 << midHashBits]uint32
}

func midHash4(v uint32) uint32 { return v * 2_654_435_761 >> (32 - midHashBits) }
func midHash7(v uint64) uint64 { return v << 8 * 58_295_818_150_454_627 >> (64 - midHashBits) }

// encode writes all sequences of a block except the last literals. It reports whether there was space.
func (t *midTables) encode(b *block) bool {
	for {
		pos, at, best := t.scan(b)
		if pos > len(b.src)-lz4block.TailLength {
			return true
		}
		m := match{pos, lz4block.MatchLength(b.src, pos, at), pos - at}
		if !best {
			m = t.better(b, m)
		}
		for m.start > b.anchor && m.start > m.distance && b.src[m.start-1] == b.src[m.start-m.distance-1] {
			m.start--
			m.length++
		}
		b.found, b.start = pos, m.start
		if !b.emit(m) {
			return false
		}
	}
}

// enter enters positions after the start of the last match and before its end.
func (t *midTables) enter(b *block) {
	// The bytes are those after the start of the match. The indexes are those after the position where it was found.
	// They differ if the start has moved, as in the C library.
	index := b.base + uint32(b.found)
	next8 := lz4block.Load64(b.src, b.start+1)
	t.long[midHash7(next8)] = index + 1
	t.long[midHash7(lz4block.Load64(b.src, b.start+2))] = index + 2
	t.short[midHash4(uint32(next8))] = index + 1

	pos := b.anchor
	index = b.base + uint32(pos)
	if pos > 5 {
		t.long[midHash7(lz4block.Load64(b.src, pos-5))] = index - 5
	}
	t.long[midHash7(lz4block.Load64(b.src, pos-3))] = index - 3
	last8 := lz4block.Load64(b.src, pos-2)
	t.long[midHash7(last8)] = index - 2
	t.short[midHash4(uint32(last8))] = index - 2
	t.short[midHash4(uint32(last8>>8))] = index - 1
}

// scanGeneric looks for a position with a match, starting at the end of the last match. It returns the position, the
// position that it repeats, and whether the match is certainly the best one, because the hash of 7 bytes found it. If
// there is no match, the position is after the last one that may have a match. It enters the positions that it examines
// into the tables, and before them some of the last match.
func (t *midTables) scanGeneric(b *block) (found, at int, best bool) {
	src, pos := b.src, b.anchor
	if pos > 0 && pos <= len(src)-lz4block.TailLength {
		t.enter(b)
	}
	for pos <= len(src)-lz4block.TailLength {
		index := b.base + uint32(pos)
		first8 := lz4block.Load64(src, pos)
		slot := &t.long[midHash7(first8)]
		candidate := *slot
		*slot = index
		if candidate >= b.base && index-candidate <= lz4block.MaxDistance {
			if at := int(candidate - b.base); lz4block.Load32(src, at) == uint32(first8) {
				return pos, at, true
			}
		}
		slot = &t.short[midHash4(uint32(first8))]
		candidate = *slot
		*slot = index
		if candidate >= b.base && index-candidate <= lz4block.MaxDistance {
			if at := int(candidate - b.base); lz4block.Load32(src, at) == uint32(first8) {
				return pos, at, false
			}
		}
		pos += 1 + (pos-b.anchor)>>9 // larger steps as long as nothing matches
	}
	return pos, 0, false
}

// better returns m, which the hash of 4 bytes found, or a longer match that starts one byte later.
func (t *midTables) better(b *block, m match) match {
	pos := m.start + 1
	if pos > len(b.src)-lz4block.TailLength {
		return m
	}
	index := b.base + uint32(pos)
	next8 := lz4block.Load64(b.src, pos)
	slot := &t.long[midHash7(next8)]
	if candidate := *slot; candidate >= b.base && index-candidate <= lz4block.MaxDistance {
		at := int(candidate - b.base)
		if lz4block.Load32(b.src, at) == uint32(next8) {
			if n := lz4block.MatchLength(b.src, pos, at); n > m.length {
				*slot = index
				return match{pos, n, pos - at}
			}
		}
	}
	return m
}
