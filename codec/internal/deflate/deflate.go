package deflate

import (
	"encoding/binary"

	"github.com/goblosc/blosc2/codec/internal/adler"
)

// Encoder encodes streams at one level. It belongs to one goroutine and keeps its tables between streams: 400 KiB, and
// 512 KiB more from level 6 up.
type Encoder struct {
	params
	header [2]byte
	matcher
	block
}

// params are the parameters of a level.
type params struct {
	eager   bool // whether to take a match at once
	good    int  // if the previous match has this length, try only a quarter of the candidates
	lazy    int  // if it has this length, try none; eager levels enter no position in a longer match into the table
	nice    int  // a match of this length ends the search
	chain   int  // largest number of candidates
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
	if e.chain >= manyCandidates {
		e.long = new(long)
	}
	head := 0x7800 | e.quality<<6
	binary.BigEndian.PutUint16(e.header[:], head+31-head%31)
	return e
}

// manyCandidates is the number of candidates from which long saves time on average.
const manyCandidates = 128

// Encode writes the stream for src into dst, never past len(dst), and returns its length in bytes, or 0 if it does not
// fit. dst and src must not overlap. src must be shorter than 1 GiB.
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
	e.src, e.dst = nil, nil // retain no memory of the caller
	if !ok || len(dst)-n < 4 {
		return 0
	}
	binary.BigEndian.PutUint32(dst[n:], adler.Checksum(src))
	return n + 4
}
