package filters

import (
	"encoding/binary"
	"fmt"
	"math"
)

// maxCellDims is the largest number of dimensions of NDCELL and NDMEAN.
const maxCellDims = 8

// CellEncode writes the items of the block src to dst[:len(src)], cell by cell. src is an array of blockShape items of
// itemSize bytes in C order. A cell has edge items along each dimension, or fewer at the end of the dimension. The
// cells are stored in C order, and so are the items of a cell.
//
// CellEncode returns errors.ErrUnsupported unless blockShape has 1 to 8 dimensions. It returns ErrParam if edge is not
// 1 to 255, if edge to the power of the dimensions exceeds the number of items of the block, if a dimension or itemSize
// is less than 1, or if the shape does not describe len(src) bytes.
//
// dst must not overlap src. CellEncode panics if dst is shorter than src.
func CellEncode(dst, src []byte, itemSize, edge int, blockShape []int32) error {
	g, err := cellGrid(len(src), itemSize, edge, blockShape)
	if err != nil {
		return err
	}
	g.toCells(checked(dst, src, itemSize), src)
	return nil
}

// CellDecode undoes [CellEncode]. Its arguments and errors are the same.
func CellDecode(dst, src []byte, itemSize, edge int, blockShape []int32) error {
	g, err := cellGrid(len(src), itemSize, edge, blockShape)
	if err != nil {
		return err
	}
	g.fromCells(checked(dst, src, itemSize), src)
	return nil
}

// MeanEncode writes the block src to dst[:len(src)], cell by cell like [CellEncode], with every item replaced by the
// arithmetic mean of its cell. It sums in C order in the type of the items, which are little-endian floats of itemSize
// 4 or 8. The filter is lossy; [MeanDecode] only moves the means to the positions of the items.
//
// edge is 1 to 127, and may exceed a dimension of the block: a cell is then as long as the dimension. MeanEncode
// returns errors.ErrUnsupported for another itemSize, and ErrParam for another edge. It also returns ErrParam if
// dimension 0 is shorter than edge and another dimension has several cells of another length, because C-Blosc2 cannot
// decode such blocks. The other conditions, errors and the panic are those of CellEncode.
func MeanEncode(dst, src []byte, itemSize, edge int, blockShape []int32) error {
	g, err := meanGrid(len(src), itemSize, edge, blockShape)
	if err != nil {
		return err
	}
	first := min(edge, int(blockShape[0])) // C-Blosc2 uses this distance of cells for all dimensions
	for i, n := range blockShape {
		if int(n) > edge && first < edge {
			return fmt.Errorf("%w: ndmean with cell edge %d, but %d items in dimension 0, and several cells along dimension %d",
				errParam, edge, first, i)
		}
	}
	dst = checked(dst, src, itemSize)
	g.toCells(dst, src)
	for c := g.first(); c.more; g.next(&c) {
		n := g.items(&c) * itemSize
		if itemSize == 4 {
			mean32(dst[:n])
		} else {
			mean64(dst[:n])
		}
		dst = dst[n:]
	}
	return nil
}

// MeanDecode writes the means of src, which holds them cell by cell, to dst[:len(src)] in C order of the items. Along
// each dimension a cell has edge items, or as many as the block has if that is less. MeanDecode returns
// errors.ErrUnsupported if itemSize is not 4 or 8, and ErrParam if edge is not 1 to 127. The other conditions, errors
// and the panic are those of [CellEncode].
func MeanDecode(dst, src []byte, itemSize, edge int, blockShape []int32) error {
	g, err := meanGrid(len(src), itemSize, edge, blockShape)
	if err != nil {
		return err
	}
	g.fromCells(checked(dst, src, itemSize), src)
	return nil
}

// mean32 replaces the float32s of p by their mean.
func mean32(p []byte) {
	le := binary.LittleEndian
	sum := float32(0)
	for i := 0; i < len(p); i += 4 {
		sum += math.Float32frombits(le.Uint32(p[i:]))
	}
	mean := math.Float32bits(sum / float32(len(p)/4))
	for i := 0; i < len(p); i += 4 {
		le.PutUint32(p[i:], mean)
	}
}

// mean64 replaces the float64s of p by their mean.
func mean64(p []byte) {
	le := binary.LittleEndian
	sum := float64(0)
	for i := 0; i < len(p); i += 8 {
		sum += math.Float64frombits(le.Uint64(p[i:]))
	}
	mean := math.Float64bits(sum / float64(len(p)/8))
	for i := 0; i < len(p); i += 8 {
		le.PutUint64(p[i:], mean)
	}
}
