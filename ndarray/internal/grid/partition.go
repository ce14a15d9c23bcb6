package grid

import (
	"fmt"
	"math"
	"slices"

	"github.com/goblosc/blosc2/internal/errs"
)

// The sizes that python-blosc2 uses if it cannot determine the caches of the machine (it then assumes 32 KiB, 256 KiB
// and 1 MiB). They are constants so that an array has the same partition on every machine.
const (
	defaultBlockBytes = 256 << 10 / 4 // a quarter of the second-level cache; also the minimum
	defaultChunkBytes = 4 << 20       // the minimum, which exceeds python-blosc2's share of the third-level cache
)

// Partition returns the chunk and block shapes of a new array. In chunks and blocks, 0 selects a length by the rules of
// compute_chunks_blocks of python-blosc2, and -1 the length of the axis, or for a block that of the chunk if it is
// shorter. nil is a list of zeros. As in python-blosc2, a block shape of positive lengths without a chunk shape is only
// a hint at the number of items in a block: Partition may return another block shape.
//
// An axis of length zero is taken for one that will grow: it gets what the other axes leave of the usual size of a
// chunk or block, at least 1. python-blosc2 gives it chunks of length zero instead, which cannot hold items.
//
// blockHint is the preferred size of a block in bytes, or 0 for the default. For codecs and filters that depend on the
// shape of a block (NDLZ, ZFP, NDCELL, NDMEAN), it is the block size that C-Blosc2 chooses for a buffer of 8 MiB.
//
// The error wraps ErrShape or ErrTooLarge. The result must still be checked with NewGeometry.
func Partition(shape, chunks, blocks []int64, itemSize, blockHint int64) (chunkShape, blockShape []int32, err error) {
	if len(shape) > MaxDims {
		return nil, nil, fmt.Errorf("ndarray: %w: %d dimensions, at most %d", errs.ErrShape, len(shape), MaxDims)
	}
	if itemSize < 1 || itemSize > maxItemSize {
		return nil, nil, fmt.Errorf("ndarray: %w: item size is %d bytes, want 1 to %d", errs.ErrTooLarge, itemSize, maxItemSize)
	}
	chunk, block, err := givenParts(shape, chunks, blocks)
	if err != nil {
		return nil, nil, err
	}
	hint := len(shape) > 0 && !slices.Contains(shape, 0) && !slices.Contains(block, 0) && allZero(chunk) && !slices.Contains(blocks, -1)
	n, err := blockBudget(block, hint, itemSize, blockHint)
	if err != nil {
		return nil, nil, err
	}
	if hint {
		clear(block)
	}
	auto := slices.Clone(chunk)
	most := slices.Clone(shape)
	for i, c := range chunk {
		if c > 0 {
			most[i] = c
		}
	}
	free := allZero(block)
	block = distribute(n, most, block)
	if n = chunkBudget(block, itemSize); free {
		chunk = distribute(n, shape, chunk)
	} else {
		chunk = wholeBlocks(n, shape, chunk, block)
	}
	for i, b := range block {
		if auto[i] > 0 {
			continue
		}
		chunk[i] = CeilDiv(chunk[i], b) * b
		if shape[i] > 0 {
			chunk[i] = max(min(chunk[i], shape[i]), b)
		}
	}
	if blockShape, err = narrow(block); err != nil {
		return nil, nil, err
	}
	if chunkShape, err = narrow(chunk); err != nil {
		return nil, nil, err
	}
	return chunkShape, blockShape, nil
}

// givenParts returns the given lengths of chunks and blocks, with 0 for those that are not given. It checks them.
func givenParts(shape, chunks, blocks []int64) (chunk, block []int64, err error) {
	chunk, block = make([]int64, len(shape)), make([]int64, len(shape))
	if chunks != nil && len(chunks) != len(shape) {
		return nil, nil, fmt.Errorf("ndarray: %w: chunk shape %v for an array of %d dimensions, want %d lengths: -1 (whole axis), 0 (automatic) or more", errs.ErrShape, chunks, len(shape), len(shape))
	}
	if blocks != nil && len(blocks) != len(shape) {
		return nil, nil, fmt.Errorf("ndarray: %w: block shape %v for an array of %d dimensions, want %d lengths: -1 (whole chunk), 0 (automatic) or more", errs.ErrShape, blocks, len(shape), len(shape))
	}
	copy(chunk, chunks)
	copy(block, blocks)
	for i, n := range shape {
		whole := n
		if chunk[i] == -1 {
			chunk[i] = n
		}
		if chunk[i] > 0 {
			whole = chunk[i]
		}
		given := chunk[i] > 0
		unknown := n == 0 && (chunks != nil && chunks[i] == -1 || block[i] == -1 && !given)
		if block[i] == -1 {
			block[i] = whole
		}
		switch {
		case n >= 0 && chunks != nil && chunks[i] < -1:
			return nil, nil, fmt.Errorf("ndarray: %w: axis %d: chunk length %d, want -1 (whole axis), 0 (automatic) or more", errs.ErrShape, i, chunks[i])
		case n >= 0 && blocks != nil && blocks[i] < -1:
			return nil, nil, fmt.Errorf("ndarray: %w: axis %d: block length %d, want -1 (whole chunk), 0 (automatic) or more", errs.ErrShape, i, blocks[i])
		case n < 0 || chunk[i] < 0 || block[i] < 0:
			return nil, nil, fmt.Errorf("ndarray: %w: axis %d: negative length in shape %v, chunk shape %v or block shape %v", errs.ErrShape, i, shape, chunks, blocks)
		case unknown:
			return nil, nil, fmt.Errorf("ndarray: %w: axis %d of length zero has no whole length for a chunk or block", errs.ErrShape, i)
		case chunk[i] > math.MaxInt32 || block[i] > math.MaxInt32:
			return nil, nil, fmt.Errorf("ndarray: %w: axis %d: chunk shape %v or block shape %v exceeds 2^31-1", errs.ErrTooLarge, i, chunks, blocks)
		case given && block[i] > chunk[i]:
			return nil, nil, fmt.Errorf("ndarray: %w: axis %d: block length %d exceeds chunk length %d", errs.ErrShape, i, block[i], chunk[i])
		}
	}
	return chunk, block, nil
}

