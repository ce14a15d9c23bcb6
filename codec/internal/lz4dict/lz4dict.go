// Package lz4dict encodes LZ4 blocks whose matches may refer to a dictionary, which precedes the block.
//
// It looks up one candidate by a hash of 4 bytes, like the fast mode of the C library. See package lz4block for the
// format of a block.
package lz4dict

import (
	"encoding/binary"

	"github.com/goblosc/blosc2/codec/internal/lz4block"
)

const hashBits = 13

// Encoder compresses blocks with one dictionary. It belongs to one goroutine and keeps its tables between blocks.
type Encoder struct {
	acceleration int
	n            int    // length of the dictionary
	text         []byte // dictionary and block
	primed       *table // table of the dictionary
	table        *table // table of the dictionary and the processed part of the block
}

// table holds the last position of each hash.
type table [1 << hashBits]uint32

// NewEncoder returns an encoder. acceleration is at least 1. Higher values search more sparsely.
func NewEncoder(dict []byte, acceleration int) *Encoder {
	dict = dict[max(0, len(dict)-lz4block.MaxDistance):]
	e := &Encoder{acceleration: acceleration, n: len(dict), text: append([]byte(nil), dict...), primed: new(table), table: new(table)}
	for i := 0; i+lz4block.MinMatch <= len(dict); i++ {
		e.primed[hash(lz4block.Load32(dict, i))] = uint32(i)
	}
	return e
}

// Encode writes the block for src into dst, never past len(dst), and returns its length in bytes, or 0 if it does not
// fit or src is too long. dst and src must not overlap.
func (e *Encoder) Encode(dst, src []byte) int {
	if len(src) > lz4block.MaxLength {
		return 0
	}
	e.text = append(e.text[:e.n], src...)
	copy(e.table[:], e.primed[:]) // not an assignment: Go 1.26 miscompiles assignments of large arrays on s390x
	b := block{text: e.text, dst: dst, anchor: e.n}
	for pos := e.n; len(src) >= lz4block.MinLength; {
		m, ok := e.next(pos, b.anchor)
		if !ok {
			break
		}
		if !b.emit(m) {
			return 0
		}
		pos = b.anchor
		if pos <= len(b.text)-lz4block.TailLength {
			e.table[hash(lz4block.Load32(b.text, pos-2))] = uint32(pos - 2)
		}
	}
	return lz4block.Finish(b.dst, b.out, b.text[b.anchor:])
}

// next finds the first match at or after pos. The match may be extended back to anchor.
func (e *Encoder) next(pos, anchor int) (match, bool) {
	text := e.text
	step := e.acceleration << 6
	for pos <= len(text)-lz4block.TailLength {
		want := lz4block.Load32(text, pos)
		slot := &e.table[hash(want)]
		candidate := int(*slot)
		*slot = uint32(pos)
		if candidate < pos && pos-candidate <= lz4block.MaxDistance && lz4block.Load32(text, candidate) == want {
			m := match{pos, lz4block.MatchLength(text, pos, candidate), pos - candidate}
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

// block is the state of encoding a block.
type block struct {
	text, dst []byte
	anchor    int // start of the literals not yet written
	out       int // end of the sequences written
}

// emit writes the literals up to a match and the match. It reports whether there was space.
func (b *block) emit(m match) bool {
	dst, token := b.dst, b.out
	literals := b.text[b.anchor:m.start]
	more := m.length - lz4block.MinMatch
	if 1+len(literals)/255+1+len(literals)+2+more/255+1 > len(dst)-token {
		return false
	}
	out := lz4block.PutToken(dst, token, len(literals))
	out += copy(dst[out:], literals)
	binary.LittleEndian.PutUint16(dst[out:], uint16(m.distance))
	out += 2
	dst[token] |= byte(min(more, 15))
	if more >= 15 {
		out = lz4block.PutLength(dst, out, more-15)
	}
	b.out = out
	b.anchor = m.start + m.length
	return true
}

func hash(v uint32) uint32 { return v * 2_654_435_761 >> (32 - hashBits) }
