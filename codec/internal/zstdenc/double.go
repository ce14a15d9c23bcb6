package zstdenc

// Sizes of the tables of matchDouble.
const (
	longLog  = 16
	shortLog = 16
)

func longHash(v uint64) uint64  { return v * prime >> (64 - longLog) }
func shortHash(v uint64) uint64 { return v * prime >> (64 - shortLog) }

// matchDouble finds matches with two tables of hashes: of 8 bytes, for long matches, and of minMatch bytes. If it finds
// a short match, it first looks for a long match at the next position.
func (e *Encoder) matchDouble(start, end int) {
	src := e.src[:end]
	base, long, short := e.base, e.tables.double, e.tables.short
	mask := hashed(e.params.minMatch)
	at, anchor := max(start, 1), start
	r1, r2 := int(e.repeats[0]), int(e.repeats[1])
	limit := end - 10
	for {
		var from int
		at, from = e.tables.scanDouble(src, base, mask, at, r1, limit)
		if at > limit {
			break
		}
		length := 4 + matchLength(src, from+4, at+4)
		if length < 8 && at-from != r1 && at < limit {
			v := load64(src, at+1)
			slot := &long[longHash(v)]
			next := position(*slot, base)
			*slot = base + uint32(at+1)
			if load64(src, next) == v {
				at, from = at+1, next
				length = 8 + matchLength(src, from+8, at+8)
			}
		}
		for at > anchor && from > 0 && src[at-1] == src[from-1] {
			at--
			from--
			length++
		}
		offset := uint32(1)
		if at-from != r1 || at == anchor { // without literals 1 is the second offset
			offset = uint32(at-from) + 3
			r1, r2 = at-from, r1
		}
		e.add(anchor, at, offset, length)
		first := at
		at += length
		anchor = at
		if at > limit {
			break
		}
		v := load64(src, first+2)
		long[longHash(v)], short[shortHash(v&mask)] = base+uint32(first+2), base+uint32(first+2)
		v = load64(src, at-2)
		long[longHash(v)], short[shortHash(v&mask)] = base+uint32(at-2), base+uint32(at-2)
		short[shortHash(load64(src, at-1)&mask)] = base + uint32(at-1)
		for at <= limit && load32(src, at) == load32(src, at-r2) {
			length := 4 + matchLength(src, at+4-r2, at+4)
			r1, r2 = r2, r1
			v := load64(src, at)
			long[longHash(v)], short[shortHash(v&mask)] = base+uint32(at), base+uint32(at)
			e.add(at, at, 1, length)
			at += length
			anchor = at
		}
	}
	e.repeats = [3]uint32{uint32(r1), uint32(r2)} // the third offset is not used
	e.rest(anchor, end)
}

// scanDouble returns the position of the next match of 4 bytes and the position that it repeats. If there is none, it
// returns a position after limit. It is a separate function so that its few variables stay in registers.
func (t *tables) scanDouble(src []byte, base uint32, mask uint64, at, r1, limit int) (int, int) {
	long, short := t.double, t.short
	for step, stepAt := 1, at+stepEvery; at <= limit; at += step {
		v := load64(src, at)
		slot := &long[longHash(v)]
		from := position(*slot, base)
		*slot = base + uint32(at)
		slot = &short[shortHash(v&mask)]
		near := position(*slot, base)
		*slot = base + uint32(at)
		if load32(src, at+1-r1) == uint32(v>>8) {
			return at + 1, at + 1 - r1
		}
		if load64(src, from) == v {
			return at, from
		}
		if load32(src, near) == uint32(v) {
			return at, near
		}
		if at >= stepAt {
			step++
			stepAt += stepEvery
		}
	}
	return at, 0
}
