package meta

import (
	"fmt"
	"math"
)

// MaxDims is the largest number of dimensions of an array.
const MaxDims = 16

// Array is the record that describes a super-chunk as an array. It is the content of the metalayer "b2nd", or "caterva"
// in old files. The three shapes are in items, outermost dimension first, and have the same length. All are empty for
// an array without dimensions (one item).
type Array struct {
	Version     uint8   // of the record, 0 today; at most 127
	Shape       []int64 // of the array
	ChunkShape  []int32
	BlockShape  []int32
	DTypeFormat int8   // 0 = DType is a NumPy dtype; 1 to 127 are not defined yet
	DType       string // as stored; see ParseDType
}

// Append appends the current form of the record, seven fields of fixed widths, to dst and returns the extended slice.
// It does not check the geometry (see Validate). The error wraps ErrTooLarge if there are more than MaxDims dimensions
// or a field is out of range, and ErrType if the shapes have different lengths or DType is empty. After an error it
// returns dst unchanged.
func (a *Array) Append(dst []byte) ([]byte, error) {
	nd := len(a.Shape)
	if len(a.ChunkShape) != nd || len(a.BlockShape) != nd {
		return dst, fmt.Errorf("meta: array record: shape, chunk shape and block shape of %d, %d and %d dimensions: %w",
			nd, len(a.ChunkShape), len(a.BlockShape), ErrType)
	}
	if a.DType == "" {
		return dst, fmt.Errorf("meta: array record: empty dtype: %w", ErrType)
	}
	if nd > MaxDims || a.Version > 127 || a.DTypeFormat < 0 || len(a.DType) > math.MaxInt32-1024 {
		return dst, fmt.Errorf("meta: array record: %d dimensions, version %d, dtype format %d, dtype of %d bytes: %w",
			nd, a.Version, a.DTypeFormat, len(a.DType), ErrTooLarge)
	}
	dst = append(dst, markFixArray+7, a.Version, byte(nd))
	// With 16 dimensions the marker becomes 0xa0. That is not an array in MessagePack, but the format defines it so.
	mark := byte(markFixArray + nd)
	dst = append(dst, mark)
	for _, n := range a.Shape {
		dst = appendInt64(dst, n)
	}
	for _, shape := range [][]int32{a.ChunkShape, a.BlockShape} {
		dst = append(dst, mark)
		for _, n := range shape {
			dst = appendUint32(dst, markInt32, int(n))
		}
	}
	dst = append(dst, byte(a.DTypeFormat))
	dst = appendUint32(dst, markStr32, len(a.DType))
	return append(dst, a.DType...), nil
}

// ParseArray reads the record in any of its forms. The current form has seven elements. An early draft has six: it has
// no dtype format, and its dtypes are NumPy names such as "int32", which ParseArray keeps. The oldest form has five
// elements, without dtype; every "caterva" metalayer has this form. ParseArray then sets DType to "|S" and itemSize,
// the item size of the frame in bytes. As in C-Blosc2, integers and the string may have any MessagePack width, the
// counts in array markers are not checked, and bytes after the dtype are ignored.
//
// The result does not share memory with content. ParseArray does not check the shapes: call Validate. The error wraps
// ErrCorrupt.
func ParseArray(content []byte, itemSize int) (*Array, error) {
	if itemSize < 1 {
		return nil, fmt.Errorf("meta: array record: item size of %d bytes: %w", itemSize, ErrCorrupt)
	}
	c := &cursor{b: content}
	c.arrayMarker()
	a := &Array{Version: uint8(c.int(127))}
	nd := int(c.int(MaxDims))
	if c.err != nil {
		return nil, fmt.Errorf("meta: array record: version or dimensions: %w: %w", c.err, ErrCorrupt)
	}
	a.Shape = make([]int64, nd)
	a.ChunkShape = make([]int32, nd)
	a.BlockShape = make([]int32, nd)
	c.arrayMarker()
	for i := range a.Shape {
		a.Shape[i] = c.int(math.MaxInt64)
	}
	for _, shape := range [][]int32{a.ChunkShape, a.BlockShape} {
		c.arrayMarker()
		for i := range shape {
			shape[i] = int32(c.int(math.MaxInt32))
		}
	}
	if c.err != nil {
		return nil, fmt.Errorf("meta: array record: shapes: %w: %w", c.err, ErrCorrupt)
	}
	if c.left() > 0 {
		// In the draft the string follows directly. No integer starts with a marker of a string.
		if m := c.b[c.pos]; m&0xe0 != markFixStr && (m < markStr8 || m > markStr32) {
			a.DTypeFormat = int8(c.int(127))
		}
		a.DType = c.str()
		if c.err != nil {
			return nil, fmt.Errorf("meta: array record: dtype: %w: %w", c.err, ErrCorrupt)
		}
	}
	if a.DType == "" {
		a.DType = fmt.Sprintf("|S%d", itemSize)
	}
	return a, nil
}

