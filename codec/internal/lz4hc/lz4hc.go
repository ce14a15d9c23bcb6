// Package lz4hc compresses LZ4 blocks with the slow searches of the C library's LZ4_compress_HC, levels 1 to 9.
//
// An LZ4 block is a sequence of
//
//	token, more literal length, literals, distance (2 bytes, little-endian), more match length
//
// where the high half of the token is the number of literals and the low half the match length less 4; 15 in
// either says that bytes follow which add up to the rest, the first one below 255 being the last. The block ends
// after the literals of its last sequence, of which there are 5 at least; no match starts in its last 12 bytes.
//
// Levels 1 and 2 look up one candidate by a hash of 7 bytes and one by a hash of 4 (mid.go). Levels 3 to 9 follow
// chains of positions of equal hash, 4 to 256 of them, and weigh up to three overlapping matches against each
// other (chain.go, parse.go); on amd64 kernels follow the chains. The choices are those of lz4 1.10, so that the same
// input and room give the same bytes.
package lz4hc

import (
	"encoding/binary"
	"math/bits"
)

// Limits of the format and of the C library.
const (
	minMatch    = 4
	minLength   = 13         // shorter inputs are all literals
	tailLength  = 12         // no match starts in the last bytes
	lastBytes   = 5          // nor covers one of these
	maxDistance = 65535      // of a match
	maxLength   = 0x7E000000 // of the input
)

// Encoder compresses blocks at one level. It belongs to one goroutine and keeps its tables between blocks.
type Encoder struct {
	level int
	mid   *midTables   // levels 1 and 2
	chain *chainTables // levels 3 to 9
	end   uint32       // the greatest index in the tables
	text  []byte       // the dictionary, if any, and the last input
	dict  int          // bytes of dictionary
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

// NewDictEncoder returns an encoder for blocks whose matches may reach into a dictionary, which stands before the block.
// It works at level 3 at least, and enters the dictionary into its tables for each block anew. The blocks are not those
// of the C library.
func NewDictEncoder(level int, dict []byte) *Encoder {
	e := NewEncoder(max(3, level))
	e.text = append(e.text, dict[max(0, len(dict)-maxDistance):]...)
	e.dict = len(e.text)
	return e
}

// Encode writes the block for src into dst, never past len(dst), and returns its length in bytes, or 0 when it
// does not fit or src is too long. dst and src do not overlap.
func (e *Encoder) Encode(dst, src []byte) int {
	if len(src) > maxLength {
		return 0
	}
	b := block{
		src: src,
		dst: dst,
		// The bound is the longest block of this input.
		limited: len(dst)-16 < len(src) || len(dst)-16-len(src) < len(src)/255,
	}
	raceRead(src)
	if e.dict > 0 {
		e.text = append(e.text[:e.dict], src...)
		b.src, b.anchor = e.text, e.dict
	}
	if len(src) >= minLength {
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
	return b.finish()
}

// newBase returns the index of the first byte of the next input. Tables hold indexes, that is positions plus this
// base, which grows from block to block such that those of old blocks are too far away; so the tables are cleared
// only when the indexes get large.
func (e *Encoder) newBase(n int) uint32 {
	if e.end > 1<<30 {
		if e.mid != nil {
			*e.mid = midTables{}
		} else {
			e.chain.heads = [1 << chainHashBits]uint32{}
		}
		e.end = 0
	}
	base := e.end + maxDistance + 1
	e.end = base + uint32(n)
	return base
}

// block is a block in the making.
type block struct {
	src, dst []byte
	base     uint32
	limited  bool // whether the block may not fit
	anchor   int  // start of the literals not yet written
	out      int  // end of the sequences written
}

// match is a match of the input with itself.
type match struct {
	start, length, distance int
}

func (m match) end() int { return m.start + m.length }

// matchLength returns how long a match of pos with a position before it is, of which 4 bytes are known to be equal.
func (b *block) matchLength(pos, at int) int {
	return minMatch + common(b.src, pos+minMatch, at+minMatch, len(b.src)-lastBytes)
}

// emit writes the literals up to a match and the match. It reports whether there was room for them and for the
// least that follows; the C library's estimates decide, which are a little high.
func (b *block) emit(m match) bool {
	dst, out := b.dst, b.out
	literals := b.src[b.anchor:m.start]
	n := len(literals)
	if b.limited && n/255+n+9 > len(dst)-out {
		return false
	}
	token := out
	out++
	if n >= 15 {
		dst[token] = 15 << 4
		out = putLength(dst, out, n-15)
	} else {
		dst[token] = byte(n << 4)
	}
	if n <= 16 && 16 <= len(dst)-out && 16 <= len(b.src)-b.anchor {
		// A fixed length spares a call; what is copied too much is overwritten later.
		copy(dst[out:out+16], b.src[b.anchor:b.anchor+16])
		out += n
	} else {
		out += copy(dst[out:], literals)
	}
	binary.LittleEndian.PutUint16(dst[out:], uint16(m.distance))
	out += 2

	n = m.length - minMatch
	if b.limited && n/255+6 > len(dst)-out {
		return false
	}
	if n >= 15 {
		dst[token] |= 15
		out = putLength(dst, out, n-15)
	} else {
		dst[token] |= byte(n)
	}
	b.out = out
	b.anchor = m.end()
	return true
}

// finish writes the last literals and returns the length of the block, or 0 when it does not fit.
func (b *block) finish() int {
	literals := b.src[b.anchor:]
	n := len(literals)
	if 1+n+(n+240)/255 > len(b.dst)-b.out {
		return 0
	}
	token := b.out
	b.out++
	if n >= 15 {
		b.dst[token] = 15 << 4
		b.out = putLength(b.dst, b.out, n-15)
	} else {
		b.dst[token] = byte(n << 4)
	}
	b.out += copy(b.dst[b.out:], literals)
	return b.out
}

// putLength writes the bytes of a length above 14 at dst[out:] and returns their end.
func putLength(dst []byte, out, n int) int {
	for ; n >= 255; n -= 255 {
		dst[out] = 255
		out++
	}
	dst[out] = byte(n)
	return out + 1
}

// common returns how many bytes of src from a on equal those from b on, b < a, up to position limit.
func common(src []byte, a, b, limit int) int {
	start := a
	for a <= limit-8 {
		if x := load64(src, a) ^ load64(src, b); x != 0 {
			return a + bits.TrailingZeros64(x)/8 - start
		}
		a += 8
		b += 8
		// Long matches go by larger steps; the comparison is a vectorized one.
		for a-start >= 32 && a <= limit-64 && string(src[a:a+64]) == string(src[b:b+64]) {
			a += 64
			b += 64
		}
	}
	for a < limit && src[a] == src[b] {
		a++
		b++
	}
	return a - start
}

func load16(b []byte, i int) uint16 { return binary.LittleEndian.Uint16(b[i : i+2]) }
func load32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[i : i+4]) }
func load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8]) }
