// Package lz4 encodes LZ4 blocks with the fast search of the C library's LZ4_compress_fast, and decodes any LZ4 block.
//
// Package lz4block describes a block.
//
// The search looks up one candidate for each position by a hash, of 4 bytes for inputs up to 64 KiB and of 5 bytes for
// longer inputs. As long as it finds nothing, its steps grow, and they grow faster with a higher acceleration. A match
// is extended in both directions. The choices are those of lz4 1.10 on 64-bit little-endian machines, so that the same
// input and space give the same bytes on any machine.
package lz4

import "github.com/goblosc/blosc2/codec/internal/lz4block"

const (
	smallLength = 65547 // longer inputs use the other table
	stepBits    = 6     // after 1<<stepBits misses, the step grows by one
)

// The hash of 8 bytes v is v*factor>>shift. The factors remove the upper bytes of v.
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
	large [1 << smallBits]uint32 // the same for longer inputs; half of it is used
	end   int                    // the largest index in small, plus 1
	block block
}

// block is the state of encoding a block. Tables hold indexes, which are positions plus base.
type block struct {
	src, dst []byte
	base     int
	steps    int // length of the first step, shifted by stepBits
	anchor   int // start of the literals not yet written
	out      int // end of the sequences written

	// If found is set, the next step writes a match of pos with match. Otherwise the search continues at pos.
	found      bool
	pos, match int
}

// Encode writes the block for src into dst, never past len(dst), and returns its length in bytes, or 0 if it does not
// fit or src is too long. acceleration is at least 1. Higher values search more sparsely. dst and src must not overlap.
func (e *Encoder) Encode(dst, src []byte, acceleration int) int {
	if len(src) > lz4block.MaxLength {
		return 0
	}
	b := &e.block
	*b = block{src: src, dst: dst, steps: acceleration << stepBits, pos: 1}
	if len(src) >= lz4block.MinLength {
		ok := false
		if len(src) < smallLength {
			// The C library starts with a table of zeros, so an empty entry counts as position 0. Indexes below base
			// count as position 0 too, so the table is cleared only if it runs out of indexes.
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
