// Package lz4 compresses LZ4 blocks with the fast search of the C library's LZ4_compress_fast, and expands any.
//
// Package lz4block draws a block.
//
// The search looks up one candidate for each position by a hash, of 4 bytes for inputs up to 64 KiB and of 5 bytes
// for longer ones. Where it finds nothing its steps get longer, ever faster the greater the acceleration is. A match
// is extended to both sides. The choices are those of lz4 1.10 on 64-bit little-endian machines, so that the same
// input and room give the same bytes on any machine.
package lz4

import "github.com/goblosc/blosc2/codec/internal/lz4block"

const (
	smallLength = 65547 // inputs from here on have the other table
	stepBits    = 6     // after so many misses, as a power of two, the step grows by one
)

// The hash of 8 bytes v is v*factor>>shift. The factors make the upper bytes of v leave no trace.
const (
	smallBits   = 13
	smallFactor = 2_654_435_761 << 32 // of 4 bytes
	smallShift  = 64 - smallBits
	largeBits   = 12
	largeFactor = 889_523_592_379 << 24 // of 5 bytes
	largeShift  = 64 - largeBits
)

// Encoder holds the hash tables of an encoder. The zero value is ready. It belongs to one goroutine.
type Encoder struct {
	small [1 << smallBits]uint16 // last index of each hash, for inputs below smallLength
	large [1 << smallBits]uint32 // the same for others; half of it is used
	end   int                    // the greatest index in small, and 1
	block block
}

// block is a block in the making. Tables hold indexes, that is positions plus base.
type block struct {
	src, dst []byte
	base     int
	steps    int // length of the first step, shifted by stepBits
	anchor   int // start of the literals not yet written
	out      int // end of the sequences written

	// Where found is set, a match of pos with match is to be written next; else the search is to go on at pos.
	found      bool
	pos, match int
}

// Encode writes the block for src into dst, never past len(dst), and returns its length in bytes, or 0 when it does
// not fit or src is too long. The greater acceleration is, from 1, the more sparsely it searches. dst and src do not
// overlap.
func (e *Encoder) Encode(dst, src []byte, acceleration int) int {
	if len(src) > lz4block.MaxLength {
		return 0
	}
	b := &e.block
	*b = block{src: src, dst: dst, steps: acceleration << stepBits, pos: 1}
	if len(src) >= lz4block.MinLength {
		ok := false
		if len(src) < smallLength {
			// The C library starts with a table of zeros, so what is not in the table counts as position 0. Indexes
			// below base do so as well; with them the table is cleared only when it runs out of indexes.
			if b.base = e.end; b.base+len(src) > 1<<16 {
				clear(e.small[:])
				b.base = 0
			}
			e.end = b.base + len(src)
			ok = encodeSmall(b, &e.small)
		} else {
			clear(e.large[:1<<largeBits])
			ok = encodeLarge(b, &e.large)
		}
		if !ok {
			b.src, b.dst = nil, nil
			return 0
		}
	}
	n := lz4block.Finish(b.dst, b.out, b.src[b.anchor:])
	b.src, b.dst = nil, nil
	return n
}
