package inflate

import "math/bits"

// A table is indexed by the next 11 or 9 bits of the input. If a code is longer, the entry refers to a second table for
// the bits after these. A second table is large enough for its longest codes. Entries of literals are
//
//	bits 0 to 5     bits of the codes
//	bits 8 to 23    literals: two if both codes fit into the index
//	bits 24, 25     number of literals
//	bits 27 to 30   bits of the first code
//	bit 31          set
//
// Entries of lengths and of distances are
//
//	bits 0 to 5     bits of the code, and of the number that follows it
//	bits 8 to 11    bits of the code
//	bits 16 up      base to add to the number
//
// unless a flag is set. Then the entry is for a second table, whose start is in bits 8 to 23 (in distances 16 to 31),
// or the end of the block, or, without more flags, no symbol.
const (
	literalBits  = 11
	distanceBits = 9

	isLiteral = 1 << 31
	isSpecial = 1 << 30 // in the table of literals and lengths
	isSecond  = 1 << 29
	isEnd     = 1 << 28

	isFar  = 1 << 6 // a second table, in the table of distances
	isNone = 1 << 7 // no symbol, in the table of distances
)

// Sizes of second tables. At least two codes share the entry that leads to one, so there are at most half as many
// second tables as symbols.
const (
	literalMore  = maxBits - literalBits
	distanceMore = maxBits - distanceBits
	literalSize  = 1<<literalBits + maxLiterals/2<<literalMore
	distanceSize = 1<<distanceBits + maxDistances/2<<distanceMore
)

// tables are the tables of a block.
type tables struct {
	literals  [literalSize]uint32
	distances [distanceSize]uint32
}

// sorter iterates over the symbols of a code in the order of their codes.
type sorter struct {
	sorted [288]uint16
	counts [maxBits + 1]uint16
	used   int    // symbols with a code
	at     int    // position of the next symbol
	left   uint16 // symbols left with this length
	value  uint32 // the code, highest bit first

	symbol int
	bits   uint
	code   int // lowest bit first
}

// sort sorts the symbols by the lengths of their codes. It reports whether the lengths form a code: a complete code,
// one symbol of 1 bit, or no symbol.
func (s *sorter) sort(lengths []uint8) bool {
	for _, n := range lengths {
		s.counts[n&15]++
	}
	var starts [maxBits + 2]uint16
	free := 1 << maxBits
	used := 0
	for n := 1; n <= maxBits; n++ {
		starts[n+1] = starts[n] + s.counts[n]
		used += int(s.counts[n])
		free -= int(s.counts[n]) << (maxBits - n)
	}
	if free != 0 && used > 0 && (used != 1 || s.counts[1] != 1) {
		return false
	}
	for symbol, n := range lengths {
		if n != 0 {
			s.sorted[starts[n&15]] = uint16(symbol)
			starts[n&15]++
		}
	}
	s.used = used
	return true
}

// next moves to the next symbol.
func (s *sorter) next() bool {
	if s.at == s.used {
		return false
	}
	for s.left == 0 {
		s.bits++
		s.value <<= 1
		s.left = s.counts[s.bits]
	}
	s.left--
	s.symbol = int(s.sorted[s.at])
	s.at++
	s.code = int(bits.Reverse32(s.value) >> (32 - s.bits))
	s.value++
	return true
}

// fill fills a table. entry returns the entry of a symbol, and second the entry for a second table.
func (s *sorter) fill(table []uint32, width uint, none uint32, second func(at int) uint32, entry func(symbol int, bits uint) uint32) {
	size := 1 << width
	if s.used < 2 {
		for i := range table[:size] {
			table[i] = none
		}
	}
	// The table of the codes so far is repeated twice with each length.
	done := uint(1)
	more := maxBits - width
	prefix, at := -1, size
	for s.next() {
		for ; done < min(s.bits, width); done++ {
			copy(table[1<<done:2<<done], table[:1<<done])
		}
		e := entry(s.symbol, s.bits)
		if s.bits <= width {
			table[s.code] = e
			continue
		}
		if p := s.code & (size - 1); p != prefix {
			if prefix >= 0 {
				at += 1 << more
			}
			prefix = p
			table[p] = second(at)
		}
		for i := s.code >> width; i < 1<<more; i += 1 << (s.bits - width) {
			table[at+i] = e
		}
	}
	for ; done < width; done++ {
		copy(table[1<<done:2<<done], table[:1<<done])
	}
}

