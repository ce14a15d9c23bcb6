package zstdenc

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Encoder encodes one input at a time. It belongs to one goroutine. It keeps its tables between calls.
type Encoder struct {
	level  int
	first  params // for all blocks
	second params // for blocks that compress well
	params params // parameters of the current block

	src  []byte
	base uint32 // tables hold positions in src plus base; smaller values are from earlier inputs
	free uint32 // the base for the next input

	// State that a block of a frame passes to the next one.
	repeats  [3]uint32
	literals literalsWriter
	coder    sequenceWriter

	// The matches of a block.
	sequences []sequence
	text      []byte // literals, if there are sequences

	tables   tables
	fast     fastSearch
	rows     rowSearch
	finder   finder
	optimal  *optimal
	splitter *splitter
	quiet    quiet
	short    bool   // the search hashes 4 bytes
	out      []byte // buffer for a block
}

// NewEncoder returns an encoder for a level of Blosc, from 1 to 9.
func NewEncoder(level int) *Encoder {
	return &Encoder{level: level}
}

const (
	frameMagic = 0xfd2fb528
	maxBlock   = 128 << 10
	// slack is the space after literals and blocks, which are written in words.
	slack = 64
)

// blockRoom returns the largest size of a block of n bytes before it is certain that it should be raw: 12 bytes for
// each sequence, of which there is at most one per 3 bytes, and literals and tables.
func blockRoom(n int) int { return 12*n/minMatch + n + 1<<10 }

// Encode writes a frame with the content src to dst, never past len(dst), and returns its length in bytes, or 0 if it
// does not fit. dst and src must not overlap. src must have at most 1<<31-1 bytes.
func (e *Encoder) Encode(dst, src []byte) int {
	var head [13]byte
	at := putHeader(&head, len(src))
	if len(dst) < at+3 {
		return 0
	}
	copy(dst, head[:at])
	if len(src) == 0 {
		dst[at], dst[at+1], dst[at+2] = 1, 0, 0
		return at + 3
	}
	e.begin(src)
	defer func() { e.src, e.finder.src = nil, nil }() // retain no memory of the caller
	for start := 0; start < len(src); {
		end := start + e.blockSize(start)
		n := e.block(dst[at:], start, end)
		if n == 0 {
			return 0
		}
		at += n
		start = end
	}
	return at
}

// putHeader writes the header of a frame in one segment, without checksum (RFC 8878, section 3.1.1.1).
func putHeader(dst *[13]byte, n int) int {
	binary.LittleEndian.PutUint32(dst[:], frameMagic)
	switch {
	case n < 256:
		dst[4], dst[5] = 0x20, byte(n)
		return 6
	case n < 256+1<<16:
		dst[4] = 0x60
		binary.LittleEndian.PutUint16(dst[5:], uint16(n-256))
		return 7
	}
	dst[4] = 0xa0
	binary.LittleEndian.PutUint32(dst[5:], uint32(n))
	return 9
}

func (e *Encoder) begin(src []byte) {
	if first, second := paramsFor(e.level, len(src)); first != e.first || second != e.second {
		e.first, e.second = first, second
		// Old entries of the tables stay below base.
		e.tables.fit(&first)
		if first.retryLog > 0 {
			e.tables.fit(&second)
		}
		e.literals.quick, e.literals.thorough = first.strategy < optimalParse, first.thorough
	}
	if e.free == 0 || int64(e.free)+int64(len(src)) > 1<<31 {
		e.tables.clear()
		clear(e.finder.tree)
		clear(e.finder.hash3)
		e.free = 1
	}
	e.base = e.free
	e.free += uint32(len(src))
	if n := min(len(src), maxBlock); cap(e.text) < n+slack {
		n = 1 << bits.Len(uint(n-1)) // the next power of two
		e.text = make([]byte, 0, n+slack)
		e.out = make([]byte, blockRoom(n))
	}
	e.src = src
	e.repeats = [3]uint32{1, 4, 8}
	e.literals.old.valid = false
	e.coder.last = [3]int8{none, none, none}
	e.rows.next, e.rows.last = 0, 0
	e.finder.next = 0
	e.quiet.pieces = e.quiet.pieces[:0]
	if e.first.strategy == optimalParse {
		if e.optimal == nil {
			e.optimal = new(optimal)
		}
		e.optimal.ready = false
		e.optimal.fit(len(src))
		e.finder.fit(len(src))
		e.quiet.find(src, e.finder.tree, e.base, e.first.hashLog)
	}
}

// The types of blocks (RFC 8878, section 3.1.1.2.2).
const (
	rawBlock = iota
	sameBlock
	compressedBlock
)

