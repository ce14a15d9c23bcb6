package blosclz

import (
	"encoding/binary"
	"math/bits"
)

// Encoder holds the hash table of an encoder. The zero value is ready. It belongs to one goroutine.
type Encoder struct {
	table [1 << maxHashBits]uint32 // last position of each hash
}

// levels holds what depends on the compression level.
var levels = [10]struct {
	hashBits uint
	share    int     // a stream is probed on its last 1/share
	minRatio float64 // that must promise this compression ratio
}{
	1: {12, 8, 2},
	2: {13, 4, 1.5},
	3: {14, 4, 1.2},
	4: {14, 2, 1.2},
	5: {14, 2, 1.2},
	6: {14, 2, 1.2},
	7: {14, 1, 1.15},
	8: {14, 1, 1.1},
	9: {14, 1, 1.0},
}

// Encode writes the stream for src into dst, never past len(dst), and returns its length in bytes. It returns 0
// when the stream does not fit or when a probe of the input promises too little at this level. level is 1 to 9;
// dst and src do not overlap.
//
// The choices are those of C-Blosc2 (blosc/blosclz.c), so that the same input and room give the same bytes: a
// greedy search with one candidate per hash of 4 bytes.
func (e *Encoder) Encode(dst, src []byte, level int) int {
	l := &levels[level]
	if len(src) < minLength || len(dst) < minRoom {
		return 0
	}
	if e.probe(src[len(src)-len(src)/l.share:], l.hashBits) < l.minRatio {
		return 0
	}
	clear(e.table[:1<<l.hashBits])

	shift := 32 - l.hashBits
	limit := len(src) - tailLength
	out := 0     // end of the tokens written
	literal := 0 // start of the literals not yet written
	for pos := 4; pos < limit; {
		seq := binary.LittleEndian.Uint32(src[pos:])
		slot := &e.table[seq*hashFactor>>(shift&31)&(1<<maxHashBits-1)]
		ref := int(*slot)
		*slot = uint32(pos)
		distance := pos - ref
		if uint(distance-1) >= maxFar-1 || binary.LittleEndian.Uint32(src[ref:]) != seq {
			pos++
			continue
		}
		// code is two less than the length of the match.
		code := matchEnd(src, pos+4, ref+4) - 4 - pos
		if code < 4 || code <= 5 && distance > maxNear {
			pos++
			continue
		}
		if out = putLiterals(dst, out, src[literal:pos]); out < 0 {
			return 0
		}
		if out = putMatch(dst, out, code, distance); out < 0 {
			return 0
		}
		// Two bytes of the match are left: they enter the table, the second one at level 9 only.
		pos += code
		seq = binary.LittleEndian.Uint32(src[pos:])
		e.table[seq*hashFactor>>(shift&31)&(1<<maxHashBits-1)] = uint32(pos)
		if level == 9 {
			e.table[seq>>8*hashFactor>>(shift&31)&(1<<maxHashBits-1)] = uint32(pos + 1)
		}
		pos += 2
		literal = pos
	}
	if out = putLiterals(dst, out, src[literal:]); out < 0 {
		return 0
	}
	dst[0] |= 1 << 5
	return out
}

// probe estimates the compression ratio of src from its first bytes, as many as the hash table has entries.
func (e *Encoder) probe(src []byte, hashBits uint) float64 {
	src = src[:min(len(src), 1<<hashBits)]
	clear(e.table[:1<<hashBits])

	shift := 32 - hashBits
	limit := len(src) - tailLength
	size := 5 // estimated length of the stream
	run := 4  // literals in the last token
	pos := 0
	for pos < limit {
		seq := binary.LittleEndian.Uint32(src[pos:])
		slot := &e.table[seq*hashFactor>>(shift&31)&(1<<maxHashBits-1)]
		ref := int(*slot)
		*slot = uint32(pos)
		code := 0
		distance := pos - ref
		if uint(distance-1) < maxFar-1 && binary.LittleEndian.Uint32(src[ref:]) == seq {
			code = matchEnd(src, pos+4, ref+4) - 4 - pos
		}
		if code < 4 {
			pos++
			size++
			if run++; run == maxRun {
				run = 0
				size++
			}
			continue
		}
		if run == 0 {
			size--
		}
		run = 0
		if code >= 7 {
			size += (code-7)/255 + 1
		}
		size += 3 // the match, and the control byte of the next literals
		if distance > maxNear {
			size += 2
		}
		pos += code
		seq = binary.LittleEndian.Uint32(src[pos:])
		e.table[seq*hashFactor>>(shift&31)&(1<<maxHashBits-1)] = uint32(pos)
		pos += 2
	}
	return float64(pos) / float64(size)
}

// matchEnd compares src from a on with src from b on, b < a, and returns the position after the first byte that
// differs, or that of the last byte of src where there is none before it.
func matchEnd(src []byte, a, b int) int {
	last := len(src) - 1
	start := a
	for a <= last-8 {
		x := binary.LittleEndian.Uint64(src[a:]) ^ binary.LittleEndian.Uint64(src[b:])
		if x != 0 {
			return a + bits.TrailingZeros64(x)/8 + 1
		}
		a += 8
		b += 8
		// Long matches go by larger steps; the comparison is a vectorized one.
		for a-start >= 32 && a <= last-64 && string(src[a:a+64]) == string(src[b:b+64]) {
			a += 64
			b += 64
		}
	}
	for a < last {
		if src[a] != src[b] {
			return a + 1
		}
		a++
		b++
	}
	return last
}

// putLiterals writes literal tokens at dst[out:] and returns their end. It returns -1 when there is no room for
// them and one byte more: the reference encoder writes the control byte of the next literals ahead, and gives up
// when that does not fit.
func putLiterals(dst []byte, out int, literals []byte) int {
	need := len(literals) + (len(literals)+maxRun-1)/maxRun + 1
	if need > len(dst)-out {
		return -1
	}
	for len(literals) > maxRun {
		dst[out] = maxRun - 1
		copy(dst[out+1:], literals[:maxRun])
		out += 1 + maxRun
		literals = literals[maxRun:]
	}
	if len(literals) > 0 {
		dst[out] = byte(len(literals) - 1)
		out += 1 + copy(dst[out+1:], literals)
	}
	return out
}

// putMatch writes a match token at dst[out:] and returns its end, or -1 when there is no room. The match is
// code+2 bytes long.
func putMatch(dst []byte, out, code, distance int) int {
	need := 2
	if code >= 7 {
		need += (code-7)/255 + 1
	}
	far := distance > maxNear
	high, low := byte((distance-1)>>8), byte(distance-1)
	if far {
		need += 2
		high, low = 31, 255
	}
	if need > len(dst)-out {
		return -1
	}
	if code < 7 {
		dst[out] = byte(code<<5) | high
		out++
	} else {
		dst[out] = 7<<5 | high
		out++
		for code -= 7; code >= 255; code -= 255 {
			dst[out] = 255
			out++
		}
		dst[out] = byte(code)
		out++
	}
	dst[out] = low
	out++
	if far {
		binary.BigEndian.PutUint16(dst[out:], uint16(distance-maxNear-1))
		out += 2
	}
	return out
}