// arrayMarker skips the marker of an array, and its count if that is a separate field.
func (c *cursor) arrayMarker() {
	switch c.byte() {
	case markArray16:
		c.next(2)
	case markArray32:
		c.next(4)
	}
}

// Validate checks the geometry for items of itemSize bytes, so that no product of sizes can overflow afterwards:
//
//   - The three shapes have the same length, at most MaxDims, and no negative extent.
//   - Where the shape is not 0, the chunk shape is not 0. Where the chunk shape is not 0, the block shape is not 0.
//   - The items of a chunk and of a block fit int32. So do the bytes of a chunk that is rounded up to whole blocks.
//   - The items of the array fit int64 (without dimensions of 0, as in NumPy). So do the bytes of all its chunks.
//
// Chunks may be larger than the array and blocks larger than the chunk, as in C-Blosc2. The error wraps ErrCorrupt, and
// ErrTooLarge too if a size is too large.
func (a *Array) Validate(itemSize int) error {
	nd := len(a.Shape)
	if nd > MaxDims || len(a.ChunkShape) != nd || len(a.BlockShape) != nd {
		return fmt.Errorf("meta: array: shape, chunk shape and block shape of %d, %d and %d dimensions: %w",
			nd, len(a.ChunkShape), len(a.BlockShape), ErrCorrupt)
	}
	if itemSize < 1 {
		return fmt.Errorf("meta: array: item size of %d bytes: %w", itemSize, ErrCorrupt)
	}
	grid := make([]int64, nd)  // chunks along each dimension
	whole := make([]int64, nd) // chunk shape, rounded up to blocks
	for i, n := range a.Shape {
		cs, bs := int64(a.ChunkShape[i]), int64(a.BlockShape[i])
		if n < 0 || cs < 0 || bs < 0 || n > 0 && cs == 0 || cs > 0 && bs == 0 {
			return fmt.Errorf("meta: array dimension %d: shape %d, chunk %d, block %d: %w", i, n, cs, bs, ErrCorrupt)
		}
		if cs > 0 {
			grid[i] = ceilDiv(n, cs)
			whole[i] = ceilDiv(cs, bs) * bs
		}
	}
	items := int64(1)
	fits := true
	for _, n := range a.Shape {
		items, fits = mulUpTo(items, max(n, 1), math.MaxInt64)
		if !fits {
			break
		}
	}
	_, chunkFits := product(a.ChunkShape, 1, math.MaxInt32)
	_, blockFits := product(a.BlockShape, 1, math.MaxInt32)
	chunkBytes, wholeFits := product(whole, int64(itemSize), math.MaxInt32)
	_, allFits := product(grid, chunkBytes, math.MaxInt64)
	if !fits || !chunkFits || !blockFits || !wholeFits || !allFits {
		return fmt.Errorf("meta: array of shape %v, chunks %v, blocks %v, %d bytes per item: %w: %w",
			a.Shape, a.ChunkShape, a.BlockShape, itemSize, ErrTooLarge, ErrCorrupt)
	}
	return nil
}

// ceilDiv returns a/b rounded up, for a >= 0 and b > 0.
func ceilDiv(a, b int64) int64 {
	n := a / b
	if a%b != 0 {
		n++
	}
	return n
}

// mulUpTo returns a*b and reports whether it is at most limit. a and b must not be negative.
func mulUpTo(a, b, limit int64) (int64, bool) {
	if b != 0 && a > limit/b {
		return 0, false
	}
	return a * b, true
}

// product returns unit times all dims and reports whether it is at most limit. No factor may be negative. If one of
// dims is 0, so is the product, whatever the other dims are.
func product[T int32 | int64](dims []T, unit, limit int64) (int64, bool) {
	for _, n := range dims {
		if n == 0 {
			return 0, true
		}
	}
	p, ok := mulUpTo(unit, 1, limit)
	for _, n := range dims {
		if !ok {
			return 0, false
		}
		p, ok = mulUpTo(p, int64(n), limit)
	}
	return p, ok
}
