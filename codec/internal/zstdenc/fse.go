package zstdenc

import (
	"encoding/binary"
	"math/bits"
)

// Limits of the state machines (RFC 8878, section 3.1.1.3.2.1).
const (
	minStatesLog = 5
	maxStatesLog = 9
	maxCodes     = 53 // size of the largest alphabet, of match lengths
)

// distribution holds the number of states of a machine for each symbol. -1 is one of the last states.
type distribution struct {
	log   uint // logarithm of the number of states
	probs [maxCodes]int16
	n     int // symbols
}

// normalize distributes the 1<<log states to the symbols by their counts. Each symbol that occurs gets at least one
// state, and no symbol gets all. total is the sum of the counts, of which at least two must not be 0.
func (d *distribution) normalize(count []uint32, total uint32, log uint) {
	size := 1 << log
	left := size
	d.log, d.n = log, 0
	for s, c := range count {
		d.probs[s] = 0
		if c == 0 {
			continue
		}
		d.n = s + 1
		p := max(1, int((uint64(c)<<log+uint64(total)/2)/uint64(total)))
		d.probs[s] = int16(p)
		left -= p
	}
	// Rounding leaves a number of states, which may be negative. They are added to or taken from the symbols for which
	// they matter least: the gain of a symbol by its p-th state is about count/p.
	for ; left > 0; left-- {
		best, gain := 0, float32(-1)
		for s, p := range d.probs[:d.n] {
			if p > 0 {
				if g := float32(count[s]) / (float32(p) + 0.5); g > gain {
					best, gain = s, g
				}
			}
		}
		d.probs[best]++
	}
	for ; left < 0; left++ {
		best, loss := 0, float32(0)
		for s, p := range d.probs[:d.n] {
			if p > 1 {
				if l := float32(count[s]) / (float32(p) - 0.5); loss == 0 || l < loss {
					best, loss = s, l
				}
			}
		}
		d.probs[best]--
	}
}

// describe writes the description of a distribution (RFC 8878, section 4.1.1) to dst and returns its length, which is
// at most 2 bytes for each symbol and 2 more.
func (d *distribution) describe(dst []byte) int {
	w := bitWriter{dst: dst}
	w.add(uint64(d.log-minStatesLog), 4)
	left := 1 << d.log
	for s := 0; left > 0; s++ {
		v := uint64(d.probs[s] + 1)
		n := uint(bits.Len(uint(left + 1)))
		small := uint64(1)<<n - 1 - uint64(left+1) // smaller numbers take one bit less
		switch {
		case v < small:
			w.add(v, n-1)
		case v >= 1<<(n-1):
			w.add(v+small, n)
		default:
			w.add(v, n)
		}
		if v == 1 {
			zeros := 0
			for d.probs[s+1+zeros] == 0 {
				zeros++
			}
			s += zeros
			for ; zeros >= 3; zeros -= 3 {
				w.add(3, 2)
				w.flush()
			}
			w.add(uint64(zeros), 2)
		} else {
			left -= max(int(v)-1, 1-int(v))
		}
		w.flush()
	}
	return w.close()
}

// statesLog returns the logarithm of a good number of states for symbols with total occurrences. More states describe
// the counts better, but their description is longer.
func statesLog(total uint32, highest, limit int) uint {
	log := min(limit, bits.Len32(total-1)-3)
	log = max(log, min(bits.Len32(total), bits.Len(uint(highest))+1), minStatesLog)
	return uint(min(log, limit))
}

// machine encodes symbols backwards into the bits for a decoder's finite state machine. Its states are the numbers from
// size to 2*size-1. To encode symbol s, a state emits its low bits until it is below a limit, so that as many numbers
// remain as s has states. The remaining number is an index of next, which holds the next state.
type machine struct {
	log  uint
	same bool // one symbol, and no bits
	code [maxCodes]transition
	next [1 << maxStatesLog]uint16
}

// transition describes how to encode a symbol: emit state+bits>>16 bits, and continue with the state
// next[state>>bits+place].
type transition struct {
	bits  uint32
	place int32
}

// build builds the machine of a distribution. It assigns the states as in RFC 8878, section 4.1.1.
func (m *machine) build(d *distribution) {
	size := 1 << d.log
	m.log, m.same = d.log, false
	var symbols [1 << maxStatesLog]uint8
	var first [maxCodes]int
	high := size - 1
	sum := 0
	for s, p := range d.probs[:d.n] {
		first[s] = sum
		switch {
		case p < 0:
			symbols[high] = uint8(s)
			high--
			sum++
			m.code[s] = transition{uint32(d.log)<<16 - uint32(size), int32(first[s] - 1)}
		case p == 0:
			// If such a symbol gets a price, the price is high.
			m.code[s] = transition{uint32(d.log+1)<<16 - uint32(size), 0}
		default:
			n := d.log - uint(bits.Len(uint(p-1)))
			if p == 1 {
				n = d.log
			} else {
				n++
			}
			// p-1 has log-n+1 bits: states below p<<n emit n-1 bits, the others n.
			m.code[s] = transition{uint32(n)<<16 - uint32(p)<<n, int32(first[s] - int(p))}
			sum += int(p)
		}
	}
	at, step := 0, size>>1+size>>3+3
	for s, p := range d.probs[:d.n] {
		for range p {
			symbols[at] = uint8(s)
			at = (at + step) & (size - 1)
			for at > high {
				at = (at + step) & (size - 1)
			}
		}
	}
	for i, s := range symbols[:size] {
		m.next[first[s]] = uint16(size + i)
		first[s]++
	}
}

// buildSame builds the machine of one symbol.
func (m *machine) buildSame() {
	m.log, m.same = 0, true
	m.code = [maxCodes]transition{}
	m.next[0], m.next[1] = 1, 1
}

// start returns a state for the last symbol: the state with the most bits to come.
func (m *machine) start(s uint8) uint32 {
	if m.same {
		return 1
	}
	t := m.code[s]
	n := (t.bits + 1<<15) >> 16
	return uint32(m.next[int32((n<<16-t.bits)>>n)+t.place])
}

// bitWriter writes bits, starting at the lowest bit of the first byte. flush keeps fewer than 8 bits in word, so that
// 56 can be added between two flushes. It writes 8 bytes at a time, for which there must be space after the stream.
type bitWriter struct {
	dst  []byte
	at   int // offset of the next byte
	word uint64
	n    uint // bits in word
}

// add adds the low n bits of v. The other bits of v must be 0.
func (w *bitWriter) add(v uint64, n uint) {
	w.word |= v << (w.n & 63)
	w.n += n
}

// flush writes the complete bytes of word.
func (w *bitWriter) flush() {
	binary.LittleEndian.PutUint64(w.dst[w.at:], w.word)
	w.at += int(w.n >> 3)
	w.word >>= w.n & 56 & 63
	w.n &= 7
}

// close fills the last byte with zeros and returns the end of the stream.
func (w *bitWriter) close() int {
	w.flush()
	if w.n > 0 {
		w.at++
	}
	return w.at
}

// end marks the end of the stream for readers that start there (RFC 8878, section 4.1), and returns it.
func (w *bitWriter) end() int {
	w.add(1, 1)
	return w.close()
}
