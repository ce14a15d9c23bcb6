package zstdenc

import (
	"math"
	"math/bits"
)

// optimal finds the cheapest path through a block with its matches.
type optimal struct {
	nodes   []node
	steps   steps
	prices  prices
	literal [256]uint32 // counts, on which the prices depend
	codes   [3][64]uint32
	ready   bool // there are counts of a previous block
	best    path // of the walks through this block
}

// node is what the next step needs to know of the cheapest path to a position in a block.
type node struct {
	literals uint32 // literals after the last match
	repeats  [3]uint32
}

// steps holds the cheapest path to each position in a block: its cost and its last step. The slices have the same
// length.
type steps struct {
	costs   []uint32 // of the whole path, or unreached
	lengths []uint32 // length of the match that ends here; 0 for a literal
	offsets []uint32 // offset of that match
}

const unreached = 1<<32 - 1

func makeSteps(n int) steps {
	return steps{make([]uint32, n), make([]uint32, n), make([]uint32, n)}
}

// fit makes room for the blocks of n bytes.
func (o *optimal) fit(n int) {
	if n = min(n, maxBlock) + 1; len(o.nodes) < n {
		n = min(1<<bits.Len(uint(n)), maxBlock+1)
		o.nodes, o.steps = make([]node, n), makeSteps(n)
	}
}

// match is a match whose cost is price and the price of its length.
type match struct{ price, length, offset uint32 }

// relaxGeneric tries a match for each price of a length. The first has the length of m and ends at position i. Each of
// the others is one byte longer than the one before. A match becomes the last step to a position that it reaches for
// less.
func (s *steps) relaxGeneric(i int, prices []uint32, m match) {
	n := len(prices)
	costs, lengths, offsets := s.costs[i:][:n], s.lengths[i:][:n], s.offsets[i:][:n]
	for k, p := range prices {
		if cost := m.price + p; cost < costs[k] {
			costs[k], lengths[k], offsets[k] = cost, m.length+uint32(k), m.offset
		}
	}
}

// firstCodes are the initial counts.
var firstCodes = makeFirstCodes()

func makeFirstCodes() (c [3][64]uint32) {
	for which, n := range [3]int{36, 32, 53} {
		for i := range n {
			c[which][i] = 1
		}
	}
	c[literalLengths][0], c[literalLengths][1] = 4, 2
	copy(c[matchOffsets][:], []uint32{6, 2, 1, 1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4})
	copy(c[matchLengths][:], []uint32{24, 16, 12, 8, 6, 4, 3, 2, 2, 2})
	return c
}

// parse finds matches with the tree, and the cheapest path with them. Costs depend on the path. The first pass starts
// with the counts of the codes in the previous block, or a guess, and those of all bytes of this block. Each further
// pass starts with the counts of the path before. There is no further pass if a path costs at least 99% of what was
// expected: it would find nearly the same path.
func (e *Encoder) parse(start, end int) {
	o := e.optimal
	e.find(start, end)
	histogram(&o.literal, e.src[start:end], &e.literals.parts)
	if !o.ready {
		o.codes = firstCodes
		o.ready = true
	}
	n := end - start
	o.best.cost = math.MaxUint64
	passes := e.params.passes
	for pass := uint8(1); ; pass++ {
		o.setPrices()
		expected, cost := o.walk(e, start, end)
		if len(e.sequences) < n>>7 {
			passes = max(passes, 2) // passes are fast, and small differences matter if the block is small
		}
		if pass >= passes || cost > expected-expected/100 {
			break
		}
	}
	if (start == 0 || len(e.sequences) < n>>6) && len(e.finder.found) > n>>2 {
		o.insist(e, start, end)
	}
	o.restore(e)
	e.setRepeats()
}

// insist looks for a path with many short matches. They are cheap if there are many of them, with the same codes. But a
// walk with the prices of a few never takes the first. So the first walk here starts with expensive literals. It is
// worth the time where parse found hardly any matches, and in the first block, whose counts the next block starts with.
func (o *optimal) insist(e *Encoder, start, end int) {
	o.codes = firstCodes
	o.setPrices()
	for i := range o.prices.literal {
		o.prices.literal[i] *= 2
	}
	o.walk(e, start, end)
	o.setPrices()
	o.walk(e, start, end)
}

// path is a path through a block, with the counts of its literals and codes.
type path struct {
	cost      uint64 // with ideal codes for these counts
	sequences []sequence
	text      []byte
	literal   [256]uint32
	codes     [3][64]uint32
}

