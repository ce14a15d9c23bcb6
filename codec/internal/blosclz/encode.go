package blosclz

import "encoding/binary"

// Encoder holds the hash table of an encoder. The zero value is ready. It belongs to one goroutine.
type Encoder struct {
	table [1 << maxHashBits]uint32 // last position of each hash
}

// levels holds the parameters of each compression level.
var levels = [10]struct {
	hashBits uint
	share    int     // the probe reads the last 1/share of the input
	minRatio float64 // least compression ratio that the probe must estimate
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

// Encode writes the stream for src into dst, never past len(dst), and returns its length in bytes. It returns 0 if the
// stream does not fit, or if a probe of the input promises too little at this level. level is 1 to 9. dst and src must
// not overlap.
//
// The choices are those of C-Blosc2 (blosc/blosclz.c), so that the same input and space give the same bytes: a greedy
// search with one candidate per hash of 4 bytes.
func (e *Encoder) Encode(dst, src []byte, level int) int {
	l := &levels[level]
	if len(src) < minLength || len(dst) < minRoom {
		return 0
	}
	if e.probe(src[len(src)-len(src)/l.share:], l.hashBits) < l.minRatio {
		return 0
	}
	clear(e.table[:1<<l.hashBits])

	limit := len(src) - tailLength
	out := 0     // end of the tokens written
	literal := 0 // start of the literals not yet written
	for pos := 4; ; {
		at, ref, end := e.find(src, l.hashBits, pos, limit, 6)
		if at >= limit {
			break
		}
		// code is two less than the length of the match.
		code := end - 4 - at
		if out = putLiterals(dst, src, out, literal, at); out < 0 {
			return 0
		}
		if out = putMatch(dst, out, code, at-ref); out < 0 {
			return 0
		}
		// Two bytes of the match are left. They enter the table, the second one only at level 9.
		pos = at + code
		e.enter(binary.LittleEndian.Uint32(src[pos:]), pos, l.hashBits)
		if level == 9 {
			e.enter(binary.LittleEndian.Uint32(src[pos:])>>8, pos+1, l.hashBits)
		}
		pos += 2
		literal = pos
	}
	if out = putLiterals(dst, src, out, literal, len(src)); out < 0 {
		return 0
	}
	dst[0] |= 1 << 5
	return out
}

// enter puts a position into the table under the hash of its bytes.
func (e *Encoder) enter(seq uint32, pos int, hashBits uint) {
	e.table[seq*hashFactor>>((32-hashBits)&31)&(1<<maxHashBits-1)] = uint32(pos)
}

// probe estimates the compression ratio of src from its first bytes. Their number is the number of entries of the hash
// table.
func (e *Encoder) probe(src []byte, hashBits uint) float64 {
	src = src[:min(len(src), 1<<hashBits)]
	clear(e.table[:1<<hashBits])

	limit := len(src) - tailLength
	size := 5 // estimated length of the stream
	run := 4  // literals in the last token
	pos := 0
	for pos < limit {
		at, ref, end := e.find(src, hashBits, pos, limit, 4)
		run += at - pos
		size += at - pos + run/maxRun
		run %= maxRun
		if pos = at; pos >= limit {
			break
		}
		if run == 0 {
			size--
		}
		run = 0
		code := end - 4 - pos
		if code >= 7 {
			size += (code-7)/255 + 1
		}
		size += 3 // the match, and the control byte of the next literals
		if pos-ref > maxNear {
			size += 2
		}
		pos += code
		e.enter(binary.LittleEndian.Uint32(src[pos:]), pos, hashBits)
		pos += 2
	}
	return float64(pos) / float64(size)
}

// putLiterals writes literal tokens for src[from:to] at dst[out:] and returns their end. It returns -1 if there is no
// space for them and one more byte: C-Blosc2 writes the control byte of the next literals in advance, and gives up if
// that does not fit.
func putLiterals(dst, src []byte, out, from, to int) int {
	n := to - from
	need := n + (n+maxRun-1)/maxRun + 1
	if need > len(dst)-out {
		return -1
	}
	for ; n > maxRun; n -= maxRun {
		dst[out] = maxRun - 1
		*(*[maxRun]byte)(dst[out+1:]) = *(*[maxRun]byte)(src[from:])
		out += 1 + maxRun
		from += maxRun
	}
	if n == 0 {
		return out
	}
	dst[out] = byte(n - 1)
	out++
	if maxRun <= len(dst)-out && maxRun <= len(src)-from {
		*(*[maxRun]byte)(dst[out:]) = *(*[maxRun]byte)(src[from:]) // the excess is overwritten
	} else {
		copy(dst[out:], src[from:to])
	}
	return out + n
}

// putMatch writes a match token at dst[out:] and returns its end, or -1 if there is no space. The match is code+2 bytes
// long.
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
