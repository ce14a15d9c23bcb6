// Package grid computes how an array is divided into chunks and blocks.
package grid

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"
)

// Limits of the format.
const (
	MaxDims       = 16
	maxItemSize   = maxBlockBytes
	maxBlockBytes = coder.MaxBlockSize
	maxChunkBytes = coder.MaxBytes
)

// Dims holds a value per axis, the first axis first. Entries past the number of dimensions are zero.
type Dims [MaxDims]int64

// Geometry describes how an array is divided into chunks and blocks. It holds all products of lengths, computed and
// checked once. It is immutable after NewGeometry.
//
// Chunks are stored in C order over the grid of ceil(Shape / ChunkShape). A chunk holds extChunk items: its shape,
// rounded up to whole blocks. Blocks are stored in C order inside a chunk, and items in C order inside a block.
type Geometry struct {
	Ndim       int
	ItemSize   int64
	Shape      Dims // items
	ChunkShape Dims // items
	BlockShape Dims // items
	extChunk   Dims // items: ChunkShape rounded up to a multiple of BlockShape

	Grid        Dims // chunks along each axis
	GridStride  Dims // difference of the chunk numbers of neighbors along an axis
	BlockGrid   Dims // blocks of a chunk along each axis
	BlockNumber Dims // difference of the block numbers of neighbors along an axis
	ItemStride  Dims // distance of neighbors along an axis inside a block, in items

	Items      int64 // of the array
	Chunks     int64 // of the array
	Blocks     int64 // of a chunk; fits an int32
	BlockItems int64 // of a block; fits an int32
	BlockBytes int64
	ChunkBytes int64 // of a decoded chunk with its padding: at most maxChunkBytes
}

// NewGeometry checks a shape and its partition and computes all fields. Axes of length zero may have chunks and blocks
// of length zero. Blocks larger than the chunk, and chunks larger than the shape, are valid. The error wraps ErrShape
// or ErrTooLarge.
func NewGeometry(shape []int64, chunkShape, blockShape []int32, itemSize int64) (*Geometry, error) {
	n := len(shape)
	if n > MaxDims {
		return nil, fmt.Errorf("ndarray: %w: %d dimensions, at most %d", errs.ErrShape, n, MaxDims)
	}
	if len(chunkShape) != n || len(blockShape) != n {
		return nil, fmt.Errorf("ndarray: %w: shape has %d dimensions, chunk shape %d and block shape %d",
			errs.ErrShape, n, len(chunkShape), len(blockShape))
	}
	if itemSize < 1 || itemSize > maxItemSize {
		return nil, fmt.Errorf("ndarray: %w: item size is %d bytes, want 1 to %d", errs.ErrTooLarge, itemSize, maxItemSize)
	}
	g := &Geometry{Ndim: n, ItemSize: itemSize}
	for i := range n {
		s, c, b := shape[i], int64(chunkShape[i]), int64(blockShape[i])
		switch {
		case s < 0 || c < 0 || b < 0:
			return nil, fmt.Errorf("ndarray: %w: axis %d: negative length in shape %v, chunk shape %v or block shape %v", errs.ErrShape, i, shape, chunkShape, blockShape)
		case (s > 0 && (c == 0 || b == 0)) || (c > 0 && b == 0):
			return nil, fmt.Errorf("ndarray: %w: axis %d of length %d has chunks of length %d and blocks of length %d", errs.ErrShape, i, s, c, b)
		}
		g.Shape[i], g.ChunkShape[i], g.BlockShape[i] = s, c, b
		g.Grid[i] = CeilDiv(s, c)
		g.BlockGrid[i] = CeilDiv(c, b)
		g.extChunk[i] = g.BlockGrid[i] * b
	}
	if err := g.multiply(); err != nil {
		return nil, err
	}
	return g, nil
}

// multiply computes all products of dimensions.
func (g *Geometry) multiply() error {
	n := g.Ndim
	var ok bool
	if g.Items, ok = Product(g.Shape[:n]); !ok {
		return fmt.Errorf("ndarray: %w: array of shape %v has more than 2^63-1 items", errs.ErrTooLarge, g.Shape[:n])
	}
	chunkItems, ok := Product(g.extChunk[:n])
	if !ok || chunkItems > maxChunkBytes/g.ItemSize {
		return fmt.Errorf("ndarray: %w: chunk of shape %v with blocks of shape %v and items of %d bytes, want at most %d bytes",
			errs.ErrTooLarge, g.ChunkShape[:n], g.BlockShape[:n], g.ItemSize, maxChunkBytes)
	}
	g.ChunkBytes = chunkItems * g.ItemSize
	// A block of a chunk without items may have any shape, but its size is limited in the same way.
	if g.BlockItems, ok = Product(g.BlockShape[:n]); !ok || g.BlockItems > maxChunkBytes/g.ItemSize {
		return fmt.Errorf("ndarray: %w: block of shape %v with items of %d bytes, want at most %d bytes",
			errs.ErrTooLarge, g.BlockShape[:n], g.ItemSize, maxChunkBytes)
	}
	g.BlockBytes = g.BlockItems * g.ItemSize
	g.Blocks, _ = Product(g.BlockGrid[:n]) // at most chunkItems
	g.Chunks, _ = Product(g.Grid[:n])      // at most items
	if _, ok = Multiply(g.Chunks, g.ChunkBytes); !ok {
		return fmt.Errorf("ndarray: %w: %d chunks of %d bytes", errs.ErrTooLarge, g.Chunks, g.ChunkBytes)
	}
	if g.Chunks > 0 {
		Strides(&g.GridStride, g.Grid[:n])
	}
	if g.Blocks > 0 {
		Strides(&g.BlockNumber, g.BlockGrid[:n])
	}
	if g.BlockItems > 0 {
		Strides(&g.ItemStride, g.BlockShape[:n])
	}
	return nil
}

// ChunkLength returns the number of items along an axis of the chunk that starts at an item. The last chunk may be cut
// by the end of the array.
func (g *Geometry) ChunkLength(axis int, start int64) int64 {
	return min(g.ChunkShape[axis], g.Shape[axis]-start)
}

// CeilDiv returns a / b rounded up, for a >= 0. It returns 0 if b is 0.
func CeilDiv(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	return (a-1)/b + 1
}

// Multiply returns the product of two non-negative numbers, and reports whether it fits in an int64.
func Multiply(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(lo), hi == 0 && lo <= math.MaxInt64
}

// Product returns the product of non-negative lengths, and reports whether it fits in an int64. It returns 0 if a
// length is zero, whatever the other lengths.
func Product(lengths []int64) (int64, bool) {
	p, fits := int64(1), true
	for _, n := range lengths {
		if n == 0 {
			return 0, true
		}
		if fits {
			p, fits = Multiply(p, n)
		}
	}
	return p, fits
}

// Strides sets the C-order strides of a shape. They are of no use if a length is zero or the product does not fit.
func Strides(dst *Dims, shape []int64) {
	s := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		dst[i] = s
		s *= shape[i]
	}
}

// ByteSize returns the size in bytes of a buffer for items. It returns ErrTooLarge if the size does not fit in an int.
func ByteSize(items, itemSize int64) (int, error) {
	n, ok := Multiply(items, itemSize)
	if !ok || n > math.MaxInt {
		return 0, fmt.Errorf("ndarray: %w: %d items of %d bytes", errs.ErrTooLarge, items, itemSize)
	}
	return int(n), nil
}
