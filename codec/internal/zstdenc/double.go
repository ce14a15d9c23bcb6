package zstdenc

// doubleTables are the tables of doubleMatch: of hashes of 8 bytes, for long matches, and of fewer bytes.
type doubleTables struct {
	long  [1 << doubleLog]uint32
	short [1 << doubleLog]uint32
}

// doubleLog is the logarithm of the size of each table.
const doubleLog = 17

func doubleHash(v uint64) uint64 { return v * prime >> (64 - doubleLog) }

// put puts a position into both tables.
func (t *doubleTables) put(src []byte, base uint32, mask uint64, at int) {
	v := load64(src, at)
	t.long[doubleHash(v)], t.short[doubleHash(v&mask)] = base+uint32(at), base+uint32(at)
}

// putMatch puts some positions of a match from at to end, of at least 4 bytes, into the tables: those where a later
// match is most likely to begin.
func (t *doubleTables) putMatch(src []byte, base uint32, mask uint64, at, end int) {
	t.put(src, base, mask, at+2)
	t.put(src, base, mask, at+1)
	if end-at >= 8 {
		t.put(src, base, mask, at+4)
		t.put(src, base, mask, at+5)
	}
	t.put(src, base, mask, end-2)
	t.short[doubleHash(load64(src, end-1)&mask)] = base + uint32(end-1)
}

// After fewLiterals literals without a match, the bytes are probably noise. There, a match of 4 bytes saves nothing if
// its offset takes many bits. So a match that table short finds must then have 5 bytes, unless its offset is below
// nearby.
const (
	fewLiterals = 16
	nearby      = 1 << 10
)

// scan returns the position of the next match of 4 bytes and the position that it repeats, or -1 if there is none up to
// limit. It is a separate function so that its few variables stay in registers.
func (t *doubleTables) scan(src []byte, base uint32, mask uint64, at, r1, limit int) (int, int) {
	few := at + fewLiterals
	for step, stepAt := 1, at+stepEvery; at <= limit; at += step {
		v := load64(src, at)
		slot := &t.long[doubleHash(v)]
		from := position(*slot, base)
		*slot = base + uint32(at)
		slot = &t.short[doubleHash(v&mask)]
		near := position(*slot, base)
		*slot = base + uint32(at)
		if load32(src, at+1-r1) == uint32(v>>8) {
			return at + 1, at + 1 - r1
		}
		if load64(src, from) == v {
			return at, from
		}
		if load32(src, near) == uint32(v) && (at < few || at-near < nearby || src[near+4] == src[at+4]) {
			if at < limit && load64(src, near) != v {
				return t.longer(src, base, at, near)
			}
			return at, near
		}
		if at >= stepAt {
			step++
			stepAt += stepEvery
		}
	}
	return at, -1
}

// longer returns the next position and what it repeats, if these are 8 bytes or more, or else at and from.
func (t *doubleTables) longer(src []byte, base uint32, at, from int) (int, int) {
	v := load64(src, at+1)
	slot := &t.long[doubleHash(v)]
	next := position(*slot, base)
	*slot = base + uint32(at+1)
	if load64(src, next) == v {
		return at + 1, next
	}
	return at, from
}
