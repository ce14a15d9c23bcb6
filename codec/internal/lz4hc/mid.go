package lz4hc

const midHashBits = 14

// midTables holds the last index of each hash of 4 bytes and of each hash of 7.
type midTables struct {
	short, long [1 << midHashBits]uint32
}

func midHash4(v uint32) uint32 { return v * 2_654_435_761 >> (32 - midHashBits) }
func midHash7(v uint64) uint64 { return v << 8 * 58_295_818_150_454_627 >> (64 - midHashBits) }

func (t *midTables) addShort(b *block, pos int, index uint32) {
	t.short[midHash4(load32(b.src, pos))] = index
}

func (t *midTables) addLong(b *block, pos int, index uint32) {
	t.long[midHash7(load64(b.src, pos))] = index
}

// encode writes all sequences of a block but the last literals. It reports whether there was room.
func (t *midTables) encode(b *block) bool {
	lastStart := len(b.src) - tailLength
	for pos := 0; pos <= lastStart; {
		m := t.find(b, pos)
		if m.length < minMatch {
			pos += 1 + (pos-b.anchor)>>9 // ever faster where nothing matches
			continue
		}
		for m.start > b.anchor && m.start > m.distance && b.src[m.start-1] == b.src[m.start-m.distance-1] {
			m.start--
			m.length++
		}
		// The bytes are those after the start of the match, the indexes those after pos. They differ when the
		// start has moved, which the C library does not mind.
		index := b.base + uint32(pos)
		t.addLong(b, m.start+1, index+1)
		t.addLong(b, m.start+2, index+2)
		t.addShort(b, m.start+1, index+1)
		if !b.emit(m) {
			return false
		}
		pos = m.end()
		if index := b.base + uint32(pos); pos < len(b.src)-6 {
			if pos > 5 {
				t.addLong(b, pos-5, index-5)
			}
			t.addLong(b, pos-3, index-3)
			t.addLong(b, pos-2, index-2)
			t.addShort(b, pos-2, index-2)
			t.addShort(b, pos-1, index-1)
		}
	}
	return true
}

// find looks for a match at pos, and at the byte after it where there is only a short one at pos. It enters pos
// into the tables.
func (t *midTables) find(b *block, pos int) match {
	src := b.src
	index := b.base + uint32(pos)
	first8 := load64(src, pos)
	first4 := uint32(first8)

	slot := &t.long[midHash7(first8)]
	candidate := *slot
	*slot = index
	if candidate >= b.base && index-candidate <= maxDistance {
		if at := int(candidate - b.base); load32(src, at) == first4 {
			return match{pos, b.matchLength(pos, at), pos - at}
		}
	}
	slot = &t.short[midHash4(first4)]
	candidate = *slot
	*slot = index
	if candidate < b.base || index-candidate > maxDistance {
		return match{}
	}
	at := int(candidate - b.base)
	if load32(src, at) != first4 {
		return match{}
	}
	m := match{pos, b.matchLength(pos, at), pos - at}
	if pos == len(src)-tailLength {
		return m
	}
	next8 := load64(src, pos+1)
	slot = &t.long[midHash7(next8)]
	candidate = *slot
	if candidate >= b.base && index+1-candidate <= maxDistance {
		at := int(candidate - b.base)
		if load32(src, at) == uint32(next8) {
			if n := b.matchLength(pos+1, at); n > m.length {
				*slot = index + 1
				return match{pos + 1, n, pos + 1 - at}
			}
		}
	}
	return m
}
