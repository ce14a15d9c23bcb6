package coder

import (
	"encoding/binary"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/errs"
)

// Header is the decoded header of a chunk. A 16-byte header is translated to the fields of a 32-byte header.
type Header struct {
	Version     uint8
	VersionLZ   uint8
	Flags       uint8
	TypeSize    int // 1 to 255
	NBytes      int // size of the decoded chunk
	BlockSize   int // size of a decoded block, at most NBytes; not used in chunks with VLBlocks
	CBytes      int // size of the chunk
	Filters     Pipeline
	Codec       uint8 // compcode
	CodecMeta   uint8
	Flags2      uint8
	Blosc2Flags uint8

	nblocks int
}

// ParseHeader decodes and checks the header at the start of b, which may hold less than the whole chunk: at least 16
// bytes, or 32 if the header has that size. size is the number of bytes available in total. Errors are ErrCorrupt or
// errors.ErrUnsupported, in an *Error.
func ParseHeader(b []byte, size int64) (Header, error) {
	var h Header
	if len(b) < MinHeaderSize || size < MinHeaderSize {
		return h, headerError(0, errs.ErrCorrupt, "%d bytes are too few for a header", min(int64(len(b)), size))
	}
	h.Version, h.VersionLZ, h.Flags, h.TypeSize = b[0], b[1], b[2], int(b[3])
	nbytes := int32(binary.LittleEndian.Uint32(b[4:]))
	blockSize := int32(binary.LittleEndian.Uint32(b[8:]))
	cbytes := int32(binary.LittleEndian.Uint32(b[12:]))
	if h.Extended() {
		if len(b) < HeaderSize || size < HeaderSize {
			return h, headerError(0, errs.ErrCorrupt, "%d bytes are too few for a header", min(int64(len(b)), size))
		}
		for i := range h.Filters {
			h.Filters[i] = FilterOf(b[16+i], b[24+i])
		}
		if h.Version <= versionAlpha {
			h.Filters[5] = NoFilter
		}
		h.Codec, h.CodecMeta, h.Flags2, h.Blosc2Flags = b[22], b[23], b[30], b[31]
	} else {
		h.oldFilters()
	}
	h.NBytes, h.BlockSize, h.CBytes = int(nbytes), int(blockSize), int(cbytes)
	return h, h.check(size)
}

// oldFilters translates the flags of a 16-byte header.
func (h *Header) oldFilters() {
	switch {
	case h.Flags&flagBitShuffle != 0:
		h.Filters[5] = BitShuffle
	case h.Flags&flagShuffle != 0:
		h.Filters[5] = Shuffle
	}
	if h.Flags&flagDelta != 0 {
		h.Filters[4] = Delta
	}
}

