package frame

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
)

// The fixed part of a frame header. All integers are big-endian, each after its MessagePack marker.
const (
	offMagic      = 1 // marker and 8 bytes
	offHeaderLen  = 11
	offFrameLen   = 16
	offVersion    = 25 // bits 0-3 version, 4 64-bit offsets, 6 chunks of variable size, 7 blocks of variable size
	offType       = 26
	offCodec      = 27 // low nibble compcode, or 6; high nibble level
	offSplit      = 28
	offNBytes     = 30
	offCBytes     = 39
	offTypeSize   = 48
	offBlockSize  = 53
	offChunkSize  = 58
	offThreadsC   = 63
	offThreadsD   = 66
	offHasVLMeta  = 68
	offFilters    = 71
	offCompcode   = 77
	offCodecMeta  = 78
	offMetas      = 79
	offFlags2     = 85
	fixedLen      = 87
	minTrailerLen = 25

	trailerLenFromEnd = 23 // bytes from the marker of the trailer length to the end of the frame

	versionFixed    = 2 // of frames with chunks of equal size
	versionVariable = 3
	flagOffsets64   = 0x10
	flagVariable    = 0x40
	flagVLBlocks    = 0x80
	flags2Dict      = 0x01

	typeContiguous = 0
	typeSparse     = 1
	userCodec      = 6 // in the low nibble of offCodec
)

const magic = "\xa8b2frame\x00"

// header is the fixed part of a frame header.
type header struct {
	headerLen int
	frameLen  int64
	version   uint8
	vlBlocks  bool
	sparse    bool
	nbytes    int64
	cbytes    int64 // extent of the chunks area; sum of the chunk files in sparse frames
	typeSize  int32
	blockSize int32
	chunkSize int32 // 0: chunks of variable size; -1: not known yet
	threads   [2]int16
	hasVL     bool
	pipeline  coder.Pipeline
	codec     uint8
	codecMeta uint8
	level     uint8
	split     uint8 // as stored: mode - 1
	flags2    uint8
}

// parseHeader reads and checks the fixed part. size is the number of bytes from the frame start to the end of the file.
func parseHeader(b []byte, size int64) (header, error) {
	var h header
	if len(b) < fixedLen || b[0] != 0x9e || string(b[offMagic:offMagic+len(magic)]) != magic {
		return h, fmt.Errorf("no frame header: %w", ErrFormat)
	}
	be := binary.BigEndian
	h.headerLen = int(int32(be.Uint32(b[offHeaderLen:])))
	h.frameLen = int64(be.Uint64(b[offFrameLen:]))
	h.version = b[offVersion] & 0x0f
	h.vlBlocks = b[offVersion]&flagVLBlocks != 0
	h.nbytes = int64(be.Uint64(b[offNBytes:]))
	h.cbytes = int64(be.Uint64(b[offCBytes:]))
	h.typeSize = int32(be.Uint32(b[offTypeSize:]))
	h.blockSize = int32(be.Uint32(b[offBlockSize:]))
	h.chunkSize = int32(be.Uint32(b[offChunkSize:]))
	h.threads = [2]int16{int16(be.Uint16(b[offThreadsC:])), int16(be.Uint16(b[offThreadsD:]))}
	h.hasVL = b[offHasVLMeta] == 0xc3
	for i := range h.pipeline {
		h.pipeline[i] = coder.FilterOf(b[offFilters+i], b[offMetas+i])
	}
	h.codec, h.codecMeta = b[offCompcode], b[offCodecMeta]
	if c := b[offCodec] & 0x0f; c < userCodec {
		h.codec = c
	}
	h.level = b[offCodec] >> 4
	h.split = b[offSplit] & 3
	h.flags2 = b[offFlags2]
	switch b[offType] {
	case typeContiguous:
	case typeSparse:
		h.sparse = true
	default:
		return h, fmt.Errorf("frame type %d: %w", b[offType], errs.ErrUnsupported)
	}
	return h, h.check(b, size)
}

// check checks the version, the filter section, and every relation between the sizes that does not need other parts.
func (h *header) check(b []byte, size int64) error {
	switch {
	case h.version > versionVariable:
		return fmt.Errorf("frame version %d: %w", h.version, errs.ErrUnsupported)
	case b[offFilters-2] != 0xd8 || b[offFilters-1] > coder.NumFilters:
		return corrupt("filter section %#x with %d filters", b[offFilters-2], b[offFilters-1])
	case h.frameLen < 0 || h.headerLen < fixedLen || int64(h.headerLen) > h.frameLen-minTrailerLen:
		return corrupt("header of %d bytes in a frame of %d", h.headerLen, h.frameLen)
	case h.frameLen > size:
		return corrupt("frame length is %d bytes, but only %d are available", h.frameLen, size)
	case h.typeSize <= 0 || h.typeSize > chunk.MaxBlockSize:
		return corrupt("item size %d", h.typeSize)
	case h.blockSize < 0 || h.blockSize > chunk.MaxBlockSize:
		return corrupt("block size %d", h.blockSize)
	case h.nbytes < 0 || h.cbytes < 0:
		return corrupt("%d bytes in %d", h.nbytes, h.cbytes)
	case h.chunkSize < -1 || h.chunkSize > chunk.MaxBytes || h.nbytes > 0 && h.chunkSize < 0:
		return corrupt("chunk size %d", h.chunkSize)
	case !h.sparse && h.nbytes > 0 && h.cbytes > h.frameLen-minTrailerLen-int64(h.headerLen):
		return corrupt("chunks of %d bytes in a frame of %d", h.cbytes, h.frameLen)
	}
	return nil
}

