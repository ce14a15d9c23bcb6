package deflate

// findGeneric enters pos into the tables and looks for a match of it that is longer than before. If there is none and
// before is the least value, it adds the literal to the block, and may continue with the next positions until the block
// is full. It returns the position where it ended: the position of the match or, with distance 0, the next one.
func (e *Encoder) findGeneric(pos, before, chain int) (at, length, distance int) {
	if len(e.src)-pos >= minMatch {
		first := e.insert(pos)
		length, distance = e.longest(pos, first, before, e.nice, chain)
	}
	if distance == 0 && before == minMatch-1 {
		e.literal(e.src[pos])
		pos++
	}
	return pos, length, distance
}

// parseEager takes each match where it finds it, and reports whether the blocks fit.
func (e *Encoder) parseEager() bool {
	n, start := len(e.src), 0 // start of the block
	for pos := 0; pos < n; {
		e.slide(pos)
		length, distance := 0, 0
		pos, length, distance = e.find(pos, minMatch-1, e.chain)
		if distance > 0 {
			e.match(length, distance)
			end := pos + length
			if length <= e.lazy && n-end >= minMatch {
				e.insertAll(pos+1, end)
			}
			pos = end
		}
		if e.count == maxSymbols {
			if !e.flush(e.src[start:pos], start >= e.low, false) {
				return false
			}
			start = pos
		}
	}
	return e.flush(e.src[start:], start >= e.low, true)
}

// parseLazy takes a match only if there is no longer one at the next position, and reports whether the blocks fit.
//
// The C library decides about a literal at the next position. There its window moves and a full block ends. At the end
// of the input there is no next position.
func (e *Encoder) parseLazy() bool {
	n, start := len(e.src), 0 // start of the block
	for pos := 0; pos < n; {
		e.slide(pos)
		if e.count == maxSymbols {
			if !e.flush(e.src[start:pos], start >= e.low, false) {
				return false
			}
			start = pos
		}
		length, distance := 0, 0
		pos, length, distance = e.find(pos, minMatch-1, e.chain)
		if distance == 0 {
			continue
		}
		if length == minMatch && distance > tooFar {
			e.literal(e.src[pos])
			pos++
			continue
		}
		// There is a next position, because matches are longer than one byte.
		for pos++; ; pos++ {
			e.slide(pos)
			better, from := e.after(pos, length)
			if from == 0 {
				break
			}
			if e.literal(e.src[pos-1]) {
				if !e.flush(e.src[start:pos], start >= e.low, false) {
					return false
				}
				start = pos
			}
			length, distance = better, from
		}
		e.match(length, distance)
		end := pos - 1 + length
		if same := end - minMatch; distance == 1 && same > pos+1 {
			e.insertRun(pos+1, same)
			e.insertAll(same, end)
		} else {
			e.insertAll(pos+1, end)
		}
		pos = end
		if e.count == maxSymbols {
			if !e.flush(e.src[start:pos], start >= e.low, false) {
				return false
			}
			start = pos
		}
	}
	return e.flush(e.src[start:], start >= e.low, true)
}

// after enters pos and looks for a match that is longer than the match of the previous position.
func (e *Encoder) after(pos, length int) (better, distance int) {
	if length >= e.lazy {
		e.insertAll(pos, pos+1)
		return 0, 0
	}
	chain := e.chain
	if length >= e.good {
		chain >>= 2
	}
	_, better, distance = e.find(pos, length, chain)
	return better, distance
}
