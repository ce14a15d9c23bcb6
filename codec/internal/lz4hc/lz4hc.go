// Package lz4hc encodes LZ4 blocks with the slow searches of the C library's LZ4_compress_HC, levels 1 to 9.
//
// Package lz4block describes a block.
//
// Levels 1 and 2 look up one candidate by a hash of 7 bytes and one by a hash of 4 (mid.go). Levels 3 to 9 follow
// chains of positions of equal hash, 4 to 256 positions long, and compare up to three overlapping matches (chain.go,
// parse.go). On amd64, one kernel encodes at levels 1 and 2, and another one finds matches at levels 3 to 9. The
// choices are those of lz4 1.10, so that the same input and space give the same bytes.
package lz4hc

import (
	"encoding/binary"

	"github.com/goblosc/blosc2/codec/internal/lz4block"
	"github.com/goblosc/blosc2/internal/race"
)

// Encoder encodes blocks at one level. It belongs to one goroutine and keeps its tables between blocks.
type Encoder struct {
	level int
	mid   *midTables   // levels 1 and 2
	chain *chainTables // levels 3 to 9
	end   uint32       // the largest index in the tables
	text  []byte       // the dictionary, if any, and the last input
	dict  int          // length of the dictionary
}

// NewEncoder returns an encoder for a level from 1 to 9.
func NewEncoder(level int) *Encoder {
	e := &Encoder{level: level}
	if level < 3 {
		e.mid = new(midTables)
	} else {
		e.chain = new(chainTables)
	}
	return e
}

// NewDictEncoder returns an encoder for blocks whose matches may refer to a dictionary, which precedes the block. It
// uses level 3 or higher, and enters the dictionary into its tables for each block. The blocks differ from those of the
// C library.
func NewDictEncoder(level int, dict []byte) *Encoder {
	e := NewEncoder(max(3, level))
	e.text = append(e.text, dict[max(0, len(dict)-lz4block.MaxDistance):]...)
	e.dict = len(e.text)
	return e
}

// Encode writes the block for src into dst, never past len(dst), and returns its length in bytes, or 0 if it does not
// fit or src is too long. dst and src must not overlap.
func (e *Encoder) Encode(dst, src []byte) int {
	if len(src) > lz4block.MaxLength {
		return 0
	}
	b := block{
		src: src,
		dst: dst,
		// The bound is the length of the longest block for this input.
		limited: len(dst)-16 < len(src) || len(dst)-16-len(src) < len(src)/255,
	}
	race.Read(src)
	if e.dict > 0 {
		e.text = append(e.text[:e.dict], src...)
		b.src, b.anchor = e.text, e.dict
	}
	if len(src) >= lz4block.MinLength {
		b.base = e.newBase(len(b.src))
		ok := false
		if e.mid != nil {
			ok = e.mid.encode(&b)
		} else {
			s := search{chainTables: e.chain, block: &b, attempts: 1 << (e.level - 1), runs: e.level == 9}
			ok = s.encode()
		}
		if !ok {
			return 0
		}
	}
	return lz4block.Finish(b.dst, b.out, b.src[b.anchor:])
}

// newBase returns the index of the first byte of the next input. Tables hold indexes, which are positions plus this
// base. The base grows from block to block, so that the indexes of old blocks are too far away. So the tables are
// cleared only if the indexes get large.
func (e *Encoder) newBase(n int) uint32 {
	if e.end > 1<<30 {
		if e.mid != nil {
			*e.mid = midTables{}
		} else {
			e.chain.heads = [1 << chainHashBits]uint32{}
		}
		e.end = 0
	}
	base := e.end + lz4block.MaxDistance + 1
	e.end = base + uint32(n)
	return base
}

// block is the state of encoding a block.
type block struct {
	src, dst []byte
	base     uint32
	limited  bool // the block may not fit
	anchor   int  // start of the literals not yet written: the end of the last match
	start    int  // start of the last match, of levels 1 and 2
	found    int  // position where it was found; its start may have moved since
	out      int  // end of the sequences written
}

// match is a match of the input with itself.
type match struct {
	start, length, distance int
}

func (m match) end() int { return m.start + m.length }

// emit writes the literals up to a match and the match. It reports whether there was space for them and for the
// shortest end of a block. It uses the estimates of the C library, which are slightly high.
func (b *block) emit(m match) bool {
	dst, out := b.dst, b.out
	literals := b.src[b.anchor:m.start]
	n := len(literals)
	if b.limited && n/255+n+9 > len(dst)-out {
		return false
	}
	token := out
	out = lz4block.PutToken(dst, out, n)
	if n <= 16 && 16 <= len(dst)-out && 16 <= len(b.src)-b.anchor {
		// A fixed length avoids a call. The excess is overwritten later.
		copy(dst[out:out+16], b.src[b.anchor:b.anchor+16])
		out += n
	} else {
		out += copy(dst[out:], literals)
	}
	binary.LittleEndian.PutUint16(dst[out:], uint16(m.distance))
	out += 2

	n = m.length - lz4block.MinMatch
	if b.limited && n/255+6 > len(dst)-out {
		return false
	}
	if n >= 15 {
		dst[token] |= 15
		out = lz4block.PutLength(dst, out, n-15)
	} else {
		dst[token] |= byte(n)
	}
	b.out = out
	b.anchor = m.end()
	return true
}
