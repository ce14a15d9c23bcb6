package zstd

import (
	"errors"
	"math/bits"
)

var (
	errHuffman = errors.New("invalid Huffman code")
	errWeights = errors.New("weights of a Huffman code are truncated")
)

// maxHuffmanBits is the length of the longest codes.
const maxHuffmanBits = 11

// huffmanTable has an entry for each value of the next 11 bits: the length of the code at their start, and its symbol
// in the high byte.
type huffmanTable [1 << maxHuffmanBits]uint16

// readHuffman reads the description of a code at the start of src[start:end], and builds its table. It returns the end
// of the description.
//
// The description holds the weights of all symbols except the last one, whose weight makes the sum of 1<<(weight-1) a
// power of two. A symbol of weight w > 0 has a code of log+1-w bits, where 1<<log is that sum.
func (d *Decoder) readHuffman(t *huffmanTable, src []byte, start, end int) (int, error) {
	if start >= end {
		return 0, errHuffman
	}
	weights := &d.scratch.weights
	clear(weights[:])
	n, at := int(src[start]), start+1
	if n >= 128 { // four bits for each weight
		n -= 127
		if (n+1)/2 > end-at {
			return 0, errHuffman
		}
		for i := range n {
			weights[i] = src[at+i/2] >> (4 * (^i & 1)) & 15
		}
		at += (n + 1) / 2
	} else {
		if n > end-at {
			return 0, errHuffman
		}
		var err error
		at += n
		if n, err = d.readWeights(src, at-n, at); err != nil {
			return 0, err
		}
	}
	if !t.build(&d.scratch, n) {
		return 0, errHuffman
	}
	return at, nil
}

// parts is the number of parts of the symbols whose weights build counts at the same time: if one weight follows
// another that is equal, its count would have to wait for the one before.
const parts = 4

// build builds the table from the weights of the first n symbols in s, n < 256. The others have weight 0. It reports
// whether the weights form a code.
func (t *huffmanTable) build(s *scratch, n int) bool {
	size := n/parts + 1
	w0, w1, w2, w3 := s.weights[:size], s.weights[size:2*size], s.weights[2*size:3*size], s.weights[3*size:4*size]
	var counts [parts][16]uint8
	all := uint8(0)
	for i := range size {
		all |= w0[i] | w1[i] | w2[i] | w3[i]
		counts[0][w0[i]&15]++
		counts[1][w1[i]&15]++
		counts[2][w2[i]&15]++
		counts[3][w3[i]&15]++
	}
	var count [16]int
	sum := uint(0)
	for w := range count {
		count[w] = int(counts[0][w]) + int(counts[1][w]) + int(counts[2][w]) + int(counts[3][w])
		sum += uint(count[w]) * (1 << w >> 1)
	}
	log := bits.Len(sum)
	rest := uint(1)<<log - sum
	if all > 15 || sum == 0 || log > maxHuffmanBits || rest&(rest-1) != 0 {
		return false
	}

	// The weight of the last symbol, which was counted as 0.
	last := bits.Len(rest)
	s.weights[n] = uint8(last)
	counts[n/size&3][0]--
	counts[n/size&3][last&15]++
	count[0]--
	count[last&15]++
	if count[1] < 2 || count[1]&1 != 0 {
		return false
	}

	// The longest codes come first, and codes of one length in the order of their symbols. So sort by weight.
	var next [parts][16]uint8
	at := uint8(0)
	for w := range count {
		for part := range next {
			next[part][w] = at
			at += counts[part][w]
		}
	}
	for i := range size {
		p0, p1, p2, p3 := &next[0][w0[i]&15], &next[1][w1[i]&15], &next[2][w2[i]&15], &next[3][w3[i]&15]
		s.sorted[*p0] = uint8(i)
		s.sorted[*p1] = uint8(size + i)
		s.sorted[*p2] = uint8(2*size + i)
		s.sorted[*p3] = uint8(3*size + i)
		*p0++
		*p1++
		*p2++
		*p3++
	}
	t.fill(s.sorted[:parts*size], &count, log)
	return true
}

