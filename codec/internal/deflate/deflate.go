package deflate

import (
	"encoding/binary"

	"github.com/goblosc/blosc2/codec/internal/adler"
)

// Encoder compresses streams at one level. It belongs to one goroutine and keeps its tables, 400 KiB, between streams.
type Encoder struct {
	params
	header [2]byte
	matcher
	block
}

// params are what levels differ in.
type params struct {
	eager   bool // whether a match is taken at once
	good    int  // from this length on of the match before, a quarter of the candidates will do
	lazy    int  // and from this on, none; for eager levels, no position in a longer match is entered into the table
	nice    int  // a match of this length ends the search
	chain   int  // candidates
	quality uint16
}

var levels = [10]params{
	1: {true, 4, 4, 8, 4, 0},
	2: {true, 4, 5, 16, 8, 1},
	3: {true, 4, 6, 32, 32, 1},
	4: {false, 4, 4, 16, 16, 1},
	5: {false, 8, 16, 32, 32, 1},
	6: {false, 8, 16, 128, 128, 2},
	7: {false, 8, 32, 128, 256, 3},
	8: {false, 32, 128, 258, 1024, 3},
	9: {false, 32, 258, 258, 4096, 3},
}

// NewEncoder returns an encoder for a level from 1 to 9.
func NewEncoder(level int) *Encoder {
	e := &Encoder{params: levels[level]}
	head := 0x7800 | e.quality<<6
	binary.BigEndian.PutUint16(e.header[:], head+31-head%31)
	return e
}

// Encode writes the stream for src into dst, never past len(dst), and returns its length in bytes, or 0 when it does not
// fit. dst and src do not overlap. src is shorter than 1 GiB.
func (e *Encoder) Encode(dst, src []byte) int {
	if len(dst) < len(e.header) {
		return 0
	}
	raceEncode(src)
	e.matcher.begin(src)
	e.block.begin(dst[copy(dst, e.header[:]):])
	ok := false
	if e.eager {
		ok = e.parseEager()
	} else {
		ok = e.parseLazy()
	}
	n := len(e.header) + e.out
	e.src, e.dst = nil, nil // hold no memory of the caller
	if !ok || len(dst)-n < 4 {
		return 0
	}
	binary.BigEndian.PutUint32(dst[n:], adler.Checksum(src))
	return n + 4
}
