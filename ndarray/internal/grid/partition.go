package grid

import (
	"fmt"
	"math"

	"github.com/goblosc/blosc2/internal/errs"
)

// The sizes that python-blosc2 uses if it cannot determine the caches of the machine (it then assumes 32 KiB, 256 KiB
// and 1 MiB). They are constants so that an array has the same partition on every machine.
const (
	defaultBlockBytes = 256 << 10 / 4 // a quarter of the second-level cache; also the minimum
	defaultChunkBytes = 4 << 20       // the minimum, which exceeds python-blosc2's share of the third-level cache
)

// Partition chooses the chunk and block shapes of a new array that are nil, by the rules of compute_chunks_blocks of
// python-blosc2. As there, a block shape without a chunk shape is only a hint at the number of items in a block:
// Partition may return another block shape.
//
// blockHint is the preferred size of a block in bytes, or 0 for the default. For codecs and filters that depend on the
// shape of a block (NDLZ, ZFP, NDCELL, NDMEAN), it is the block size that C-Blosc2 chooses for a buffer of 8 MiB.
//
// The error wraps ErrShape or ErrTooLarge. The result must still be checked with NewGeometry.
func Partition(shape []int64, chunks, blocks []int32, itemSize, blockHint int64) (chunkShape, blockShape []int32, err error) {
	if len(shape) > MaxDims {
		return nil, nil, fmt.Errorf("ndarray: %w: %d dimensions, at most %d", errs.ErrShape, len(shape), MaxDims)
	}
	if itemSize < 1 || itemSize > maxItemSize {
		return nil, nil, fmt.Errorf("ndarray: %w: item size is %d bytes, want 1 to %d", errs.ErrTooLarge, itemSize, maxItemSize)
	}
	if err := checkParts(shape, chunks, blocks); err != nil {
		return nil, nil, err
	}
	if chunks != nil && blocks != nil {
		return append([]int32{}, chunks...), append([]int32{}, blocks...), nil
	}
	if HasZero(shape) && chunks == nil && blocks == nil {
		if chunkShape, err = narrow(shape); err != nil {
			return nil, nil, err
		}
		return chunkShape, append([]int32{}, chunkShape...), nil
	}
	most := shape
	if chunks != nil {
		most = Widen(chunks)
	}
	if HasZero(most) {
		return nil, nil, fmt.Errorf("ndarray: %w: an array with an axis of length zero needs both chunk shape and block shape, or neither", errs.ErrShape)
	}
	n, err := blockBudget(blocks, itemSize, blockHint)
	if err != nil {
		return nil, nil, err
	}
	block := distribute(n, most)
	if blockShape, err = narrow(block); err != nil {
		return nil, nil, err
	}
	if chunks != nil {
		return append([]int32{}, chunks...), blockShape, nil
	}
	chunk := distribute(chunkBudget(block, itemSize), shape)
	for i, b := range block {
		chunk[i] = min(shape[i], CeilDiv(chunk[i], b)*b)
	}
	if chunkShape, err = narrow(chunk); err != nil {
		return nil, nil, err
	}
	return chunkShape, blockShape, nil
}

// checkParts checks the given shapes.
func checkParts(shape []int64, chunks, blocks []int32) error {
	if chunks != nil && len(chunks) != len(shape) || blocks != nil && len(blocks) != len(shape) {
		return fmt.Errorf("ndarray: %w: array has %d dimensions, but chunk shape is %v and block shape is %v", errs.ErrShape, len(shape), chunks, blocks)
	}
	for i, n := range shape {
		switch {
		case n < 0 || chunks != nil && chunks[i] < 0 || blocks != nil && blocks[i] < 0:
			return fmt.Errorf("ndarray: %w: axis %d: negative length in shape %v, chunk shape %v or block shape %v", errs.ErrShape, i, shape, chunks, blocks)
		case n > 0 && (chunks != nil && chunks[i] == 0 || blocks != nil && blocks[i] == 0):
			return fmt.Errorf("ndarray: %w: axis %d of length %d has chunks or blocks of length zero", errs.ErrShape, i, n)
		case chunks != nil && blocks != nil && blocks[i] > chunks[i]:
			return fmt.Errorf("ndarray: %w: axis %d: block length %d exceeds chunk length %d", errs.ErrShape, i, blocks[i], chunks[i])
		}
	}
	return nil
}

// blockBudget returns the number of items that a block should have.
func blockBudget(blocks []int32, itemSize, blockHint int64) (int64, error) {
	if blocks == nil {
		n := max(blockHint, defaultBlockBytes)
		if n > maxBlockBytes {
			return 0, fmt.Errorf("ndarray: %w: block size is %d bytes, want at most %d", errs.ErrTooLarge, n, maxBlockBytes)
		}
		return max(n/itemSize, 1), nil
	}
	n, ok := Product(Widen(blocks))
	if !ok || n > maxBlockBytes/itemSize {
		return 0, fmt.Errorf("ndarray: %w: block of shape %v with items of %d bytes, want at most %d bytes", errs.ErrTooLarge, blocks, itemSize, maxBlockBytes)
	}
	return n, nil
}

// chunkBudget returns the number of items that a chunk should have: the most whole blocks that fit in the default size,
// and at least one.
func chunkBudget(block []int64, itemSize int64) int64 {
	blockItems, _ := Product(block) // at most the block budget
	blockBytes := blockItems * itemSize
	n := max(defaultChunkBytes, blockBytes)
	return (n - n%blockBytes) / itemSize
}

// distribute divides n items among the axes of a shape without zeros, the last axis first: whole axes, then a part of
// one axis, which divides its length if a suitable divisor exists. The axes before that one get length 1.
//
// If a block and a chunk are distributed this way, the chunk contains the block: its budget is a multiple of the items
// of the block, so it covers the same whole axes, and at least as much of the next axis.
func distribute(n int64, most []int64) []int64 {
	part := make([]int64, len(most))
	for i := range part {
		part[i] = 1
	}
	for i := len(most) - 1; i >= 0 && n > 1; i-- {
		r := most[i]
		if r > n {
			r = divisorNear(most[i], n)
		}
		part[i] = r
		n /= r
	}
	return part
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

// HasZero reports whether a length is zero.
func HasZero(shape []int64) bool {
	for _, n := range shape {
		if n == 0 {
			return true
		}
	}
	return false
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
