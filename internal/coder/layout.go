package coder

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/goblosc/blosc2/internal/codecs"
	"github.com/goblosc/blosc2/internal/errs"
)

// Layout holds what encoding a chunk needs to know before its first block. It is immutable and safe for concurrent use.
//
// Its Header is that of the chunk, except that encoding sets CBytes, and Special or Stored if the data asks for it. If
// Stored is true already, EncodeBlock need not be called.
type Layout struct {
	Header
	NeedsReference bool // block 0 is the Delta reference block of the others: EncodeBlock needs the result of Reference
	NeedsDict      bool // the blocks need a dictionary, which Train makes

	p    normalParams
	dict []byte
}

// Layout prepares the encoding of a chunk of nbytes. Errors are ErrParam, errors.ErrUnsupported or ErrTooLarge.
func (p Params) Layout(nbytes int) (*Layout, error) { return Plugins{}.Layout(p, nbytes) }

// Layout is Params.Layout with the codecs and filters of p.
func (p Plugins) Layout(with Params, nbytes int) (*Layout, error) {
	n, err := with.normal(p)
	if err != nil {
		return nil, err
	}
	if nbytes < 0 || nbytes > MaxBytes {
		return nil, fmt.Errorf("chunk: %d bytes in a chunk: %w", nbytes, errs.ErrTooLarge)
	}
	size := max(n.blockSize(nbytes), 1)
	blocks := blocksIn(nbytes, size)
	l := &Layout{p: n, Header: Header{
		Version: versionRegular, VersionLZ: 1, Overhead: HeaderSize,
		TypeSize: CappedTypeSize(n.TypeSize), NBytes: nbytes, BlockSize: size, NumBlocks: blocks,
		Filters: n.pipeline, Codec: n.Codec.Code(), CodecMeta: n.CodecMeta,
		Stored: nbytes < minCompressible || n.Level == 0 || HeaderSize+4*int64(blocks) > int64(nbytes)+MaxOverhead,
	}}
	if l.Stored {
		return l, nil
	}
	l.Format, l.delta, l.notSplit = n.Codec.Format(), n.pipeline.has(Delta), !n.splits(l.TypeSize, size)
	l.NeedsReference = l.delta && blocks > 1
	l.NeedsDict = n.trains(l.NBytes)
	return l, nil
}

// BlockLen returns the decoded size of block k in bytes, or 0 for block 0 of a chunk without blocks.
func (l *Layout) BlockLen(k int) int { return min(l.BlockSize, l.NBytes-k*l.BlockSize) }

// Streams returns the number of streams of block k.
func (l *Layout) Streams(k int) int { return l.streams(l.BlockLen(k)) }

// roomFor reports whether block k, encoded without a size limit, would be encoded identically in room bytes: each of
// its streams must have had space for its uncompressed bytes. It returns errNoRoom if an uncompressed stream does not
// fit.
func (l *Layout) roomFor(b []byte, k, room int) (bool, error) {
	streams := l.streams(l.BlockLen(k))
	n := l.BlockLen(k) / streams
	for ; streams > 0 && len(b) >= 4; streams-- {
		size := int(int32(binary.LittleEndian.Uint32(b)))
		if 4+n > room {
			if size == n {
				return false, errNoRoom
			}
			return false, nil
		}
		if size < 0 {
			size = 1 // a run takes one byte
		}
		size = min(size, len(b)-4)
		b, room = b[4+size:], room-4-size
	}
	return true, nil
}

// layoutVL prepares the encoding of blocks of variable length.
func (p Plugins) layoutVL(with Params, blocks [][]byte) (*Layout, error) {
	n, err := with.normal(p)
	if err != nil {
		return nil, err
	}
	total, cbytes := int64(0), int64(HeaderSize)
	for k, b := range blocks {
		if len(b) == 0 {
			return nil, paramError("block %d is empty", k)
		}
		total += int64(len(b))
		cbytes += int64(len(b)) + 8
	}
	switch {
	case len(blocks) == 0:
		return nil, paramError("a chunk without blocks, want at least one")
	case total > MaxBytes || cbytes > math.MaxInt32-4-codecs.MaxDict:
		return nil, fmt.Errorf("chunk: %d blocks of %d bytes in total: %w", len(blocks), total, errs.ErrTooLarge)
	}
	l := &Layout{p: n, Header: Header{
		Version: versionVL, VersionLZ: 1, Overhead: HeaderSize,
		TypeSize: CappedTypeSize(n.TypeSize), NBytes: int(total), BlockSize: len(blocks), NumBlocks: len(blocks),
		Filters: n.pipeline, Format: n.Codec.Format(), Codec: n.Codec.Code(), CodecMeta: n.CodecMeta,
		VLBlocks: true, notSplit: true, delta: n.pipeline.has(Delta),
	}}
	l.NeedsDict = n.trains(l.NBytes)
	return l, nil
}

// splits reports whether C-Blosc2 splits blocks into streams (split_block). p is normal. typeSize is the capped item
// size or, for automatic block sizes, the real one.
func (p *normalParams) splits(typeSize, blockSize int) bool {
	switch p.Split {
	case SplitAlways:
		return true
	case SplitNever:
		return false
	}
	if most := p.traits.SplitLevel; most == 0 || p.Level > most {
		return false
	}
	const maxStreams = 16
	return p.pipeline.has(Shuffle) && typeSize <= maxStreams && blockSize/typeSize >= minCompressible
}

// BlockSizeFor returns the block size in bytes that C-Blosc2 selects for chunks of nbytes (stune). See
// chunk.Params.BlockSizeFor.
func (p Params) BlockSizeFor(nbytes int) (int, error) { return Plugins{}.BlockSizeFor(p, nbytes) }

// BlockSizeFor is Params.BlockSizeFor with the codecs and filters of p.
func (p Plugins) BlockSizeFor(with Params, nbytes int) (int, error) {
	n, err := with.normal(p)
	if err != nil {
		return 0, err
	}
	return n.blockSize(nbytes), nil
}

func (p *normalParams) blockSize(nbytes int) int {
	if nbytes < p.TypeSize {
		return 1
	}
	size := p.BlockSize
	if size == 0 {
		size = p.autoBlockSize(nbytes)
	}
	size = min(size, nbytes)
	switch {
	case size > p.TypeSize:
		size -= size % p.TypeSize
	case p.TypeSize <= MaxTypeSize:
		size = p.TypeSize // C-Blosc2 keeps smaller blocks, but cannot read them if they are split
	}
	return size
}

func (p *normalParams) autoBlockSize(nbytes int) int {
	const l1 = 32 << 10
	if p.Level > 0 && p.splits(p.TypeSize, nbytes) {
		perByte := [10]int{0, 32 << 10, 32 << 10, 32 << 10, 64 << 10, 64 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10}
		// The product needs 64 bits: item sizes reach 2^29. In C-Blosc2 it overflows.
		return int(max(min(int64(perByte[p.Level])*int64(p.TypeSize), 4<<20), l1))
	}
	if nbytes < l1 {
		return nbytes
	}
	size, highRatio := l1, p.traits.HighRatio
	if highRatio {
		size *= 2
	}
	switch p.Level {
	case 0:
		return size / 4
	case 1:
		return size / 2
	case 2:
		return size
	case 3:
		return size * 2
	case 4, 5:
		return size * 4
	}
	if p.Level == 9 && highRatio {
		return size * 16
	}
	return size * 8
}