// makeLiterals builds the table of the code of literals and lengths, and reports whether the code is valid.
func (t *tables) makeLiterals(lengths []uint8, pairs bool) bool {
	var s sorter
	if !s.sort(lengths) {
		return false
	}
	s.fill(t.literals[:], literalBits, isSpecial,
		func(at int) uint32 { return isSpecial | isSecond | uint32(at)<<8 },
		func(symbol int, n uint) uint32 { return literalSymbols[symbol] + uint32(n)*literalUnits[symbol>>8] })
	if pairs && countPairs(lengths) >= minPairs {
		t.makePairs()
	}
	return true
}

// minPairs is the least number of entries with two literals that saves more time than it takes to make them.
const minPairs = 1 << literalBits * 5 / 32

// countPairs returns the number of entries that could have two literals.
func countPairs(lengths []uint8) int {
	var counts [maxBits + 1]int
	for _, n := range lengths[:endOfBlock] {
		counts[n&15]++
	}
	pairs := 0
	for n := 1; n < literalBits; n++ {
		for m := 1; n+m <= literalBits; m++ {
			pairs += counts[n] * counts[m] << (literalBits - n - m)
		}
	}
	return pairs
}

// makePairs builds entries of two literals.
func (t *tables) makePairs() {
	table := (*[1 << literalBits]uint32)(t.literals[:])
	for i, e := range table {
		if e < isLiteral {
			continue
		}
		n := e & 63
		f := table[i>>n&(1<<literalBits-1)] // may have two literals; only the first matters
		if m := f >> 27 & 15; f >= isLiteral && n+m <= literalBits {
			table[i] = e + m + f&0xff00<<8 + 1<<24
		}
	}
}

// makeDistances builds the table of the code of distances, and reports whether the code is valid.
func (t *tables) makeDistances(lengths []uint8) bool {
	var s sorter
	if !s.sort(lengths) {
		return false
	}
	s.fill(t.distances[:], distanceBits, isNone,
		func(at int) uint32 { return isFar | uint32(at)<<16 },
		func(symbol int, n uint) uint32 { return distanceSymbols[symbol] + uint32(n)*0x101 })
	return true
}

// makePreset builds the tables of the preset codes.
func (t *tables) makePreset() {
	var lengths [288]uint8
	for i := range lengths {
		switch {
		case i < 144:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		case i < 280:
			lengths[i] = 7
		default:
			lengths[i] = 8
		}
	}
	t.makeLiterals(lengths[:], false)
	for i := range lengths[:32] {
		lengths[i] = 5
	}
	t.makeDistances(lengths[:32])
}

// Entries of the symbols for codes of no bits, and the value of a bit of a code. They never change.
var (
	literalSymbols  = makeLiteralSymbols()
	literalUnits    = [2]uint32{1 + 1<<27, 0x101}
	distanceSymbols = makeDistanceSymbols()
)

func makeLiteralSymbols() (t [288]uint32) {
	for i := range t[:256] {
		t[i] = isLiteral | 1<<24 | uint32(i)<<8
	}
	t[endOfBlock] = isSpecial | isEnd
	// Groups of four symbols have the same number of extra bits. The first eight have none. The last symbol is the
	// largest length.
	base := uint32(3)
	for i := 257; i < 285; i++ {
		more := uint32(max(0, (i-257)/4-1))
		t[i] = base<<16 | more
		base += 1 << more
	}
	t[285] = 258 << 16
	t[286], t[287] = isSpecial, isSpecial
	return t
}

func makeDistanceSymbols() (t [32]uint32) {
	base := uint32(1)
	for i := range maxDistances {
		more := uint32(max(0, i/2-1))
		t[i] = base<<16 | more
		base += 1 << more
	}
	t[30], t[31] = isNone, isNone
	return t
}