// indexPos returns the offset of the index.
func (h *header) indexPos() int64 {
	if h.sparse {
		return int64(h.headerLen)
	}
	return int64(h.headerLen) + h.cbytes
}

// append appends the fixed part to a buffer.
func (h *header) append(dst []byte) []byte {
	version := uint8(versionFixed | flagOffsets64)
	if h.chunkSize == 0 || h.vlBlocks {
		version = versionVariable | flagOffsets64
	}
	if h.chunkSize == 0 {
		version |= flagVariable
	}
	if h.vlBlocks {
		version |= flagVLBlocks
	}
	be := binary.BigEndian
	dst = append(dst, 0x9e)
	dst = append(dst, magic...)
	dst = be.AppendUint32(append(dst, 0xd2), uint32(h.headerLen))
	dst = be.AppendUint64(append(dst, 0xcf), uint64(h.frameLen))
	dst = append(dst, 0xa4, version, typeContiguous, min(h.codec, userCodec)|h.level<<4, h.split)
	if h.sparse {
		dst[len(dst)-3] = typeSparse
	}
	dst = be.AppendUint64(append(dst, 0xd3), uint64(h.nbytes))
	dst = be.AppendUint64(append(dst, 0xd3), uint64(h.cbytes))
	for _, n := range []int32{h.typeSize, h.blockSize, h.chunkSize} {
		dst = be.AppendUint32(append(dst, 0xd2), uint32(n))
	}
	for _, n := range h.threads {
		dst = be.AppendUint16(append(dst, 0xd1), uint16(n))
	}
	if h.hasVL {
		dst = append(dst, 0xc3)
	} else {
		dst = append(dst, 0xc2)
	}
	dst = append(dst, 0xd8, coder.NumFilters)
	for _, f := range h.pipeline {
		dst = append(dst, f.Code())
	}
	dst = append(dst, h.codec, h.codecMeta)
	for _, f := range h.pipeline {
		dst = append(dst, f.Param())
	}
	return append(dst, h.flags2, 0)
}

// maxLevel is the highest level that libraries write.
const maxLevel = 9

// cparams returns the parameters for new chunks. A higher level than maxLevel counts as maxLevel.
func (h *header) cparams() coder.Params {
	p := coder.Params{
		TypeSize: int(h.typeSize), BlockSize: int(h.blockSize),
		Codec: codec.FromCode(h.codec), CodecMeta: h.codecMeta,
		Level: int(min(h.level, maxLevel)), Filters: h.pipeline[:],
		Split: chunk.SplitMode(h.split + 1), Dict: h.flags2&flags2Dict != 0,
	}
	if p.Level == 0 {
		p.Level = codec.NoCompression
	}
	if p.Split == 3 {
		p.Split = chunk.SplitAuto
	}
	return p
}

// setCParams records the parameters for new chunks.
func (h *header) setCParams(with chunk.Params, plugins coder.Plugins) error {
	p, pipeline, err := plugins.Normalize(coder.Params(with))
	if err != nil {
		return err
	}
	h.typeSize, h.blockSize = int32(p.TypeSize), int32(p.BlockSize)
	h.codec, h.codecMeta, h.pipeline = p.Codec.Code(), p.CodecMeta, pipeline
	h.level = uint8(max(p.Level, 0))
	switch p.Split {
	case chunk.SplitAuto:
		h.split = 2
	default:
		h.split = uint8(p.Split) - 1
	}
	h.flags2 &^= flags2Dict
	if p.Dict {
		h.flags2 |= flags2Dict
	}
	return nil
}

// measureHeader returns the length of a header with these metalayers.
func measureHeader(layers []meta.Layer) (int, error) {
	head, err := meta.AppendHeader(make([]byte, fixedLen), layers)
	return len(head), err
}

// storedTrailerLen returns the length, at most most, of the trailer that ends with b.
func storedTrailerLen(b []byte, most int64) (int64, error) {
	if len(b) < minTrailerLen || b[len(b)-trailerLenFromEnd] != 0xce {
		return 0, corrupt("no trailer length")
	}
	n := int64(binary.BigEndian.Uint32(b[len(b)-trailerLenFromEnd+1:]))
	if n < minTrailerLen || n > most {
		return 0, corrupt("trailer of %d bytes, at most %d", n, most)
	}
	return n, nil
}

// trailerLen returns the length of a trailer with these metalayers.
func trailerLen(layers []meta.Layer) int {
	n := 35 // without metalayers
	for _, l := range layers {
		n += 1 + len(l.Name) + 5 + 5 + len(l.Content)
	}
	return n
}

func findLayer(layers []meta.Layer, name string) int {
	return slices.IndexFunc(layers, func(l meta.Layer) bool { return l.Name == name })
}

// countChunks returns the number of chunks by the sizes in the header, or -1 if only the index has it.
func (h *header) countChunks() int64 {
	switch {
	case h.nbytes == 0:
		return 0
	case h.chunkSize > 0:
		return (h.nbytes-1)/int64(h.chunkSize) + 1
	}
	return -1
}
