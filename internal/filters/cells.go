package filters

import (
	"fmt"
	"slices"
)

// grid is an N-dimensional block divided into cells.
type grid struct {
	ndim   int
	edge   int
	shape  [maxCellDims]int // items along each dimension
	stride [maxCellDims]int // distance in bytes of neighboring items along each dimension
}

// cellGrid checks the parameters of NDCELL for a block of size bytes.
func cellGrid(size, itemSize, edge int, blockShape []int32) (grid, error) {
	if edge < 1 || edge > 255 {
		return grid{}, fmt.Errorf("%w: ndcell with cell edge %d, want 1 to 255", errParam, edge)
	}
	g, err := newGrid(size, itemSize, edge, blockShape)
	if err != nil {
		return grid{}, err
	}
	items := size / itemSize
	for range blockShape {
		items /= edge // rounding down at each step gives the same as dividing by the power
	}
	if items == 0 {
		shape := slices.Clone(blockShape) // so that the caller's slice does not escape
		return grid{}, fmt.Errorf("%w: ndcell with cell edge %d in a block of shape %v", errParam, edge, shape)
	}
	return g, nil
}

// meanGrid checks the parameters of NDMEAN for a block of size bytes.
func meanGrid(size, itemSize, edge int, blockShape []int32) (grid, error) {
	if itemSize != 4 && itemSize != 8 {
		return grid{}, fmt.Errorf("%w: ndmean of item size %d, want 4 or 8", errUnsupported, itemSize)
	}
	if edge < 1 || edge > 127 {
		return grid{}, fmt.Errorf("%w: ndmean with cell edge %d, want 1 to 127", errParam, edge)
	}
	return newGrid(size, itemSize, edge, blockShape)
}

// newGrid checks that blockShape describes size bytes.
func newGrid(size, itemSize, edge int, blockShape []int32) (grid, error) {
	g := grid{ndim: len(blockShape), edge: edge}
	if g.ndim < 1 || g.ndim > maxCellDims {
		return grid{}, fmt.Errorf("%w: cells in %d dimensions, want 1 to %d", errUnsupported, g.ndim, maxCellDims)
	}
	if itemSize < 1 {
		return grid{}, fmt.Errorf("%w: item size %d, want at least 1", errParam, itemSize)
	}
	n := itemSize
	for i := g.ndim - 1; i >= 0; i-- {
		d := int(blockShape[i])
		if d < 1 || n > size/d {
			return grid{}, shapeError(size, itemSize, blockShape)
		}
		g.shape[i], g.stride[i] = d, n
		n *= d
	}
	if n != size {
		return grid{}, shapeError(size, itemSize, blockShape)
	}
	return g, nil
}

func shapeError(size, itemSize int, blockShape []int32) error {
	shape := slices.Clone(blockShape) // so that the caller's slice does not escape
	return fmt.Errorf("%w: block shape %v and item size %d for a block of %d bytes", errParam, shape, itemSize, size)
}

// toCells copies the items of block in cell order to cells.
func (g *grid) toCells(cells, block []byte) {
	for c := g.first(); c.more; g.next(&c) {
		run := c.size[g.ndim-1] * g.stride[g.ndim-1]
		for r := g.firstRow(&c); r.more; g.nextRow(&c, &r) {
			copy(cells[:run], block[r.offset:])
			cells = cells[run:]
		}
	}
}

// fromCells undoes toCells.
func (g *grid) fromCells(block, cells []byte) {
	for c := g.first(); c.more; g.next(&c) {
		run := c.size[g.ndim-1] * g.stride[g.ndim-1]
		for r := g.firstRow(&c); r.more; g.nextRow(&c, &r) {
			copy(block[r.offset:], cells[:run])
			cells = cells[run:]
		}
	}
}

// cell is a cursor over the cells of a grid in C order.
type cell struct {
	start  [maxCellDims]int // its first item along each dimension
	size   [maxCellDims]int // its items along each dimension
	offset int              // bytes from the start of the block to its first item
	more   bool             // false after the last cell
}

func (g *grid) first() cell {
	c := cell{more: true}
	for i := range g.ndim {
		c.size[i] = min(g.edge, g.shape[i])
	}
	return c
}

func (g *grid) next(c *cell) {
	for i := g.ndim - 1; i >= 0; i-- {
		c.offset -= c.start[i] * g.stride[i]
		c.start[i] += g.edge
		if c.start[i] < g.shape[i] {
			c.offset += c.start[i] * g.stride[i]
			c.size[i] = min(g.edge, g.shape[i]-c.start[i])
			return
		}
		c.start[i] = 0
		c.size[i] = min(g.edge, g.shape[i])
	}
	c.more = false
}

// items returns the number of items of a cell.
func (g *grid) items(c *cell) int {
	n := 1
	for i := range g.ndim {
		n *= c.size[i]
	}
	return n
}

// row is a cursor over the runs of items of a cell along the last dimension, in C order.
type row struct {
	at     [maxCellDims]int // position in the cell along each dimension except the last
	offset int              // bytes from the start of the block to its first item
	more   bool             // false after the last row
}

func (g *grid) firstRow(c *cell) row { return row{offset: c.offset, more: true} }

func (g *grid) nextRow(c *cell, r *row) {
	for i := g.ndim - 2; i >= 0; i-- {
		r.at[i]++
		r.offset += g.stride[i]
		if r.at[i] < c.size[i] {
			return
		}
		r.offset -= r.at[i] * g.stride[i]
		r.at[i] = 0
	}
	r.more = false
}