// walk finds the path that is the cheapest with the current prices. It returns its cost with these prices, and with
// those that follow from the counts of the path. It keeps the path if it is the best one of the block.
func (o *optimal) walk(e *Encoder, start, end int) (expected, cost uint64) {
	o.visit(e, start, end)
	expected = uint64(o.steps.costs[end-start])
	o.collect(e, start, end)
	o.sample(e, start, end)
	cost = o.entropy()
	if b := &o.best; cost < b.cost {
		b.cost, b.literal, b.codes = cost, o.literal, o.codes
		b.sequences, b.text = append(b.sequences[:0], e.sequences...), append(b.text[:0], e.text...)
	}
	return expected, cost
}

// restore takes the best path of the block, and its counts for the next block.
func (o *optimal) restore(e *Encoder) {
	b := &o.best
	o.literal, o.codes = b.literal, b.codes
	e.sequences, e.text = append(e.sequences[:0], b.sequences...), append(e.text[:0], b.text...)
}

// entropy returns the cost of the counted literals and sequences in ideal codes.
func (o *optimal) entropy() uint64 {
	total := uint32(0)
	for _, c := range o.literal {
		total += c
	}
	sum := uint64(0)
	if total > 0 {
		sum = entropy(o.literal[:], total)
	}
	for which, codes := range &o.codes {
		total := uint32(0)
		for code, c := range codes {
			total += c
			sum += uint64(c) * extraBits(which, code) * oneBit
		}
		if total > 0 {
			sum += entropy(codes[:], total)
		}
	}
	return sum
}

// sample counts the codes in the sequences and literals of the encoder.
func (o *optimal) sample(e *Encoder, start, end int) {
	histogram(&o.literal, e.literalsOf(start, end), &e.literals.parts)
	o.codes = [3][64]uint32{}
	for i := range e.sequences {
		s := &e.sequences[i]
		o.codes[literalLengths][literalCode(s.literals)&63]++
		o.codes[matchOffsets][offsetCode(s.offset)]++
		o.codes[matchLengths][matchCode(s.length-minMatch)&63]++
	}
}

// extraBits returns the number of bits after a code.
func extraBits(which, code int) uint64 {
	switch which {
	case literalLengths:
		return uint64(literalBits[code])
	case matchLengths:
		return uint64(matchBits[code])
	}
	return uint64(code)
}

// The counts have at most about these sums at the start of a walk, so that those of the walk soon matter beside them.
const (
	literalsLog = 12
	codesLog    = 11
)

// setPrices limits the counts for a walk and sets the prices.
func (o *optimal) setPrices() {
	limit(o.literal[:], literalsLog)
	for which := range o.codes {
		limit(o.codes[which][:], codesLog)
	}
	o.prices.set(&o.literal, &o.codes)
}

// limit divides all counts by a power of two, so that their sum is less than 2<<log.
func limit(counts []uint32, log int) {
	sum := uint32(0)
	for _, c := range counts {
		sum += c
	}
	shift := max(bits.Len32(sum>>log)-1, 0)
	for i := range counts {
		counts[i] >>= shift
	}
}

// learned is the least number of positions between two nodes where the prices change.
const learned = 4 << 10

// learn adds the cheapest path between two nodes to the counts and sets the prices again. All paths to later nodes lead
// through the second node.
func (o *optimal) learn(e *Encoder, start, from, to int) {
	for i := to; i > from; {
		n := o.steps.lengths[i]
		if n == 0 {
			i--
			o.literal[e.src[start+i]]++
			continue
		}
		o.codes[matchOffsets][offsetCode(o.steps.offsets[i])]++
		o.codes[matchLengths][matchCode(n-minMatch)&63]++
		i -= int(n)
		o.codes[literalLengths][literalCode(o.nodes[i].literals)&63]++
	}
	o.prices.set(&o.literal, &o.codes)
}

