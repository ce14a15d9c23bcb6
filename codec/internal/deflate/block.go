package deflate

import (
	"encoding/binary"
	"math/bits"
)

// maxSymbols is the number of symbols of a block.
const maxSymbols = 1<<14 - 1

// block is the state of encoding a block, and the stream with the blocks before it.
type block struct {
	symbols       [maxSymbols]uint32 // a literal, or a length less 3 in the low 16 bits and a distance above
	count         int
	literalFreqs  [numLiterals]uint16
	distanceFreqs [numDistances]uint16

	literals, distances code
	builder             builder
	description         description
	lengthBits          [maxMatch - minMatch + 1]symbolBits

	dst  []byte
	out  int    // end of the output
	word uint64 // bits not yet written
	left uint   // number of bits in word, less than 32 between symbols
}

// symbolBits are bits to write.
type symbolBits struct {
	v uint32
	n uint32
}

// begin starts a stream.
func (b *block) begin(dst []byte) {
	b.dst, b.out, b.word, b.left = dst, 0, 0, 0
	b.reset()
}

func (b *block) reset() {
	b.count = 0
	clear(b.literalFreqs[:])
	clear(b.distanceFreqs[:])
	b.literalFreqs[endOfBlock] = 1
}

// literal adds a literal to the block and reports whether it is full.
func (b *block) literal(c byte) bool {
	b.symbols[b.count] = uint32(c)
	b.literalFreqs[c]++
	b.count++
	return b.count == maxSymbols
}

// match adds a match to the block.
func (b *block) match(length, distance int) {
	b.symbols[b.count] = uint32(length-minMatch) | uint32(distance)<<16
	b.literalFreqs[lengthSymbols[length-minMatch]]++
	b.distanceFreqs[distanceSymbol(distance)]++
	b.count++
}

// Symbols of lengths, indexed by the length less 3; the first length of each symbol, less 3; and the number of bits
// after the codes of lengths and distances. They never change.
var (
	lengthSymbols, lengthBases = makeLengthSymbols()

	lengthMore = [numLiterals - endOfBlock - 1]uint8{
		0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
	}
	distanceMore = [numDistances]uint8{
		0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
	}
)

func makeLengthSymbols() (t [maxMatch - minMatch + 1]uint16, bases [len(lengthMore)]uint8) {
	i := 0
	for symbol, n := range lengthMore {
		bases[symbol] = uint8(i)
		for range 1 << n {
			if i < len(t) {
				t[i] = uint16(endOfBlock + 1 + symbol)
				i++
			}
		}
	}
	t[len(t)-1], bases[len(bases)-1] = numLiterals-1, uint8(len(t)-1) // the largest length has a symbol of its own
	return t, bases
}

// distanceSymbol returns the symbol of a distance: two for each power of two.
func distanceSymbol(distance int) int {
	d := uint32(distance - 1)
	if d < 4 {
		return int(d)
	}
	n := bits.Len32(d)
	return 2*(n-1) + int(d>>(n-2)&1)
}

// flush ends a block, whose content is src, and reports whether it fits. storable reports whether the C library still
// has src in its window, without which it cannot store the block.
func (b *block) flush(src []byte, storable, last bool) bool {
	b.builder.build(&b.literals, b.literalFreqs[:], maxBits)
	b.builder.build(&b.distances, b.distanceFreqs[:], maxBits)
	b.describe()
	more := 3 // bits
	for i, n := range lengthMore {
		more += int(b.literalFreqs[endOfBlock+1+i]) * int(n)
	}
	for i, n := range distanceMore {
		more += int(b.distanceFreqs[i]) * int(n)
	}
	own := more + b.description.cost + b.literals.cost(b.literalFreqs[:]) + b.distances.cost(b.distanceFreqs[:])
	preset := more + presetLiterals.cost(b.literalFreqs[:]) + presetDistances.cost(b.distanceFreqs[:])
	ownBytes, presetBytes := (own+7)/8, (preset+7)/8

	head := uint64(0)
	if last {
		head = 1
	}
	room := 8*(len(b.dst)-b.out) - int(b.left)
	switch {
	case storable && len(src)+4 <= min(ownBytes, presetBytes):
		if !b.store(src, head) {
			return false
		}
	case presetBytes <= ownBytes:
		if preset > room {
			return false
		}
		b.put(1<<1|head, 3)
		b.writeSymbols(&presetLiterals, &presetDistances)
	default:
		if own > room {
			return false
		}
		b.put(2<<1|head, 3)
		b.writeDescription()
		b.writeSymbols(&b.literals, &b.distances)
	}
	b.reset()
	if last {
		b.align()
	}
	return true
}

// put writes up to 32 bits. There must be space.
func (b *block) put(v uint64, n uint) {
	b.word |= v << (b.left & 63)
	b.left += n
	if b.left >= 32 {
		binary.LittleEndian.PutUint32(b.dst[b.out:], uint32(b.word))
		b.out += 4
		b.word >>= 32
		b.left -= 32
	}
}

// align fills the last byte and writes all bits.
func (b *block) align() {
	for n := int(b.left); n > 0; n -= 8 {
		b.dst[b.out] = byte(b.word)
		b.out++
		b.word >>= 8
	}
	b.left, b.word = 0, 0
}

// store writes a block of stored bytes, and reports whether it fits.
func (b *block) store(src []byte, head uint64) bool {
	if (int(b.left)+3+7)/8+4+len(src) > len(b.dst)-b.out {
		return false
	}
	b.put(head, 3)
	b.align()
	dst := b.dst[b.out:]
	binary.LittleEndian.PutUint16(dst, uint16(len(src)))
	binary.LittleEndian.PutUint16(dst[2:], ^uint16(len(src)))
	b.out += 4 + copy(dst[4:], src)
	return true
}

// writeSymbols writes the symbols of the block and its end. There must be space.
func (b *block) writeSymbols(literals, distances *code) {
	for i := range b.lengthBits {
		symbol := lengthSymbols[i]
		n := uint32(literals.lengths[symbol])
		m := uint32(lengthMore[symbol-endOfBlock-1])
		b.lengthBits[i] = symbolBits{uint32(literals.codes[symbol]) | uint32(i-int(lengthBases[symbol-endOfBlock-1]))<<n, n + m}
	}
	dst, out, word, left := b.dst, b.out, b.word, b.left
	for _, s := range b.symbols[:b.count] {
		if s < 1<<16 {
			c := s & 255
			word |= uint64(literals.codes[c]) << (left & 63)
			left += uint(literals.lengths[c])
		} else {
			e := b.lengthBits[s&255]
			word |= uint64(e.v) << (left & 63)
			left += uint(e.n)
			if left >= 32 {
				binary.LittleEndian.PutUint32(dst[out:], uint32(word))
				out += 4
				word >>= 32
				left -= 32
			}
			distance := int(s >> 16)
			symbol := distanceSymbol(distance)
			n := uint(distances.lengths[symbol])
			m := uint(distanceMore[symbol])
			word |= (uint64(distances.codes[symbol]) | uint64(uint32(distance-1)&(1<<m-1))<<n) << (left & 63)
			left += n + m
		}
		if left >= 32 {
			binary.LittleEndian.PutUint32(dst[out:], uint32(word))
			out += 4
			word >>= 32
			left -= 32
		}
	}
	b.out, b.word, b.left = out, word, left
	b.put(uint64(literals.codes[endOfBlock]), uint(literals.lengths[endOfBlock]))
}