// allZero reports whether all lengths are zero.
func allZero(shape []int64) bool {
	for _, n := range shape {
		if n != 0 {
			return false
		}
	}
	return true
}

// blockBudget returns the number of items that a block should have. If hint is set, it is that of the given block.
func blockBudget(block []int64, hint bool, itemSize, blockHint int64) (int64, error) {
	if !hint {
		n := max(blockHint, defaultBlockBytes)
		if n > maxBlockBytes {
			return 0, fmt.Errorf("ndarray: %w: block size is %d bytes, want at most %d", errs.ErrTooLarge, n, maxBlockBytes)
		}
		return max(n/itemSize, 1), nil
	}
	n, ok := Product(block)
	if !ok || n > maxBlockBytes/itemSize {
		return 0, fmt.Errorf("ndarray: %w: block of shape %v with items of %d bytes, want at most %d bytes", errs.ErrTooLarge, block, itemSize, maxBlockBytes)
	}
	return n, nil
}

// chunkBudget returns the number of items that a chunk should have: the most whole blocks that fit in the default size,
// and at least one.
func chunkBudget(block []int64, itemSize int64) int64 {
	blockItems, ok := Product(block)
	if !ok || blockItems > maxBlockBytes/itemSize {
		return blockItems // given, and too large: NewGeometry rejects it
	}
	blockBytes := blockItems * itemSize
	n := max(defaultChunkBytes, blockBytes)
	return (n - n%blockBytes) / itemSize
}

// distribute divides n items among the axes of a shape whose part is not given, the last axis first: whole axes, then a
// part of one axis, which divides its length if a suitable divisor exists. The axes before that one get length 1. Axes
// of length zero then get equal shares of the rest.
//
// If a block and a chunk are distributed this way, the chunk contains the block: its budget is a multiple of the items
// of the block, so it covers the same whole axes, and at least as much of the next axis.
func distribute(n int64, most, given []int64) []int64 {
	part := make([]int64, len(most))
	growing := 0
	for i, g := range given {
		part[i] = max(g, 1)
		n /= part[i]
		if g == 0 && most[i] == 0 {
			growing++
		}
	}
	for i := len(most) - 1; i >= 0 && n > 1; i-- {
		if given[i] > 0 || most[i] == 0 {
			continue
		}
		r := most[i]
		if r > n {
			r = divisorNear(most[i], n)
		}
		part[i] = r
		n /= r
	}
	if growing > 0 && n > 1 {
		share := root(n, growing)
		for i, g := range given {
			if g == 0 && most[i] == 0 {
				part[i] = share
			}
		}
	}
	return part
}

// wholeBlocks is distribute for a chunk whose blocks are given: it divides n items in units of blocks.
func wholeBlocks(n int64, shape, given, block []int64) []int64 {
	least := slices.Clone(given) // the smallest chunk
	room := make([]int64, len(shape))
	fixed := make([]int64, len(shape))
	for i, b := range block {
		if given[i] > 0 {
			fixed[i] = 1
		} else {
			least[i] = b
		}
		room[i] = CeilDiv(shape[i], b)
		n /= least[i]
	}
	part := distribute(n, room, fixed)
	for i := range part {
		part[i] *= least[i]
	}
	return part
}

// root returns the largest number whose power k is at most n.
func root(n int64, k int) int64 {
	r := int64(math.Pow(float64(n), 1/float64(k))) + 1
	for ; r > 1; r-- {
		p := n
		for range k {
			p /= r
		}
		if p > 0 {
			break
		}
	}
	return r
}

// divisorNear returns the largest divisor of a that is at most b and more than half of it, or b if no such divisor
// exists. It tries at most b/2 numbers or the square root of a.
func divisorNear(a, b int64) int64 {
	half := b / 2
	if b-half <= a/b { // b/2 is less than the square root of a
		for d := b; d > half; d-- {
			if a%d == 0 {
				return d
			}
		}
		return b
	}
	// Divisors come in pairs. a/d decreases as d increases, so the first a/d that is small enough is the largest.
	best := int64(0)
	for d := int64(1); d <= a/d; d++ {
		if a%d == 0 && a/d <= b {
			best = a / d
			break
		}
		if a%d == 0 && d <= b {
			best = d
		}
	}
	if best > half {
		return best
	}
	return b
}

// Widen returns the lengths as 64-bit numbers.
func Widen(shape []int32) []int64 {
	w := make([]int64, len(shape))
	for i, n := range shape {
		w[i] = int64(n)
	}
	return w
}

// narrow returns the lengths as 32-bit numbers, or ErrTooLarge.
func narrow(shape []int64) ([]int32, error) {
	s := make([]int32, len(shape))
	for i, n := range shape {
		if n > math.MaxInt32 {
			return nil, fmt.Errorf("ndarray: %w: axis %d: chunk length is %d, want at most 2^31-1", errs.ErrTooLarge, i, n)
		}
		s[i] = int32(n)
	}
	return s, nil
}
