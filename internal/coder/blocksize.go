package coder

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
