package ndarray

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/goblosc/blosc2/chunk"
)

// Errors of this package.
var (
	errShape    = errors.New("invalid shape")
	errTooLarge = chunk.ErrTooLarge
)

// Limits of the format.
const (
	maxDims       = 16
	maxItemSize   = maxBlockBytes
	maxBlockBytes = 1<<29 - 4096
	maxChunkBytes = math.MaxInt32 - 32
)

// dims holds a value per axis, the first axis first. Entries past the number of dimensions are zero.
type dims [maxDims]int64

// geometry is how an array is cut into chunks and blocks, with every product of dimensions computed and checked
// once. It is immutable after newGeometry.
//
// Chunks stand in C order over the grid of ceil(shape / chunkShape). A chunk holds extChunk items: its shape,
// rounded up to whole blocks. Inside it the blocks stand in C order, and inside a block the items do.
type geometry struct {
	ndim       int
	itemSize   int64
	shape      dims // items
	chunkShape dims // items
	blockShape dims // items
	extChunk   dims // items: chunkShape rounded up to a multiple of blockShape

	grid        dims // chunks along each axis
	gridStride  dims // what one step along an axis adds to the chunk number
	blockGrid   dims // blocks of a chunk along each axis
	blockNumber dims // what one step along an axis of blockGrid adds to the block number
	itemStride  dims // items between neighbours along an axis inside a block

	items      int64 // of the array
	chunks     int64 // of the array
	blocks     int64 // of a chunk; fits an int32
	blockItems int64 // of a block; fits an int32
	blockBytes int64
	chunkBytes int64 // of a decoded chunk with its padding: at most maxChunkBytes
}

// newGeometry checks a shape with its partition and computes what follows from them. Zero-length dimensions may
// have chunks and blocks of length zero. Blocks larger than the chunk, and chunks larger than the shape, are valid.
// The error wraps ErrShape or ErrTooLarge.
func newGeometry(shape []int64, chunkShape, blockShape []int32, itemSize int64) (*geometry, error) {
	n := len(shape)
	if n > maxDims {
		return nil, fmt.Errorf("ndarray: %w: %d dimensions, at most %d", errShape, n, maxDims)
	}
	if len(chunkShape) != n || len(blockShape) != n {
		return nil, fmt.Errorf("ndarray: %w: %d dimensions, but %d in the chunk shape and %d in the block shape",
			errShape, n, len(chunkShape), len(blockShape))
	}
	if itemSize < 1 || itemSize > maxItemSize {
		return nil, fmt.Errorf("ndarray: %w: item of %d bytes", errTooLarge, itemSize)
	}
	g := &geometry{ndim: n, itemSize: itemSize}
	for i := range n {
		s, c, b := shape[i], int64(chunkShape[i]), int64(blockShape[i])
		switch {
		case s < 0 || c < 0 || b < 0:
			return nil, fmt.Errorf("ndarray: %w: axis %d: negative length in shape %v, chunk shape %v or block shape %v", errShape, i, shape, chunkShape, blockShape)
		case (s > 0 && (c == 0 || b == 0)) || (c > 0 && b == 0):
			return nil, fmt.Errorf("ndarray: %w: axis %d: shape %d with chunks of %d and blocks of %d", errShape, i, s, c, b)
		}
		g.shape[i], g.chunkShape[i], g.blockShape[i] = s, c, b
		g.grid[i] = ceilDiv(s, c)
		g.blockGrid[i] = ceilDiv(c, b)
		g.extChunk[i] = g.blockGrid[i] * b
	}
	if err := g.multiply(); err != nil {
		return nil, err
	}
	return g, nil
}

// multiply computes all products of dimensions.
func (g *geometry) multiply() error {
	n := g.ndim
	var ok bool
	if g.items, ok = product(g.shape[:n]); !ok {
		return fmt.Errorf("ndarray: %w: array of shape %v", errTooLarge, g.shape[:n])
	}
	chunkItems, ok := product(g.extChunk[:n])
	if !ok || chunkItems > maxChunkBytes/g.itemSize {
		return fmt.Errorf("ndarray: %w: chunk of shape %v with blocks of %v and items of %d bytes: at most %d bytes",
			errTooLarge, g.chunkShape[:n], g.blockShape[:n], g.itemSize, maxChunkBytes)
	}
	g.chunkBytes = chunkItems * g.itemSize
	// A block of a chunk without items may be of any shape, but its size is still kept within the same bound.
	if g.blockItems, ok = product(g.blockShape[:n]); !ok || g.blockItems > maxChunkBytes/g.itemSize {
		return fmt.Errorf("ndarray: %w: block of shape %v with items of %d bytes: at most %d bytes",
			errTooLarge, g.blockShape[:n], g.itemSize, maxChunkBytes)
	}
	g.blockBytes = g.blockItems * g.itemSize
	g.blocks, _ = product(g.blockGrid[:n]) // at most chunkItems
	g.chunks, _ = product(g.grid[:n])      // at most items
	if _, ok = multiply(g.chunks, g.chunkBytes); !ok {
		return fmt.Errorf("ndarray: %w: %d chunks of %d bytes", errTooLarge, g.chunks, g.chunkBytes)
	}
	if g.chunks > 0 {
		strides(&g.gridStride, g.grid[:n])
	}
	if g.blocks > 0 {
		strides(&g.blockNumber, g.blockGrid[:n])
	}
	if g.blockItems > 0 {
		strides(&g.itemStride, g.blockShape[:n])
	}
	return nil
}

// ceilDiv returns a / b rounded up, for a >= 0, and 0 when b is 0.
func ceilDiv(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	return (a-1)/b + 1
}

// multiply returns a * b for non-negative numbers, and whether it fits.
func multiply(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(lo), hi == 0 && lo <= math.MaxInt64
}

// product returns the product of non-negative lengths, and whether it fits. A zero anywhere makes it zero.
func product(lengths []int64) (int64, bool) {
	p, fits := int64(1), true
	for _, n := range lengths {
		if n == 0 {
			return 0, true
		}
		if fits {
			p, fits = multiply(p, n)
		}
	}
	return p, fits
}

// strides sets the C order strides of a shape whose product is known to fit and not to be zero.
func strides(dst *dims, shape []int64) {
	s := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		dst[i] = s
		s *= shape[i]
	}
}

// byteSize returns the length of a buffer for a number of items, when this machine can make one.
func byteSize(items, itemSize int64) (int, error) {
	n, ok := multiply(items, itemSize)
	if !ok || n > math.MaxInt {
		return 0, fmt.Errorf("ndarray: %w: %d items of %d bytes", errTooLarge, items, itemSize)
	}
	return int(n), nil
}
