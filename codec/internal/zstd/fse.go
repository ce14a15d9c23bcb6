package zstd

import (
	"encoding/binary"
	"math/bits"
)

// maxStates is the number of states of the largest machine, and maxStatesLog its logarithm.
const (
	maxStatesLog = 9
	maxStates    = 1 << maxStatesLog
)

// readProbabilities reads the description of a finite state machine at the start of src: the logarithm of the number of
// its states, at most maxLog, and into scratch.probs the numbers of states of the symbols 0, 1, ..., up to maxSymbol.
// It returns the logarithm, the number of symbols and the length of the description in bytes.
//
// Bits are read starting at the lowest bit of the first byte. A symbol takes as many bits as a number up to the
// remaining states plus one needs, or one bit less if the number is small enough. The number is one more than the
// number of states. 0 means -1: one state, the last free one, with any successor.
func (d *Decoder) readProbabilities(src []byte, maxLog, maxSymbol int) (log, symbols, used int, ok bool) {
	if len(src) == 0 {
		return 0, 0, 0, false
	}
	probs := &d.scratch.probs
	log = int(src[0]&15) + 5
	if log > maxLog {
		return 0, 0, 0, false
	}
	at := 4 // offset in bits
	left := 1 << log
	for left > 0 {
		if symbols > maxSymbol {
			return 0, 0, 0, false
		}
		word := peek(src, at)
		n := bits.Len(uint(left + 1))
		small := 1<<n - 1 - (left + 1) // smaller numbers take one bit less
		v := int(word) & (1<<n - 1)
		if low := v & (1<<(n-1) - 1); low < small {
			v = low
			n--
		} else if v >= 1<<(n-1) {
			v -= small
		}
		at += n
		word >>= n
		p := v - 1
		probs[symbols] = int16(p)
		symbols++
		if p != 0 {
			left -= max(p, 1) // -1 is one state too
			continue
		}
		// Two bits are the number of further symbols without states. After a 3, two more bits follow.
		for {
			more := int(word & 3)
			at += 2
			if symbols+more > maxSymbol+1 {
				return 0, 0, 0, false
			}
			for range more {
				probs[symbols] = 0
				symbols++
			}
			if more < 3 {
				break
			}
			word = peek(src, at)
		}
	}
	used = (at + 7) / 8
	return log, symbols, used, left == 0 && used <= len(src)
}

// peek returns at least 25 bits of src, starting at bit at. After the end they are 0.
func peek(src []byte, at int) uint32 {
	i := at / 8
	if i <= len(src)-4 {
		return binary.LittleEndian.Uint32(src[i:]) >> (at & 7)
	}
	if i >= len(src) {
		return 0
	}
	return uint32(littleEndian(src[i:])) >> (at & 7)
}

// spread assigns the states of a machine to its symbols, in scratch.symbols. The n states of a symbol are numbered from
// n to 2n-1, in the order of their places. These two numbers are in scratch.first and scratch.last.
func spread(s *scratch, log, symbols int) {
	size := 1 << log
	high := size - 1
	for symbol, p := range s.probs[:symbols] {
		if p < 0 {
			s.symbols[high] = uint8(symbol)
			high--
			p = 1
		}
		s.first[symbol], s.last[symbol] = uint16(p), uint16(2*p-1)
	}
	// First write runs of symbols in words. The next run overwrites the excess.
	n := 0
	for symbol, p := range s.probs[:symbols] {
		word := uint64(symbol) * 0x0101010101010101
		for i := 0; i < int(p); i += 8 {
			binary.LittleEndian.PutUint64(s.runs[n+i:], word)
		}
		n += max(int(p), 0)
	}
	at, step := 0, size>>1+size>>3+3
	runs := s.runs[:n]
	if n == size {
		// All places are free. Four at a time, so that no place waits for the one before.
		for ; len(runs) >= 4; runs = runs[4:] {
			s.symbols[at%maxStates] = runs[0]
			s.symbols[(at+step)&(size-1)%maxStates] = runs[1]
			s.symbols[(at+2*step)&(size-1)%maxStates] = runs[2]
			s.symbols[(at+3*step)&(size-1)%maxStates] = runs[3]
			at = (at + 4*step) & (size - 1)
		}
	}
	for _, symbol := range runs {
		s.symbols[at] = symbol
		at = (at + step) & (size - 1)
		for at > high {
			at = (at + step) & (size - 1)
		}
	}
}

// table is a state machine for one of the three codes of sequences.
type table struct {
	log     uint // logarithm of the number of states
	entries [maxStates]entry
}

// entry describes a state. From the lowest bit up:
//
//	 8 bits   number of bits of the stream that belong to the value
//	 8 bits   number of bits that belong to the next state
//	16 bits   base to add to these for the next state
//	32 bits   base to add to the bits of the value
type entry uint64

func (e entry) valueBits() uint { return uint(e & 255) }
func (e entry) stateBits() uint { return uint(e >> 8 & 255) }
func (e entry) state() uint64   { return uint64(e >> 16 & 0xffff) }
func (e entry) value() uint32   { return uint32(e >> 32) }

// build makes t the machine that readProbabilities has read. codes are the values and bits of the symbols.
func (t *table) build(s *scratch, log, symbols int, codes []entry) {
	spread(s, log, symbols)
	t.log = uint(log)
	size := uint(1) << log
	entries, places, next := t.entries[:size], s.symbols[:size], successors[log]
	// From both ends at once: a number waits for the previous number of its symbol, and going up does not wait for
	// going down.
	for i := range places[:size/2] {
		symbol := places[i]
		entries[i] = codes[symbol] + entry(next[s.first[symbol]])
		s.first[symbol]++
		j := len(places) - 1 - i
		symbol = places[j]
		entries[j] = codes[symbol] + entry(next[s.last[symbol]])
		s.last[symbol]--
	}
}

// successors has, for each logarithm of a number of states, and for each number that spread gives to a state, the part
// of an entry that describes the next states. It never changes.
var successors = makeSuccessors()

func makeSuccessors() *[maxStatesLog + 1][]uint32 {
	var all [maxStatesLog + 1][]uint32
	for log := range all {
		all[log] = make([]uint32, 2<<log)
		for number := 1; number < len(all[log]); number++ {
			n := log + 1 - bits.Len(uint(number))
			all[log][number] = uint32(n<<8 | (number<<n-1<<log)<<16)
		}
	}
	return &all
}

// buildSame makes t a machine with one state, for one symbol.
func (t *table) buildSame(code entry) {
	t.log = 0
	t.entries[0] = code
}
