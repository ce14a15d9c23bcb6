package chunk

import (
	"fmt"
)

// splits is the reference's rule for cutting blocks into streams (C-Blosc2, split_block). p is normal; typeSize is
// the item size to go by: the capped one, but for automatic block sizes the real one.
func (p *CParams) splits(typeSize, blockSize int) bool {
	switch p.Split {
	case SplitAlways:
		return true
	case SplitNever:
		return false
	}
	if most := p.traits().SplitLevel; most == 0 || p.Level > most {
		return false
	}
	pl := p.Pipeline()
	const maxStreams = 16
	return pl.has(Shuffle) && typeSize <= maxStreams && blockSize/typeSize >= minCompressible
}

// BlockSizeFor returns the block size in bytes that the reference chooses for chunks of nbytes (C-Blosc2, stune):
// p.BlockSize if set, else one that grows with the level and suits the codec; whole items, at most nbytes, but 1 where
// nbytes is less than one item. Errors are ErrParam.
func (p CParams) BlockSizeFor(nbytes int) (int, error) {
	p, err := p.normal()
	if err != nil {
		return 0, err
	}
	return p.blockSize(nbytes), nil
}

func (p *CParams) blockSize(nbytes int) int {
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
		size = p.TypeSize // the reference leaves smaller blocks, which it cannot read back when they are split
	}
	return size
}

func (p *CParams) autoBlockSize(nbytes int) int {
	const l1 = 32 << 10
	if p.Level > 0 && p.splits(p.TypeSize, nbytes) {
		perByte := [10]int{0, 32 << 10, 32 << 10, 32 << 10, 64 << 10, 64 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10}
		// In int64: item sizes reach 2^29 here.
		return int(max(min(int64(perByte[p.Level])*int64(p.TypeSize), 4<<20), l1))
	}
	if nbytes < l1 {
		return nbytes
	}
	size, highRatio := l1, p.traits().HighRatio
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

// Layout is what encoding a chunk needs to know before its first block. It does not change; any number of workers
// share it.
type Layout struct {
	p         CParams // normal
	h         Header  // template: CBytes and the outcome flags are still to come
	pipeline  Pipeline
	typeSize  int // capped
	blockSize int
	nblocks   int
	split     bool
	store     bool // the chunk is stored as it is
	dict      []byte
}

// Layout prepares the encoding of a chunk of nbytes. Errors are ErrParam, ErrUnsupported or ErrTooLarge.
func (p CParams) Layout(nbytes int) (*Layout, error) {
	p, err := p.normal()
	if err != nil {
		return nil, err
	}
	if nbytes < 0 || nbytes > MaxBytes {
		return nil, fmt.Errorf("chunk: %d bytes in a chunk: %w", nbytes, ErrTooLarge)
	}
	l := &Layout{p: p, pipeline: p.Pipeline(), typeSize: p.cappedTypeSize()}
	l.blockSize = max(p.blockSize(nbytes), 1)
	l.nblocks = blocksIn(nbytes, l.blockSize)
	l.store = nbytes < minCompressible || p.Level == 0 || HeaderSize+4*int64(l.nblocks) > int64(nbytes)+MaxOverhead
	l.split = !l.store && p.splits(l.typeSize, l.blockSize)
	l.h = Header{
		Version: versionRegular, VersionLZ: 1, Flags: flagExtended,
		TypeSize: l.typeSize, NBytes: nbytes, BlockSize: l.blockSize,
		Filters: l.pipeline, Codec: p.Codec.Code(), CodecMeta: p.CodecMeta, nblocks: l.nblocks,
	}
	if l.store {
		l.h.Flags |= flagStored
		return l, nil
	}
	if l.pipeline.has(Delta) {
		l.h.Flags |= flagDelta
	}
	if !l.split {
		l.h.Flags |= flagNotSplit
	}
	l.h.Flags |= uint8(p.Codec.Format()) << formatShift
	return l, nil
}

// NBytes returns the decoded size of the chunk.
func (l *Layout) NBytes() int { return l.h.NBytes }

// NumBlocks returns the number of blocks.
func (l *Layout) NumBlocks() int { return l.nblocks }

// BlockLen returns the decoded size of block k in bytes.
func (l *Layout) BlockLen(k int) int { return l.h.blockLen(k) }

// Stored tells that the chunk will not be compressed: EncodeBlock need not be called.
func (l *Layout) Stored() bool { return l.store }

// NeedsReference tells that the blocks are coded against block 0 (DELTA), which EncodeBlock must be given.
func (l *Layout) NeedsReference() bool { return !l.store && l.pipeline.has(Delta) && l.nblocks > 1 }
