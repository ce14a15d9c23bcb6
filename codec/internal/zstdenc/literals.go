package zstdenc

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// The kinds of literals (RFC 8878, section 3.1.1.3.1.1).
const (
	rawLiterals = iota
	sameLiterals
	huffmanLiterals
	treelessLiterals
)

// leastLiterals is the least number of literals for a Huffman code.
const leastLiterals = 64

// literalsWriter writes the literals of blocks. It keeps the code of the previous block, which may be used again.
type literalsWriter struct {
	old, code huffmanCode
	trial     huffmanCode
	count     [256]uint32
	parts     [3][256]uint32
	sample    [8 << 10]byte // for noise
	sorter    sorter
	text      [descriptionRoom]byte
	quick     bool // count a part of the literals
	thorough  bool // try codes with other limits
}

// write writes the section of literals to dst and returns its length. dst must have space for 11 bits per literal and
// 512 more bytes. doubtful reports whether there were so few matches that the literals may be noise: then write first
// examines some of them.
func (l *literalsWriter) write(dst, literals []byte, doubtful bool) int {
	n := len(literals)
	l.code = l.old
	least := leastLiterals
	if l.old.valid {
		least = 8
	}
	if n < least || doubtful && l.noise(literals) {
		return writeRaw(dst, literals)
	}
	l.tally(literals)
	most := uint32(0)
	for _, c := range l.count {
		most = max(most, c)
	}
	if int(most) == n {
		head := writeRawHeader(dst, n, sameLiterals)
		dst[head] = literals[0]
		return head + 1
	}
	if int(most) <= n>>7+4 {
		return writeRaw(dst, literals)
	}

	oldCost, ok := 0, l.old.valid
	if ok {
		oldCost, ok = l.old.cost(&l.count)
	}
	text, cost := l.build(n)
	kind := huffmanLiterals
	if text == 0 || ok && oldCost <= cost+text {
		if !ok {
			return writeRaw(dst, literals)
		}
		kind, text, cost, l.code = treelessLiterals, 0, oldCost, l.old
	}
	if cost+text+16 >= n-n>>6 {
		l.code = l.old
		return writeRaw(dst, literals)
	}
	four := n >= 256
	head := 3
	if n >= 1<<14 {
		head = 5
	} else if n >= 1<<10 {
		head = 4
	}
	copy(dst[head:], l.text[:text])
	size := l.code.streams(dst[head+text:], literals, four)
	if size == 0 || size+text >= n {
		l.code = l.old
		return writeRaw(dst, literals)
	}
	format, width := head-2, uint(4*head-2) // 10, 14 or 18 bits for each length
	if !four {
		format = 0
	}
	v := uint64(kind | format<<2 | n<<4)
	v |= uint64(size+text) << (4 + width)
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	copy(dst[:head], b[:])
	return head + text + size
}

// tally counts the literals. If there are many and quick is set, it counts a half of them first. That is enough if all
// bytes occur there, because each then has a code, and the code for a half of the literals is about as good.
//
// Literals are often parts of items, so the half has the same number from each place in an item: from the first half of
// the literals the even groups of 16, from the other the odd ones.
func (l *literalsWriter) tally(literals []byte) {
	if !l.quick || len(literals) < leastSampled {
		histogram(&l.count, literals, &l.parts)
		return
	}
	n := len(literals) / 2 &^ 31
	first, second, rest := literals[:n], literals[n:2*n], literals[2*n:]
	l.count = [256]uint32{}
	addHistogram(&l.count, first, &l.parts, 32)
	addHistogram(&l.count, second[16:], &l.parts, 32)
	if !slices.Contains(l.count[:], 0) {
		for i := range l.count {
			l.count[i] *= 2
		}
		return
	}
	addHistogram(&l.count, first[16:], &l.parts, 32)
	addHistogram(&l.count, second, &l.parts, 32)
	addHistogram(&l.count, rest, &l.parts, 16)
}

// leastSampled is the least number of literals of which a half may be counted.
const leastSampled = 16 << 10

// build builds the code for the n counted literals, and its description. It returns the lengths of the description and
// of the literals.
func (l *literalsWriter) build(n int) (text, cost int) {
	h := &l.code
	limit := uint(maxHuffmanBits)
	if n < 1<<10 {
		limit = uint(max(min(maxHuffmanBits, bits.Len(uint(n-1))-2), 8))
	}
	h.build(&l.count, limit, &l.sorter)
	text = h.describe(l.text[:])
	cost, _ = h.cost(&l.count)
	if !l.thorough {
		return text, cost
	}
	for limit = min(limit, h.longest) - 1; limit >= 8; limit-- {
		l.trial.build(&l.count, limit, &l.sorter)
		var d [descriptionRoom]byte
		t := l.trial.describe(d[:])
		c, _ := l.trial.cost(&l.count)
		if t == 0 || text > 0 && t+c >= text+cost {
			break
		}
		*h, l.text, text, cost = l.trial, d, t, c
	}
	return text, cost
}

// random reports whether all bytes are equally frequent in a sample of a block, by the rule of flat, which is stricter
// than that of noise. Short blocks are not random.
func (l *literalsWriter) random(block []byte) bool {
	const parts = 8
	n, sample := len(block), len(l.sample)/parts
	if n < 4*len(l.sample) {
		return false
	}
	for i := range parts {
		copy(l.sample[i*sample:][:sample], block[(n-sample)*i/(parts-1):])
	}
	histogram(&l.count, l.sample[:], &l.parts)
	return flat(&l.count, len(l.sample))
}

// noise reports whether all bytes seem to be equally frequent in a sample of the literals.
func (l *literalsWriter) noise(literals []byte) bool {
	n, sample := len(literals), len(l.sample)/4
	if n < 8*sample {
		return false
	}
	for i, at := range [4]int{0, n / 3, n / 3 * 2, n - sample} {
		copy(l.sample[i*sample:], literals[at:at+sample])
	}
	histogram(&l.count, l.sample[:], &l.parts)
	most := uint32(0)
	for _, c := range l.count {
		most = max(most, c)
	}
	return int(most) <= len(l.sample)>>7+4
}

func writeRaw(dst, literals []byte) int {
	head := writeRawHeader(dst, len(literals), rawLiterals)
	return head + copy(dst[head:], literals)
}

func writeRawHeader(dst []byte, n, kind int) int {
	switch {
	case n < 32:
		dst[0] = byte(kind | n<<3)
		return 1
	case n < 4096:
		binary.LittleEndian.PutUint16(dst, uint16(kind|1<<2|n<<4))
		return 2
	}
	v := kind | 3<<2 | n<<4
	dst[0], dst[1], dst[2] = byte(v), byte(v>>8), byte(v>>16)
	return 3
}
