package zstdenc

// matchFast finds matches with one table of hashes: the first position that fits is taken. Where nothing is found for
// long, steps become longer.
//
// The offset before is tried one position further, which costs little and finds the matches that go on behind a
// difference; shuffled numbers are full of them.
func (e *Encoder) matchFast(start, end int) {
	src := e.src[:end]
	base, table := e.base, e.tables.fast
	mask := hashed(e.params.minMatch)
	at, anchor := max(start, 1), start
	r1, r2 := int(e.repeats[0]), int(e.repeats[1])
	limit := end - 10
	for {
		var from int
		at, from = scanFast(src, table, base, mask, at, r1, limit)
		if at > limit {
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
		e.add(anchor, at, offset, length)
		first := at
		at += length
		anchor = at
		if at > limit {
			break
		}
		table[load64(src, first+2)&mask*prime>>(64-fastLog)] = base + uint32(first+2)
		table[load64(src, at-2)&mask*prime>>(64-fastLog)] = base + uint32(at-2)
		for at <= limit && load32(src, at) == load32(src, at-r2) {
			length := 4 + matchLength(src, at+4-r2, at+4)
			r1, r2 = r2, r1
			table[load64(src, at)&mask*prime>>(64-fastLog)] = base + uint32(at)
			e.add(at, at, 1, length)
			at += length
			anchor = at
		}
	}
	e.repeats = [3]uint32{uint32(r1), uint32(r2)} // the third one is not used
	e.rest(anchor, end)
}

// scanFast returns where the next match of 4 bytes is and where it comes from; behind limit if there is none. It is apart
// so that its few variables stay in registers.
func scanFast(src []byte, table *[1 << fastLog]uint32, base uint32, mask uint64, at, r1, limit int) (int, int) {
	for step, stepAt := 1, at+stepEvery; at <= limit; at += step {
		v := load64(src, at)
		slot := &table[v&mask*prime>>(64-fastLog)]
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
	return at, 0
}

// stepEvery is after how many bytes without match the steps grow.
const stepEvery = 128

// fastLog is the logarithm of the size of the table.
const fastLog = 14

// setRepeats brings the offsets of the sequences before up to date, as a decoder does (RFC 8878, section 3.1.1.5).
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
