package coder

import "fmt"

// Sizes and limits of the format, in bytes.
const (
	MinHeaderSize = 16             // header of Blosc1 chunks
	HeaderSize    = 32             // header of Blosc2 chunks
	MaxOverhead   = 32             // a chunk is at most this much larger than its data
	MaxBytes      = 1<<31 - 1 - 32 // largest decoded chunk
	MaxBlockSize  = 1<<29 - 4096   // largest decoded block; also the largest item size of a frame
	MaxTypeSize   = 255            // largest item size that filters see; larger ones are treated as bytes
	NumFilters    = 6              // slots of the filter pipeline
)

// cappedTypeSize returns the item size that chunk headers and filters use.
func cappedTypeSize(size int) int {
	if size > MaxTypeSize {
		return 1
	}
	return size
}

const minCompressible = 32 // shorter chunks are always stored

// Versions of the chunk format.
const (
	versionBlosc1  = 2 // last version with Blosc1's rules for bitshuffle and splitting
	versionAlpha   = 3 // five usable filter slots
	versionRegular = 5 // what writers produce
	versionVL      = 6 // blocks of variable length
)

// Bits of the flags byte.
const (
	flagShuffle    = 0x01
	flagStored     = 0x02
	flagBitShuffle = 0x04
	flagExtended   = flagShuffle | flagBitShuffle
	flagDelta      = 0x08
	flagNotSplit   = 0x10
	formatShift    = 5
)

// Bits of the two bytes at the end of a 32-byte header.
const (
	flag2VLBlocks = 0x01

	b2flagDict      = 0x01
	b2flagBigEndian = 0x02
	b2flagLazy      = 0x08
	specialShift    = 4
	specialMask     = 7
	b2flagInstr     = 0x80
	b2flagsIgnored  = b2flagBigEndian | 0x04
)

// Special is the kind of value that a chunk without streams represents.
type Special uint8

// The special values.
const (
	Regular Special = iota // an ordinary chunk
	Zeros                  // zero bytes
	NaNs                   // quiet NaNs of 4 or 8 bytes
	Value                  // one item, repeated
	Uninit                 // unspecified content; reads as zeros
)

// String returns the name of the special value.
func (s Special) String() string {
	switch s {
	case Regular:
		return "regular"
	case Zeros:
		return "zeros"
	case NaNs:
		return "nans"
	case Value:
		return "value"
	case Uninit:
		return "uninit"
	}
	return fmt.Sprintf("special value %d", uint8(s))
}
