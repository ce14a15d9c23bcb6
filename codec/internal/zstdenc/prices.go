package zstdenc

import "math/bits"

// prices are the costs of the parts of a block, estimated from their frequencies.
type prices struct {
	literal  [256]uint32
	literals [priced]uint32 // numbers of literals
	more     [priced]int32  // change by one more literal
	length   [priced]uint32 // lengths of matches
	offset   [32]uint32     // codes of offsets, with their bits

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
			p.codes[which][i] = all - min(all, log2(2*c+1))
		}
	}
	for n := range uint32(priced) {
		p.literals[n] = p.literalsPrice(n)
		p.length[n] = p.lengthPrice(n)
		if n > 0 {
			p.more[n-1] = int32(p.literals[n]) - int32(p.literals[n-1])
		}
	}
	p.more[priced-1] = 0
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