// check compares the sizes of a header with each other, so that later sums and products cannot overflow. Positions and
// sizes of blocks are checked where they are read.
func (h *Header) check(size int64) error {
	overhead := h.Overhead()
	switch {
	case h.Version == 0: // no format has it, but a hole in a file does
		return headerError(0, errs.ErrCorrupt, "chunk version 0")
	case h.Version > versionVL:
		return headerError(0, errs.ErrUnsupported, "chunk version %d", h.Version)
	case h.NBytes < 0 || h.NBytes > MaxBytes:
		return headerError(4, errs.ErrCorrupt, "decoded size %d", h.NBytes)
	case h.CBytes < overhead || int64(h.CBytes) > size:
		return headerError(12, errs.ErrCorrupt, "chunk size %d, but only %d bytes are available", h.CBytes, size)
	case h.TypeSize == 0:
		return headerError(3, errs.ErrCorrupt, "typesize 0")
	case h.Flags2&^flag2VLBlocks != 0:
		return headerError(30, errs.ErrUnsupported, "flags2 %#x", h.Flags2)
	case h.Blosc2Flags&b2flagInstr != 0:
		return headerError(31, errs.ErrUnsupported, "instrumented chunk")
	case h.Blosc2Flags&b2flagLazy != 0:
		return headerError(31, errs.ErrUnsupported, "lazy chunk")
	case h.Special() > Uninit:
		return headerError(31, errs.ErrUnsupported, "special value %d", h.Special())
	case h.BlockSize <= 0 || h.BlockSize > MaxBlockSize:
		return headerError(8, errs.ErrCorrupt, "block size %d", h.BlockSize)
	}
	if h.VLBlocks() {
		return h.checkVL()
	}
	if h.NBytes > 0 && h.BlockSize > h.NBytes {
		h.BlockSize = h.NBytes
	}
	h.nblocks = blocksIn(h.NBytes, h.BlockSize)
	if h.Special() != Regular {
		return h.checkSpecial()
	}
	if h.Stored() {
		if h.CBytes != h.NBytes+overhead {
			return headerError(12, errs.ErrCorrupt, "stored chunk of %d bytes for %d bytes of data", h.CBytes, h.NBytes)
		}
		return nil
	}
	if (h.CBytes-overhead)/4 < h.nblocks {
		return headerError(12, errs.ErrCorrupt, "chunk of %d bytes cannot hold %d blocks", h.CBytes, h.nblocks)
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
	switch h.Special() {
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
	case h.Special() != Regular || h.Stored():
		return headerError(31, errs.ErrCorrupt, "blocks of variable length in a stored or special chunk")
	case (h.CBytes-HeaderSize)/4 < h.BlockSize || h.BlockSize > h.NBytes:
		return headerError(8, errs.ErrCorrupt, "chunk of %d bytes cannot hold %d blocks", h.CBytes, h.BlockSize)
	}
	h.nblocks, h.BlockSize = h.BlockSize, h.NBytes
	return nil
}

// Extended reports whether the header has 32 bytes.
func (h *Header) Extended() bool { return h.Flags&flagExtended == flagExtended }

// Overhead returns the size of the header in bytes.
func (h *Header) Overhead() int {
	if h.Extended() {
		return HeaderSize
	}
	return MinHeaderSize
}

// Special returns the kind of value that a chunk without streams represents.
func (h *Header) Special() Special { return Special(h.Blosc2Flags >> specialShift & specialMask) }

// Stored reports whether the chunk holds its data uncompressed and unfiltered.
func (h *Header) Stored() bool { return h.Flags&flagStored != 0 }

// VLBlocks reports whether the blocks have sizes of their own.
func (h *Header) VLBlocks() bool { return h.Flags2&flag2VLBlocks != 0 }

// HasDict reports whether a dictionary is stored in the chunk.
func (h *Header) HasDict() bool {
	return h.Blosc2Flags&b2flagDict != 0 && !h.Stored() && h.Special() == Regular
}

// Format returns the format of the chunk's streams.
func (h *Header) Format() codec.Format { return codec.Format(h.Flags >> formatShift) }

// NumBlocks returns the number of blocks.
func (h *Header) NumBlocks() int { return h.nblocks }

// CodecID returns the codec of the chunk. A 16-byte header has only the format of the streams.
func (h *Header) CodecID() codec.ID {
	if h.Extended() {
		return codec.FromCode(h.Codec)
	}
	return h.Format().Codec()
}

// Split reports whether a whole block is one stream for each byte of an item.
func (h *Header) Split() bool { return h.streams(h.BlockSize) > 1 }

// blockLen returns the decoded size of block k of a chunk without VLBlocks.
func (h *Header) blockLen(k int) int { return min(h.BlockSize, h.NBytes-k*h.BlockSize) }

// streams returns the number of streams of a block of n bytes.
func (h *Header) streams(n int) int {
	if h.Flags&flagNotSplit != 0 || n != h.BlockSize || h.VLBlocks() {
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
	dst = append(dst, h.Version, h.VersionLZ, h.Flags, uint8(h.TypeSize))
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
	return append(dst, h.Flags2, h.Blosc2Flags)
}