// fill sets the entries for symbols sorted by weight. count holds the number of symbols of each weight, and codes have
// up to log bits. Symbols of weight 0 have no code.
func (t *huffmanTable) fill(symbols []uint8, count *[16]int, log int) {
	at := 0
	symbols = symbols[count[0]:]
	for w := 1; w <= log; w++ {
		size := 1 << (w - 1 + maxHuffmanBits - log)
		length := uint16(log + 1 - w)
		for _, symbol := range symbols[:count[w]] {
			entry := uint16(symbol)<<8 | length
			run := t[at : at+size]
			at += size
			switch size {
			case 1:
				run[0] = entry
			case 2:
				run[0], run[1] = entry, entry
			case 4:
				run[0], run[1], run[2], run[3] = entry, entry, entry, entry
			default:
				// Stores of single entries do not delay the loads of entries that follow soon.
				for ; len(run) >= 8; run = run[8:] {
					r := (*[8]uint16)(run)
					r[0], r[1], r[2], r[3] = entry, entry, entry, entry
					r[4], r[5], r[6], r[7] = entry, entry, entry, entry
				}
			}
		}
		symbols = symbols[count[w]:]
	}
}

// pairTable has an entry for each value of the next 11 bits: the one or two symbols whose codes are complete in these
// bits, from the lowest byte up, then the total length of these codes and the number of symbols.
type pairTable [1 << maxHuffmanBits]uint32

// fill makes p the table for the code of t. Codes of one length are consecutive, and their entries differ only in the
// first symbol.
func (p *pairTable) fill(t *huffmanTable) {
	for at := 0; at < len(p); {
		first := uint32(t[at])
		n := first & 255
		size := len(p) >> (n & 15)
		entry := first>>8 | n<<16 | 1<<24
		model := p[at : at+size]
		for i := range model {
			second := uint32(t[i<<(n&15)%len(t)])
			fits := ^uint32(int32(maxHuffmanBits-n-second&255) >> 31) // all bits or none: branches are mispredicted
			model[i] = entry + (second&0xff00|second&255<<16|1<<24)&fits
		}
		for at += size; at < len(p) && uint32(t[at])&255 == n; at += size {
			more := uint32(t[at])>>8 - first>>8
			from, to := model, p[at:at+size]
			for ; len(from) >= 8 && len(to) >= 8; from, to = from[8:], to[8:] {
				f, t := (*[8]uint32)(from), (*[8]uint32)(to)
				t[0], t[1], t[2], t[3] = f[0]+more, f[1]+more, f[2]+more, f[3]+more
				t[4], t[5], t[6], t[7] = f[4]+more, f[5]+more, f[6]+more, f[7]+more
			}
			for i := range from {
				to[i] = from[i] + more
			}
		}
	}
}

// maxWeightLog is the largest accuracy of a table for weights.
const maxWeightLog = 6

// weightTable is a state machine for weights. An entry has a symbol, the number of bits to read in byte 1, and in bytes
// 2 and 3 the base to add to them for the next state.
type weightTable [1 << maxWeightLog]uint32

// readWeights reads the weights of a Huffman code from src[start:end]. It returns their number.
//
// Two states alternate. If the bits do not suffice for the next state, the other state yields the last weight.
func (d *Decoder) readWeights(src []byte, start, end int) (int, error) {
	log, symbols, used, ok := d.readProbabilities(src[start:end], maxWeightLog, 255)
	if !ok {
		return 0, errHuffman
	}
	s := &d.scratch
	spread(s, log, symbols)
	t := &s.table
	next := successors[log]
	for i, symbol := range s.symbols[:1<<log] {
		t[i%len(t)] = uint32(symbol) | next[s.first[symbol]]
		s.first[symbol]++
	}
	var r bitReader
	if !r.init(src, start+used, end) {
		return 0, errHuffman
	}
	var states [2]uint64
	for i := range states {
		if states[i], ok = r.read(uint(log)); !ok {
			return 0, errWeights
		}
	}
	n := 0
	// A word has the bits for at least 8 states.
	for ; n < 248 && r.remaining() >= 64; n += 8 {
		r.refill()
		word, left := r.word, r.left
		a, b := states[0], states[1]
		for i := 0; i < 8; i += 2 {
			e, f := t[a%uint64(len(t))], t[b%uint64(len(t))]
			s.weights[n+i], s.weights[n+i+1] = uint8(e), uint8(f)
			left -= uint(e >> 8 & 255)
			a = uint64(e>>16) + word>>(left&63)&(1<<(e>>8&63)-1)
			left -= uint(f >> 8 & 255)
			b = uint64(f>>16) + word>>(left&63)&(1<<(f>>8&63)-1)
		}
		r.left = left
		states = [2]uint64{a, b}
	}
	for ; n < 254; n++ {
		entry := t[states[n&1]%uint64(len(t))]
		s.weights[n] = uint8(entry)
		more, ok := r.read(uint(entry >> 8 & 255))
		if !ok {
			s.weights[n+1] = uint8(t[states[^n&1]%uint64(len(t))])
			return n + 2, nil
		}
		states[n&1] = uint64(entry>>16) + more
	}
	return 0, errHuffman
}
