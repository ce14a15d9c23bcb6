package zstdenc

// fastSearch is the part of an encoder that matchFast uses. It is a separate type for the kernel.
type fastSearch struct {
	src       []byte // the whole input
	end       int    // end of the block
	base      uint32
	table     *[1 << fastLog]uint32 // the table of fastMatch, or nil
	double    *doubleTables         // the tables of doubleMatch, or nil
	factor    uint64                // the factor of the hashes
	mask      uint64                // the bytes that double.short hashes; 0 if there is one table
	at        int                   // next position to search
	anchor    int                   // end of the last match
	r1, r2    int                   // the previous offsets
	sequences []sequence
	text      []byte
}

// matchFast finds matches with one table of hashes, or with two. It takes the first position that matches; with two
// tables it prefers a match of 8 bytes at the next one. As long as it finds nothing, its steps grow.
//
// It tries the previous offset one position further. This takes little time and finds matches that continue after a
// difference, which are common in shuffled numbers.
func (e *Encoder) matchFast(start, end int) {
	e.fast = fastSearch{
		src: e.src, end: end, base: e.base,
		at: max(start, 1), anchor: start, r1: int(e.repeats[0]), r2: int(e.repeats[1]),
		sequences: e.sequences, text: e.text,
	}
	s := &e.fast
	if e.params.strategy == doubleMatch {
		s.double, s.factor, s.mask = e.tables.double, prime, hashed(e.params.minMatch)
	} else {
		s.table, s.factor = e.tables.fast, factor(e.params.minMatch)
	}
	s.run()
	e.repeats = [3]uint32{uint32(s.r1), uint32(s.r2)} // the third offset is not used
	e.sequences, e.text = s.sequences, s.text
	s.src = nil
	e.rest(s.anchor, end)
}

// runGeneric processes the rest of the block. sequences and text must have enough space.
func (s *fastSearch) runGeneric() {
	src := s.src[:s.end]
	at, anchor, r1, r2 := s.at, s.anchor, s.r1, s.r2
	limit := s.end - 10
	for {
		var from int
		if s.double != nil {
			at, from = s.double.scan(src, s.base, s.mask, at, r1, limit)
		} else {
			at, from = scanFast(src, s.table, s.base, s.factor, at, r1, limit)
		}
		if from < 0 {
			break
		}
		length := 4 + matchLength(src, from+4, at+4)
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
		s.text = appendText(s.text, s.src, anchor, at)
		s.sequences = append(s.sequences, sequence{uint32(at - anchor), uint32(length), offset})
		first := at
		at += length
		anchor = at
		if at > limit {
			break
		}
		if s.double != nil {
			s.double.putMatch(src, s.base, s.mask, first, at)
		} else {
			s.put(first + 2)
			s.put(at - 2)
		}
		for at <= limit && load32(src, at) == load32(src, at-r2) {
			length := 4 + matchLength(src, at+4-r2, at+4)
			r1, r2 = r2, r1
			s.put(at)
			s.sequences = append(s.sequences, sequence{0, uint32(length), 1})
			at += length
			anchor = at
		}
	}
	s.at, s.anchor, s.r1, s.r2 = at, anchor, r1, r2
}

// put puts a position into the tables.
func (s *fastSearch) put(at int) {
	if s.double != nil {
		s.double.put(s.src, s.base, s.mask, at)
	} else {
		s.table[load64(s.src, at)*s.factor>>(64-fastLog)] = s.base + uint32(at)
	}
}

// scanFast returns the position of the next match of 4 bytes and the position that it repeats, or -1 if there is none
// up to limit. It is a separate function so that its few variables stay in registers.
func scanFast(src []byte, table *[1 << fastLog]uint32, base uint32, factor uint64, at, r1, limit int) (int, int) {
	for step, stepAt := 1, at+stepEvery; at <= limit; at += step {
		v := load64(src, at)
		slot := &table[v*factor>>(64-fastLog)]
		from := position(*slot, base)
		*slot = base + uint32(at)
		if load32(src, at+1-r1) == uint32(v>>8) {
			return at + 1, at + 1 - r1
		}
		if load32(src, from) == uint32(v) {
			return at, from
		}
		if at >= stepAt {
			step++
			stepAt += stepEvery
		}
	}
	return at, -1
}

// stepEvery is the number of bytes without match after which the steps grow. Planes of shuffled records are a few KiB:
// after the noise of one plane, steps must not be longer than the matches of the next.
const stepEvery = 256

// fastLog is the logarithm of the size of the table.
const fastLog = 14

// setRepeats updates the offsets for the previous sequences, like a decoder (RFC 8878, section 3.1.1.5).
func (e *Encoder) setRepeats() {
	for i := range e.sequences {
		s := &e.sequences[i]
		e.repeats = repeatsAfter(e.repeats, s.offset, s.literals == 0)
	}
}

// repeatsAfter returns the three offsets after a sequence.
func repeatsAfter(r [3]uint32, offset uint32, noLiterals bool) [3]uint32 {
	if offset > 3 {
		return [3]uint32{offset - 3, r[0], r[1]}
	}
	which := offset
	if noLiterals {
		which++
	}
	switch which {
	case 1:
		return r
	case 2:
		return [3]uint32{r[1], r[0], r[2]}
	case 3:
		return [3]uint32{r[2], r[0], r[1]}
	}
	return [3]uint32{r[0] - 1, r[0], r[1]}
}