// visit sets the nodes of a block, starting at the first: it tries every step from each node. The prices follow the
// cheapest path.
func (o *optimal) visit(e *Encoder, start, end int) {
	src := e.src[:end]
	f := &e.finder
	p := &o.prices
	n := end - start
	nodes := o.nodes[:n+1]
	costs, lengths := o.steps.costs[:n+1], o.steps.lengths[:n+1]
	nodes[0] = node{repeats: e.repeats}
	costs[0] = 0
	reached := 0 // later nodes have no cost yet
	known := 0   // the prices contain the path to this node
	for i := 0; i < n; i++ {
		if i == reached && i-known >= learned {
			o.learn(e, start, known, i)
			known = i
		}
		d := &nodes[i]
		if i > 0 {
			if lengths[i] > 0 {
				before := &nodes[i-int(lengths[i])]
				d.repeats = repeatsAfter(before.repeats, o.steps.offsets[i], before.literals == 0)
				d.literals = 0
			} else {
				d.repeats = nodes[i-1].repeats
				d.literals = nodes[i-1].literals + 1
			}
		}
		// A literal.
		cost := costs[i] + p.literal[src[start+i]] + p.more[min(d.literals, priced-1)]
		if i == reached || cost < costs[i+1] {
			reached = max(reached, i+1)
			costs[i+1], lengths[i+1] = cost, 0
		} else if !e.params.thorough && costs[i+1] <= costs[i]+oneBit/2 && !f.long(i) {
			continue // there is a better path
		}
		at := start + i
		if at > end-8 {
			continue
		}
		longest, last := o.repeat(e, src, at, i, &reached)
		base := o.matchPrice(i)
		from := uint32(minMatch)
		for _, c := range f.found[f.firsts[i]:f.firsts[i+1]] {
			code := c.distance + 3
			price := base + p.offset[offsetCode(code)]
			if int(c.length) >= f.greedy {
				from = c.length
			}
			o.relax(i, from, c.length, code, price, &reached)
			from = c.length + 1
			if int(c.length) > longest {
				longest, last = int(c.length), code
			}
		}
		if longest >= f.greedy {
			i = o.skip(f, i, longest, last, &reached)
		}
	}
}

// skip returns the last node to leave out inside a long match that starts at node i. It stops where another match
// begins, which may reach further.
func (o *optimal) skip(f *finder, i, length int, offset uint32, reached *int) int {
	// Search in steps that first grow, because the next match may be near or far.
	k, end, first := i+1, i+length, f.firsts[i+1]
	step := 1
	for ; k+step <= end && f.firsts[k+step] == first; step *= 2 {
		k += step
	}
	for ; step > 0; step /= 2 {
		if k+step <= end && f.firsts[k+step] == first {
			k += step
		}
	}
	if k == end {
		return end - 1
	}
	if k-i < minMatch {
		return i // it is not far
	}
	price := o.matchPrice(i) + o.prices.offset[offsetCode(offset)]
	o.relax(i, uint32(k-i), uint32(k-i), offset, price, reached)
	return k - 1
}

// repeat tries the matches at the previous offsets. It returns the largest length and its code. Few positions have
// one, and this runs for all, so the three tests are written out.
func (o *optimal) repeat(e *Encoder, src []byte, at, i int, reached *int) (longest int, last uint32) {
	d := &o.nodes[i]
	first, second, third := d.repeats[0], d.repeats[1], d.repeats[2]
	if d.literals == 0 {
		first, second, third = second, third, first-1
	}
	v := load32(src, at) << 8
	if repeats3(src, at, first, v) {
		longest, last = o.repeatAt(e, src, at, i, first, 1, 0, reached), 1
	}
	if repeats3(src, at, second, v) {
		if n := o.repeatAt(e, src, at, i, second, 2, longest, reached); n > longest {
			longest, last = n, 2
		}
	}
	if repeats3(src, at, third, v) {
		if n := o.repeatAt(e, src, at, i, third, 3, longest, reached); n > longest {
			longest, last = n, 3
		}
	}
	return longest, last
}

// repeats3 reports whether the 3 bytes at a position repeat those at a distance, which may be 0 or lead to before the
// input. v has the 3 bytes, shifted by 8 bits.
func repeats3(src []byte, at int, distance, v uint32) bool {
	from := at - int(distance)
	return uint(from) < uint(at) && load32(src, from)<<8 == v
}

// repeatAt tries the match at a previous offset, which has this code, if it is longer than longest. It returns its
// length.
func (o *optimal) repeatAt(e *Encoder, src []byte, at, i int, offset, code uint32, longest int, reached *int) int {
	n := 3 + matchLength(src, at+3-int(offset), at+3)
	if n > longest {
		price := o.matchPrice(i) + o.prices.offset[offsetCode(code)]
		least := uint32(minMatch)
		if n >= e.finder.greedy {
			least = uint32(n)
		}
		o.relax(i, least, uint32(n), code, price, reached)
	}
	return n
}

// matchPrice returns the price of the path to node i and of a match there, without its offset and length.
func (o *optimal) matchPrice(i int) uint32 {
	return o.steps.costs[i] + o.prices.begin[min(o.nodes[i].literals, priced-1)]
}

