package coder

import (
	"encoding/binary"
	"fmt"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/errs"
)

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

// CappedTypeSize returns the item size that chunk headers and filters use.
func CappedTypeSize(size int) int {
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

// Header is the decoded header of a chunk. A 16-byte header is translated to the fields of a 32-byte header.
type Header struct {
	Version   uint8
	VersionLZ uint8
	Overhead  int // size of the header in bytes: MinHeaderSize or HeaderSize
	TypeSize  int // 1 to 255
	NBytes    int // size of the decoded chunk
	BlockSize int // size of a decoded block, at most NBytes; not used in chunks with VLBlocks
	NumBlocks int
	CBytes    int // size of the chunk
	Filters   Pipeline
	Format    codec.Format // of the streams
	Codec     uint8        // compcode
	CodecMeta uint8
	Special   Special // kind of value that a chunk without streams represents
	Stored    bool    // the chunk holds its data uncompressed and unfiltered
	VLBlocks  bool    // the blocks have sizes of their own
	HasDict   bool    // a dictionary is stored in the chunk

	notSplit bool  // a whole block is one stream
	delta    bool  // flag of the filter Delta; the filters of a 32-byte header count in its place
	ignored  uint8 // bits of blosc2_flags that decoding ignores
}

// ParseHeader decodes and checks the header at the start of b, which may hold less than the whole chunk: at least 16
// bytes, or 32 if the header has that size. size is the number of bytes available in total. Errors are ErrCorrupt or
// errors.ErrUnsupported, in an *Error.
func ParseHeader(b []byte, size int64) (Header, error) {
	var h Header
	if len(b) < MinHeaderSize || size < MinHeaderSize {
		return h, headerError(0, errs.ErrCorrupt, "%d bytes are too few for a header", min(int64(len(b)), size))
	}
	flags := b[2]
	h.Version, h.VersionLZ, h.TypeSize = b[0], b[1], int(b[3])
	nbytes := int32(binary.LittleEndian.Uint32(b[4:]))
	blockSize := int32(binary.LittleEndian.Uint32(b[8:]))
	cbytes := int32(binary.LittleEndian.Uint32(b[12:]))
	flags2, blosc2Flags := uint8(0), uint8(0)
	if flags&flagExtended == flagExtended {
		if len(b) < HeaderSize || size < HeaderSize {
			return h, headerError(0, errs.ErrCorrupt, "%d bytes are too few for a header", min(int64(len(b)), size))
		}
		for i := range h.Filters {
			h.Filters[i] = FilterOf(b[16+i], b[24+i])
		}
		if h.Version <= versionAlpha {
			h.Filters[5] = NoFilter
		}
		h.Overhead, h.Codec, h.CodecMeta, flags2, blosc2Flags = HeaderSize, b[22], b[23], b[30], b[31]
	} else {
		h.Overhead, h.Filters = MinHeaderSize, oldFilters(flags)
	}
	h.NBytes, h.BlockSize, h.CBytes = int(nbytes), int(blockSize), int(cbytes)
	h.Format = codec.Format(flags >> formatShift)
	h.Special = Special(blosc2Flags >> specialShift & specialMask)
	h.Stored = flags&flagStored != 0
	h.VLBlocks = flags2&flag2VLBlocks != 0
	h.HasDict = blosc2Flags&b2flagDict != 0 && !h.Stored && h.Special == Regular
	h.notSplit = flags&flagNotSplit != 0
	h.delta = flags&flagDelta != 0
	h.ignored = blosc2Flags & b2flagsIgnored
	return h, h.check(size, flags2, blosc2Flags)
}

// oldFilters returns the filters that the flags of a 16-byte header mean.
func oldFilters(flags uint8) Pipeline {
	var p Pipeline
	switch {
	case flags&flagBitShuffle != 0:
		p[5] = BitShuffle
	case flags&flagShuffle != 0:
		p[5] = Shuffle
	}
	if flags&flagDelta != 0 {
		p[4] = Delta
	}
	return p
}

// check compares the sizes of a header with each other, so that later sums and products cannot overflow. Positions and
// sizes of blocks are checked where they are read. check also looks for unknown bits of flags2 and blosc2_flags, and
// sets NumBlocks.
func (h *Header) check(size int64, flags2, blosc2Flags uint8) error {
	switch {
	case h.Version == 0: // no format has it, but a hole in a file does
		return headerError(0, errs.ErrCorrupt, "chunk version 0")
	case h.Version > versionVL:
		return headerError(0, errs.ErrUnsupported, "chunk version %d", h.Version)
	case h.NBytes < 0 || h.NBytes > MaxBytes:
		return headerError(4, errs.ErrCorrupt, "decoded size %d", h.NBytes)
	case h.CBytes < h.Overhead || int64(h.CBytes) > size:
		return headerError(12, errs.ErrCorrupt, "chunk size %d, but only %d bytes are available", h.CBytes, size)
	case h.TypeSize == 0:
		return headerError(3, errs.ErrCorrupt, "typesize 0")
	case flags2&^flag2VLBlocks != 0:
		return headerError(30, errs.ErrUnsupported, "flags2 %#x", flags2)
	case blosc2Flags&b2flagInstr != 0:
		return headerError(31, errs.ErrUnsupported, "instrumented chunk")
	case blosc2Flags&b2flagLazy != 0:
		return headerError(31, errs.ErrUnsupported, "lazy chunk")
	case h.Special > Uninit:
		return headerError(31, errs.ErrUnsupported, "special value %d", h.Special)
	case h.BlockSize <= 0 || h.BlockSize > MaxBlockSize:
		return headerError(8, errs.ErrCorrupt, "block size %d", h.BlockSize)
	}
	if h.VLBlocks {
		return h.checkVL()
	}
	if h.NBytes > 0 && h.BlockSize > h.NBytes {
		h.BlockSize = h.NBytes
	}
	h.NumBlocks = blocksIn(h.NBytes, h.BlockSize)
	if h.Special != Regular {
		return h.checkSpecial()
	}
	if h.Stored {
		if h.CBytes != h.NBytes+h.Overhead {
			return headerError(12, errs.ErrCorrupt, "stored chunk of %d bytes for %d bytes of data", h.CBytes, h.NBytes)
		}
		return nil
	}
	if (h.CBytes-h.Overhead)/4 < h.NumBlocks {
		return headerError(12, errs.ErrCorrupt, "chunk of %d bytes cannot hold %d blocks", h.CBytes, h.NumBlocks)
	}
	return nil
}

// blocksIn returns the number of blocks of n bytes of data. The last block may be shorter.
func blocksIn(n, blockSize int) int {
	if n == 0 {
		return 0
	}
	return (n-1)/blockSize + 1
}

func (h *Header) checkSpecial() error {
	switch h.Special {
	case Value:
		n := h.CBytes - HeaderSize
		if n <= 0 || n > h.NBytes || h.NBytes%n != 0 {
			return headerError(12, errs.ErrCorrupt, "repeated item of %d bytes in a chunk of %d bytes", n, h.NBytes)
		}
	case NaNs:
		if h.TypeSize != 4 && h.TypeSize != 8 || h.NBytes%h.TypeSize != 0 {
			return headerError(3, errs.ErrCorrupt, "NaNs of %d bytes in a chunk of %d bytes", h.TypeSize, h.NBytes)
		}
	}
	return nil
}

func (h *Header) checkVL() error {
	switch {
	case h.Version != versionVL:
		return headerError(0, errs.ErrCorrupt, "blocks of variable length in a chunk of version %d", h.Version)
	case h.Special != Regular || h.Stored:
		return headerError(31, errs.ErrCorrupt, "blocks of variable length in a stored or special chunk")
	case (h.CBytes-HeaderSize)/4 < h.BlockSize || h.BlockSize > h.NBytes:
		return headerError(8, errs.ErrCorrupt, "chunk of %d bytes cannot hold %d blocks", h.CBytes, h.BlockSize)
	}
	h.NumBlocks, h.BlockSize = h.BlockSize, h.NBytes
	return nil
}

// CodecID returns the codec of the chunk. A 16-byte header has only the format of the streams.
func (h *Header) CodecID() codec.ID {
	if h.Overhead == HeaderSize {
		return codec.FromCode(h.Codec)
	}
	return h.Format.Codec()
}

// Split reports whether a whole block is one stream for each byte of an item.
func (h *Header) Split() bool { return h.streams(h.BlockSize) > 1 }

// streams returns the number of streams of a block of n bytes.
func (h *Header) streams(n int) int {
	if h.notSplit || n != h.BlockSize || h.VLBlocks {
		return 1
	}
	// Blosc1 before the "not split" flag leaves it clear and splits by a rule of its own.
	if h.Version <= versionBlosc1 && (h.TypeSize > 16 || h.BlockSize/h.TypeSize < 128) {
		return 1
	}
	return h.TypeSize
}

// append writes a 32-byte header.
func (h *Header) append(dst []byte) []byte {
	flags := flagExtended | bit(h.Stored, flagStored) | bit(h.delta, flagDelta) | bit(h.notSplit, flagNotSplit) |
		uint8(h.Format)<<formatShift
	dst = append(dst, h.Version, h.VersionLZ, flags, uint8(h.TypeSize))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.NBytes))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.BlockSize))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.CBytes))
	for _, f := range h.Filters {
		dst = append(dst, f.Code())
	}
	dst = append(dst, h.Codec, h.CodecMeta)
	for _, f := range h.Filters {
		dst = append(dst, f.Param())
	}
	return append(dst, bit(h.VLBlocks, flag2VLBlocks), bit(h.HasDict, b2flagDict)|uint8(h.Special)<<specialShift)
}

// bit returns a flag if it is set, and otherwise 0.
func bit(set bool, flag uint8) uint8 {
	if set {
		return flag
	}
	return 0
}