// block writes the block of src[start:end], with its header, and returns its length, or 0 if it does not fit.
func (e *Encoder) block(dst []byte, start, end int) int {
	b := e.src[start:end]
	last := uint32(0)
	if end == len(e.src) {
		last = 1
	}
	if len(dst) < 4 {
		return 0
	}
	// Old decoders do not read a frame that begins with such a block.
	if start > 0 && bytes.Equal(b[1:], b[:len(b)-1]) {
		putBlockHeader(dst, last, sameBlock, len(b))
		dst[3] = b[0]
		return 4
	}
	repeats := e.repeats
	n := 0
	// Only the optimal parse has searched for quiet pieces.
	if len(b) > 8 && (e.first.strategy != optimalParse || !e.quiet.all(start, end)) {
		e.match(&e.first, start, end)
		n = e.compress(start, end)
		if e.first.retryLog > 0 && n < len(b)>>e.first.retryLog && n > 48 && (len(e.sequences) > 1 || len(e.text) > 256) {
			// The search is fast if matches are long, and small differences matter if the block is small. Of one match
			// after few literals there is little to save.
			e.repeats, e.rows.last = repeats, start
			e.match(&e.second, start, end)
			n = e.compress(start, end)
		}
	}
	// A block is raw if its gain is not worth the time of the decoder: less than one byte in 64, or in 128.
	least := 6
	if e.first.strategy == optimalParse {
		least = 7
	}
	if n == 0 || n >= len(b)-2-len(b)>>least {
		e.repeats = repeats
		n = len(b)
		if n > len(dst)-3 {
			return 0
		}
		putBlockHeader(dst, last, rawBlock, n)
		return 3 + copy(dst[3:], b)
	}
	if n > len(dst)-3 {
		return 0
	}
	// The next block may repeat the tables of this one.
	e.literals.old = e.literals.code
	e.coder.last = e.coder.used
	putBlockHeader(dst, last, compressedBlock, n)
	return 3 + copy(dst[3:], e.out[:n])
}

func putBlockHeader(dst []byte, last uint32, kind, n int) {
	v := last | uint32(kind)<<1 | uint32(n)<<3
	dst[0], dst[1], dst[2] = byte(v), byte(v>>8), byte(v>>16)
}

// compress encodes a block to out and returns the length. It returns 0 if the block has no match and seems to be noise.
func (e *Encoder) compress(start, end int) int {
	text, matches := e.literalsOf(start, end), len(e.sequences)
	if matches == 0 && e.literals.noise(text) {
		return 0
	}
	n := e.literals.write(e.out, text, matches > 0 && len(text) >= 20*matches)
	return e.coder.write(e.out[n:], e.sequences) + n
}

// literalsOf returns the literals of a block.
func (e *Encoder) literalsOf(start, end int) []byte {
	if len(e.sequences) == 0 {
		return e.src[start:end]
	}
	return e.text
}

// match finds the matches of src[start:end].
func (e *Encoder) match(p *params, start, end int) {
	e.params = *p
	e.sequences, e.text = e.sequences[:0], e.text[:0]
	if n := (end - start) / minMatch; cap(e.sequences) <= n {
		e.sequences = make([]sequence, 0, n+16)
	}
	switch e.params.strategy {
	case fastMatch, doubleMatch:
		e.matchFast(start, end)
	case optimalParse:
		e.parse(start, end)
	default:
		e.matchLazy(start, end)
	}
}

// add adds a sequence: the literals src[from:at] and a match of length bytes.
func (e *Encoder) add(from, at int, offset uint32, length int) {
	e.text = appendText(e.text, e.src, from, at)
	e.sequences = append(e.sequences, sequence{uint32(at - from), uint32(length), offset})
}

// appendText adds src[from:at] to text, which must have space for 16 more bytes.
func appendText(text, src []byte, from, at int) []byte {
	n, k := at-from, len(text)
	text = text[:k+n]
	if n <= 16 && from+16 <= len(src) {
		to, s := text[k:k+16], src[from:from+16]
		binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(s))
		binary.LittleEndian.PutUint64(to[8:], binary.LittleEndian.Uint64(s[8:]))
	} else {
		copy(text[k:], src[from:at])
	}
	return text
}

// rest adds the literals after the last sequence, if there is one. Otherwise all bytes of the block are literals, which
// need no copy.
func (e *Encoder) rest(from, end int) {
	if len(e.sequences) > 0 {
		e.text = append(e.text, e.src[from:end]...)
	}
}

// blockSize returns the length of the block that begins at start. At the slow levels it ends where the statistics of
// the literals change. A block of random bytes that follows others is not examined: to count its bytes would take as
// long as to search it.
func (e *Encoder) blockSize(start int) int {
	n := min(len(e.src)-start, maxBlock)
	if !e.first.split || n < 2*pieceSize {
		return n
	}
	if start > 0 && e.first.strategy != optimalParse && e.unmatched(start) && e.literals.random(e.src[start:start+n]) {
		return n
	}
	if e.splitter == nil {
		e.splitter = new(splitter)
	}
	return e.splitter.split(e.src[start : start+n])
}