// relax tries matches that start at node i, of length from to length to. They cost price and the price of their length.
func (o *optimal) relax(i int, from, to, offset, price uint32, reached *int) {
	if to >= priced { // lengths between are not worth the time
		if last := i + int(to); last > *reached {
			fill(o.steps.costs[*reached+1:last+1], unreached)
			*reached = last
		}
		o.relaxOne(i, to, offset, price+o.prices.lengthPrice(to))
		return
	}
	for *reached < i+int(to) {
		*reached++
		o.steps.costs[*reached] = unreached
	}
	if from > to {
		return
	}
	if from == to { // the usual case
		o.relaxOne(i, to, offset, price+o.prices.length[to])
		return
	}
	o.steps.relax(i+int(from), o.prices.length[from:to+1], match{price, from, offset})
}

func (o *optimal) relaxOne(i int, n, offset, cost uint32) {
	if k := i + int(n); cost < o.steps.costs[k] {
		o.steps.costs[k], o.steps.lengths[k], o.steps.offsets[k] = cost, n, offset
	}
}

// collect builds the sequences and literals of the path to the end.
func (o *optimal) collect(e *Encoder, start, end int) {
	// Go backwards: store the number of the next node on the path in place of the cost of each node.
	i := end - start
	for next := i; i > 0; next = i {
		i -= int(max(o.steps.lengths[i], 1))
		o.steps.costs[i] = uint32(next)
	}
	e.sequences, e.text = e.sequences[:0], e.text[:0]
	anchor := 0
	for i < end-start {
		next := int(o.steps.costs[i])
		if n := int(o.steps.lengths[next]); n > 0 {
			e.add(start+anchor, start+i, o.steps.offsets[next], n)
			anchor = next
		}
		i = next
	}
	e.rest(start+anchor, end)
}

// prices are the costs of the parts of a block, estimated from their frequencies.
//
// Paths meet at a node after different numbers of literals since their last matches. What a number costs is known when
// the next match begins. Until then, the cost of a path contains the least price of this number and all larger ones.
// The price of the number itself would be wrong: often no match follows another one immediately, so that a path would
// seem expensive at the end of each match, and be given up there.
type prices struct {
	literal [256]uint32
	more    [priced]uint32 // of one more literal after a number of literals, besides literal
	begin   [priced]uint32 // of a match after a number of literals, without its offset and length
	length  [priced]uint32 // lengths of matches
	offset  [32]uint32     // codes of offsets, with their bits

	codes [3][64]uint32
}

// priced is the number of lengths with a price in a table.
const priced = 1 << 10

// set sets the prices from counts, which it treats as a sample: a value that did not occur is not impossible.
func (p *prices) set(literal *[256]uint32, codes *[3][64]uint32) {
	total := uint32(0)
	for _, c := range literal {
		total += c
	}
	all := log2(2*total + 256)
	for i, c := range literal {
		p.literal[i] = min(max(all-min(all, log2(2*c+1)), oneBit), maxHuffmanBits*oneBit)
	}
	for which, n := range [3]int{36, 32, 53} {
		total := uint32(0)
		for _, c := range codes[which][:n] {
			total += 2*c + 1
		}
		all := log2(total)
		for i, c := range codes[which][:n] {
			// A code that occurs has one state at least.
			p.codes[which][i] = min(all-min(all, log2(2*c+1)), uint32(maxLog[which])*oneBit)
		}
	}
	least := p.literalsPrice(priced)
	for n := priced - 1; n >= 0; n-- {
		exact := p.literalsPrice(uint32(n))
		before := least
		least = min(least, exact)
		p.more[n], p.begin[n] = before-least, exact-least
		p.length[n] = p.lengthPrice(uint32(n))
	}
	p.more[priced-1] = 0 // and after more literals, too
	for n := range p.begin {
		p.begin[n] += least // of the literals after the match
	}
	for i := range p.offset {
		p.offset[i] = p.codes[matchOffsets][i] + uint32(i)*oneBit
	}
}

func (p *prices) literalsPrice(n uint32) uint32 {
	c := literalCode(n)
	return p.codes[literalLengths][c] + uint32(literalBits[c])*oneBit
}

// lengthPrice returns the price of a match of n bytes.
func (p *prices) lengthPrice(n uint32) uint32 {
	c := matchCode(max(n, minMatch) - minMatch)
	return p.codes[matchLengths][c] + uint32(matchBits[c])*oneBit
}

func offsetCode(offset uint32) uint { return uint(bits.Len32(offset)-1) & 31 }
