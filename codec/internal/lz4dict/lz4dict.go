// Package lz4dict compresses LZ4 blocks whose matches may reach into a dictionary, which stands before the block.
//
// It looks up one candidate by a hash of 4 bytes, as the fast mode of the C library does. See package lz4hc for the
// format of a block.
package lz4dict

import (
	"encoding/binary"
	"math/bits"
)

// Limits of the format.
const (
	minMatch    = 4
	minLength   = 13 // shorter blocks are all literals
	tailLength  = 12 // no match starts in the last bytes
	lastBytes   = 5  // nor covers one of these
	maxDistance = 65535
	maxLength   = 0x7E000000 // of a block
)

const hashBits = 13

// Encoder compresses blocks with one dictionary. It belongs to one goroutine and keeps its tables between blocks.
type Encoder struct {
	acceleration int
	n            int    // bytes of dictionary
	text         []byte // dictionary and block
	primed       *table // of the dictionary
	table        *table // of the dictionary and what was seen of the block
}

// table holds the last position of each hash.
type table [1 << hashBits]uint32

// NewEncoder returns an encoder that looks for matches ever more sparsely the greater acceleration is, from 1.
func NewEncoder(dict []byte, acceleration int) *Encoder {
	dict = dict[max(0, len(dict)-maxDistance):]
	e := &Encoder{acceleration: acceleration, n: len(dict), text: append([]byte(nil), dict...), primed: new(table), table: new(table)}
	for i := 0; i+minMatch <= len(dict); i++ {
		e.primed[hash(load32(dict, i))] = uint32(i)
	}
	return e
}

// Encode writes the block for src into dst, never past len(dst), and returns its length in bytes, or 0 when it does not
// fit or src is too long. dst and src do not overlap.
func (e *Encoder) Encode(dst, src []byte) int {
	if len(src) > maxLength {
		return 0
	}
	e.text = append(e.text[:e.n], src...)
	copy(e.table[:], e.primed[:]) // not an assignment: Go 1.26 gets those of large arrays wrong on s390x
	b := block{text: e.text, dst: dst, anchor: e.n}
	for pos := e.n; len(src) >= minLength; {
		m, ok := e.next(pos, b.anchor)
		if !ok {
			break
		}
		if !b.emit(m) {
			return 0
		}
		pos = b.anchor
		if pos <= len(b.text)-tailLength {
			e.table[hash(load32(b.text, pos-2))] = uint32(pos - 2)
		}
	}
	return b.finish()
}

// next finds the first match from pos on. It may start before pos, from anchor on.
func (e *Encoder) next(pos, anchor int) (match, bool) {
	text := e.text
	step := e.acceleration << 6
	for pos <= len(text)-tailLength {
		want := load32(text, pos)
		slot := &e.table[hash(want)]
		candidate := int(*slot)
		*slot = uint32(pos)
		if candidate < pos && pos-candidate <= maxDistance && load32(text, candidate) == want {
			m := match{pos, minMatch + common(text, pos+minMatch, candidate+minMatch), pos - candidate}
			for m.start > anchor && candidate > 0 && text[m.start-1] == text[candidate-1] {
				m.start--
				candidate--
				m.length++
			}
			return m, true
		}
		pos += step >> 6
		step++
	}
	return match{}, false
}

// match is a match of the text with itself.
type match struct {
	start, length, distance int
}

// block is a block in the making.
type block struct {
	text, dst []byte
	anchor    int // start of the literals not yet written
	out       int // end of the sequences written
}

// emit writes the literals up to a match and the match. It reports whether there was room.
func (b *block) emit(m match) bool {
	literals := b.text[b.anchor:m.start]
	more := m.length - minMatch
	if 1+len(literals)/255+1+len(literals)+2+more/255+1 > len(b.dst)-b.out {
		return false
	}
	token := b.literals(literals)
	binary.LittleEndian.PutUint16(b.dst[b.out:], uint16(m.distance))
	b.out += 2
	b.dst[token] |= byte(min(more, 15))
	b.length(more)
	b.anchor = m.start + m.length
	return true
}

// finish writes the last literals and returns the length of the block, or 0 when it does not fit.
func (b *block) finish() int {
	literals := b.text[b.anchor:]
	if 1+len(literals)/255+1+len(literals) > len(b.dst)-b.out {
		return 0
	}
	b.literals(literals)
	return b.out
}

// literals writes a token without match and the literals, and returns where the token is.
func (b *block) literals(p []byte) (token int) {
	token = b.out
	b.dst[token] = byte(min(len(p), 15) << 4)
	b.out++
	b.length(len(p))
	b.out += copy(b.dst[b.out:], p)
	return token
}

// length writes the bytes of a length that follow a token, if any.
func (b *block) length(n int) {
	if n < 15 {
		return
	}
	for n -= 15; n >= 255; n -= 255 {
		b.dst[b.out] = 255
		b.out++
	}
	b.dst[b.out] = byte(n)
	b.out++
}

// common returns how many bytes of text from i on equal those from k on, k < i, as far as a match may go.
func common(text []byte, i, k int) int {
	start, limit := i, len(text)-lastBytes
	for i <= limit-8 {
		if x := load64(text, i) ^ load64(text, k); x != 0 {
			return i + bits.TrailingZeros64(x)/8 - start
		}
		i += 8
		k += 8
	}
	for i < limit && text[i] == text[k] {
		i++
		k++
	}
	return i - start
}

func hash(v uint32) uint32 { return v * 2_654_435_761 >> (32 - hashBits) }

func load32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }
func load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
