package zstdenc

import "math/bits"

// maxHuffmanBits is the length of the longest codes (RFC 8878, section 4.2.1).
const maxHuffmanBits = 11

// huffmanCode is a Huffman code for literals. Codes are numbered starting at the longest, because the decoder's table
// begins with these (RFC 8878, section 4.2.1.3).
type huffmanCode struct {
	code    [256]uint16 // the code in the high bits, its length in the low 4; 0 for symbols without code
	longest uint
	last    int // last symbol with a code
	valid   bool
}

func (h *huffmanCode) length(s int) uint { return uint(h.code[s] & 15) }

// build builds a code of at most limit bits for literals with these counts. At least two literals must occur.
//
// The lengths are Huffman's. There are two queues: the symbols in the order of their counts, and the pairs in the order
// in which they were made. The two smallest entries of both make the next pair. Lengths above the limit are truncated,
// and the excess of the code is taken from the least frequent symbols whose codes can be longer.
func (h *huffmanCode) build(count *[256]uint32, limit uint, s *sorter) {
	keys := s.sort(count)
	n := len(keys)
	// Nodes: the symbols, then the pairs.
	nodes, parents := &s.nodes, &s.parents
	for i, k := range keys {
		nodes[i] = k >> 8
	}
	leaf, pair := 0, n
	for next := n; next < 2*n-1; next++ {
		sum := uint32(0)
		for range 2 {
			if leaf < n && (pair == next || nodes[leaf] <= nodes[pair]) {
				sum += nodes[leaf]
				parents[leaf] = uint16(next)
				leaf++
			} else {
				sum += nodes[pair]
				parents[pair] = uint16(next)
				pair++
			}
		}
		nodes[next] = sum
	}
	depths := &s.depths
	depths[2*n-2] = 0
	for i := 2*n - 3; i >= 0; i-- {
		depths[i] = depths[parents[i]] + 1
	}
	limitDepths(depths[:n], limit)
	h.assign(keys, depths[:n])
}

// limitDepths shortens lengths of codes, the longest of which come first, to at most limit.
func limitDepths(depths []uint8, limit uint) {
	if uint(depths[0]) <= limit {
		return
	}
	over := -(1 << limit) // the part of 1<<limit that the codes take
	for i, d := range depths {
		if uint(d) > limit {
			depths[i] = uint8(limit)
		}
		over += 1 << (limit - uint(depths[i]))
	}
	for over > 0 {
		// The longest codes below the limit free the least, and belong to the rarest symbols.
		i := 0
		for uint(depths[i]) == limit {
			i++
		}
		over -= 1 << (limit - uint(depths[i]) - 1)
		depths[i]++
	}
	for over < 0 { // the smallest unit divides the rest, so some code can use a part of it
		for i := len(depths) - 1; i >= 0; i-- { // the most frequent first
			if d := uint(depths[i]); d > 1 && 1<<(limit-d) <= -over {
				over += 1 << (limit - d)
				depths[i]--
			}
		}
	}
}

// assign assigns the codes with these lengths.
func (h *huffmanCode) assign(keys []uint32, depths []uint8) {
	h.code = [256]uint16{}
	h.longest, h.last = 0, 0
	var number [maxHuffmanBits + 2]uint16
	for i, k := range keys {
		d := depths[i]
		number[d]++
		h.longest = max(h.longest, uint(d))
		h.last = max(h.last, int(k&255))
		h.code[k&255] = uint16(d)
	}
	next := uint16(0)
	for d := h.longest; d > 0; d-- {
		n := number[d]
		number[d] = next
		next = (next + n) >> 1
	}
	for s := range h.code[:h.last+1] {
		if d := h.code[s]; d > 0 {
			h.code[s] |= number[d] << 4
			number[d]++
		}
	}
	h.valid = true
}

// cost returns the number of bits of literals with these counts, and false if some have no code.
func (h *huffmanCode) cost(count *[256]uint32) (int, bool) {
	sum := uint64(0)
	for s, c := range count {
		n := h.length(s)
		if n == 0 && c > 0 {
			return 0, false
		}
		sum += uint64(c) * uint64(n)
	}
	return int((sum + 7) / 8), true
}

// descriptionRoom is enough for any description of a code, even if it is too long: 6 bits for each weight.
const descriptionRoom = 256

// describe writes the description of the code (RFC 8878, section 4.2.1.1) to dst, which must have descriptionRoom
// bytes. It returns the length of the description, at most 128 bytes, or 0 if no description is that short.
func (h *huffmanCode) describe(dst []byte) int {
	var weights [256]uint8
	var count [maxHuffmanBits + 2]uint32
	for s := range h.last {
		if n := h.length(s); n > 0 {
			weights[s] = uint8(h.longest + 1 - n)
		}
		count[weights[s]]++
	}
	n := describeWeights(dst[1:], weights[:h.last], count[:])
	if n > 0 && n < 128 && n < (h.last+1)/2 {
		dst[0] = uint8(n)
		return n + 1
	}
	if h.last > 128 {
		return 0
	}
	dst[0] = uint8(127 + h.last)
	for i := 0; i < h.last; i += 2 {
		dst[1+i/2] = weights[i]<<4 | weights[i+1]
	}
	return 1 + (h.last+1)/2
}

// describeWeights writes weights with two alternating states (RFC 8878, section 4.2.1.2). It returns 0 if the weights
// are too few or all equal.
func describeWeights(dst []byte, weights []uint8, count []uint32) int {
	highest, most := 0, uint32(0)
	for w, c := range count {
		if c > 0 {
			highest = w
		}
		most = max(most, c)
	}
	n := len(weights)
	if n < 2 || int(most) == n {
		return 0
	}
	var d distribution
	d.normalize(count, uint32(n), statesLog(uint32(n), highest, 6))
	var m machine
	m.build(&d)
	used := d.describe(dst)
	w := bitWriter{dst: dst, at: used}
	var states [2]uint32
	states[(n-1)&1] = m.start(weights[n-1])
	states[n&1] = m.start(weights[n-2])
	for i := n - 3; i >= 0; i-- {
		t := m.code[weights[i]]
		state := states[i&1]
		bits := (state + t.bits) >> 16
		w.add(uint64(state&(1<<bits-1)), uint(bits))
		w.flush()
		states[i&1] = uint32(m.next[int32(state>>bits)+t.place])
	}
	w.add(uint64(states[1]&(1<<m.log-1)), m.log)
	w.add(uint64(states[0]&(1<<m.log-1)), m.log)
	return w.end()
}

// sorter holds memory for the construction of a code.
type sorter struct {
	keys    [2][256]uint32
	nodes   [512]uint32
	parents [512]uint16
	depths  [512]uint8
}

// sort returns the symbols that occur, the rarest first: the count of each and, in the low 8 bits, the symbol.
func (s *sorter) sort(count *[256]uint32) []uint32 {
	n, most := 0, uint32(0)
	for i, c := range count {
		if c > 0 {
			s.keys[0][n] = c<<8 | uint32(i)
			most = max(most, c)
			n++
		}
	}
	// Radix sort by digits of 6 bits, the lowest first.
	from, to := &s.keys[0], &s.keys[1]
	for shift := 8; shift < 8+bits.Len32(most); shift += 6 {
		var place [64]uint16
		for _, k := range from[:n] {
			place[k>>shift&63]++
		}
		sum := uint16(0)
		for i, c := range place {
			place[i] = sum
			sum += c
		}
		for _, k := range from[:n] {
			to[uint8(place[k>>shift&63])] = k
			place[k>>shift&63]++
		}
		from, to = to, from
	}
	return from[:n]
}
