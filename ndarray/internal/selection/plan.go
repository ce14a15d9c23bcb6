package selection

import (
	"math"

	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// Plan maps the selected items of each block to the user side. It is pure arithmetic. After NewPlan it is read-only, so
// any number of goroutines may use it, each with its own ChunkPart and Box.
//
// The user side is the destination of a read and the source of a write: items in C order of the shape of the selection.
// Chunks, blocks and the items of a block are always visited in storage order; an axis with a negative step has a
// negative stride on the user side.
type Plan struct {
	Geo    *grid.Geometry
	Axes   [grid.MaxDims]planAxis
	user   int64 // position on the user side of the selected item with the lowest coordinates
	Items  int64 // number of selected items
	Chunks int64 // number of chunks with selected items
	part   itemPart
}

// planAxis holds the selected coordinates along one axis, in ascending order: First + k*step for 0 <= k < count.
type planAxis struct {
	First, step, count int64
	stride             int64 // on the user side, in items; negative for a negative step
	chunks             int64 // number of chunks with selected items along this axis
	sparse             bool  // the step is larger than a chunk, so a chunk has at most one item
}

// ChunkPart is the selected part of one chunk.
type ChunkPart struct {
	Number int64     // position in C order of the grid
	Coord  grid.Dims // position in the grid
	Origin grid.Dims // coordinates of the first item
	Whole  bool      // every item of the chunk that lies inside the array is selected
	Items  int64     // number of selected items

	at     grid.Dims // position along each axis among the chunks with selected items
	Lo, Hi grid.Dims // selected items along each axis: Lo <= k < Hi

	item []byte // memory for the converted item of a special chunk
}

// NewPlan returns the plan of a selection that was resolved for the shape of g.
func NewPlan(g *grid.Geometry, s *Selection) Plan {
	p := Plan{Geo: g, Items: s.Items, Chunks: 1, part: itemPart{size: int(g.ItemSize), wide: int(g.ItemSize)}}
	if s.Items == 0 {
		p.Chunks = 0
		return p
	}
	stride := int64(1)
	for i := g.Ndim - 1; i >= 0; i-- {
		p.slice(i, &s.Axes[i], stride)
		stride *= s.Axes[i].Count
	}
	return p
}

// slice plans an axis. stride is the distance of neighbors on the user side, in items.
func (p *Plan) slice(axis int, x *AxisSelection, stride int64) {
	a := planAxis{First: x.Start, step: x.Step, count: x.Count, stride: stride}
	if x.Step < 0 {
		a.First += (x.Count - 1) * x.Step
		a.step = -x.Step
		a.stride = -a.stride
		p.user -= (x.Count - 1) * a.stride
	}
	c := p.Geo.ChunkShape[axis]
	a.sparse = a.step > c
	a.chunks = a.count
	if !a.sparse {
		a.chunks = (a.First+(a.count-1)*a.step)/c - a.First/c + 1
	}
	p.Chunks *= a.chunks
	p.Axes[axis] = a
}

// below returns the number of selected items along the axis with a coordinate below x.
func (a *planAxis) below(x int64) int64 {
	if x <= a.First {
		return 0
	}
	if a.step == 1 {
		return min(x-a.First, a.count)
	}
	return min((x-a.First-1)/a.step+1, a.count)
}

// Seek sets c to chunk i of the chunks with selected items, for 0 <= i < p.Chunks, in C order.
func (p *Plan) Seek(c *ChunkPart, i int64) {
	g := p.Geo
	c.Number, c.Items, c.Whole = 0, 1, true
	for axis := g.Ndim - 1; axis >= 0; axis-- {
		n := p.Axes[axis].chunks
		c.at[axis] = i % n
		i /= n
		p.setRange(c, axis)
		n = c.Hi[axis] - c.Lo[axis]
		c.Number += c.Coord[axis] * g.GridStride[axis]
		c.Items *= n
		c.Whole = c.Whole && n == g.ChunkLength(axis, c.Origin[axis])
	}
}

// setRange computes the fields of c that depend on c.at along one axis.
func (p *Plan) setRange(c *ChunkPart, axis int) {
	a, size := &p.Axes[axis], p.Geo.ChunkShape[axis]
	if a.sparse {
		c.Coord[axis] = (a.First + c.at[axis]*a.step) / size
	} else {
		c.Coord[axis] = a.First/size + c.at[axis]
	}
	c.Origin[axis] = c.Coord[axis] * size
	c.Lo[axis] = a.below(c.Origin[axis])
	c.Hi[axis] = a.below(c.Origin[axis] + size)
}

// AppendBlocks appends the numbers of the blocks of a chunk that hold selected items to dst, which must be empty, in
// ascending order.
func (p *Plan) AppendBlocks(dst []int32, c *ChunkPart) []int32 {
	dst = append(dst, 0)
	for axis := p.Geo.Ndim - 1; axis >= 0; axis-- {
		dst = p.appendAxis(dst, c, axis)
	}
	return dst
}

// appendAxis replaces each number in dst by its sums with the block numbers along an axis: first all sums with the
// first block that holds selected items, in the order of dst, then the sums with the second, and so on.
func (p *Plan) appendAxis(dst []int32, c *ChunkPart, axis int) []int32 {
	a, size, number := &p.Axes[axis], p.Geo.BlockShape[axis], p.Geo.BlockNumber[axis]
	n, first := len(dst), int32(0)
	for k := c.Lo[axis]; k < c.Hi[axis]; {
		coord := (a.First + k*a.step - c.Origin[axis]) / size
		block := int32(coord * number)
		if k == c.Lo[axis] {
			first = block
		} else {
			for _, x := range dst[:n] {
				dst = append(dst, x+block)
			}
		}
		k = a.below(c.Origin[axis] + (coord+1)*size)
	}
	for i := range dst[:n] {
		dst[i] += first
	}
	return dst
}

// Box sets dst to the selected items of a block of the chunk, and reports whether any item is selected.
func (p *Plan) Box(dst *Box, c *ChunkPart, block int32) bool {
	g := p.Geo
	dst.Ndim, dst.Items, dst.whole = g.Ndim, 1, true
	dst.Block.Offset, dst.User.Offset = 0, p.user
	rest := int64(block)
	for i := range g.Ndim {
		a, size := &p.Axes[i], g.BlockShape[i]
		coord := rest / g.BlockNumber[i]
		rest -= coord * g.BlockNumber[i]
		inside := coord * size // coordinate of the first item of the block in the chunk
		origin := c.Origin[i] + inside
		lo := a.below(origin)
		hi := min(a.below(origin+size), c.Hi[i])
		if lo >= hi {
			dst.Items = 0
			return false
		}
		n := hi - lo
		dst.Count[i] = n
		dst.Items *= n
		dst.Block.Offset += (a.First + lo*a.step - origin) * g.ItemStride[i]
		dst.Block.Stride[i] = a.step * g.ItemStride[i]
		dst.User.Offset += lo * a.stride
		dst.User.Stride[i] = a.stride
		dst.whole = dst.whole && n == min(size, g.ChunkShape[i]-inside, g.Shape[i]-origin)
	}
	return true
}

// chunkBox sets dst to all selected items of a chunk. It sets only the user side, which is enough for special chunks.
func (p *Plan) chunkBox(dst *Box, c *ChunkPart) {
	*dst = Box{Ndim: p.Geo.Ndim, Items: c.Items, whole: c.Whole}
	dst.User.Offset = p.user
	for i := range p.Geo.Ndim {
		a := &p.Axes[i]
		dst.Count[i] = c.Hi[i] - c.Lo[i]
		dst.User.Offset += c.Lo[i] * a.stride
		dst.User.Stride[i] = a.stride
	}
}

// BlockCount returns about the number of blocks with selected items.
func (p *Plan) BlockCount() int64 {
	n := int64(1)
	for i := range p.Geo.Ndim {
		a := &p.Axes[i]
		along := min(a.count, (a.count-1)*a.step/p.Geo.BlockShape[i]+a.chunks+1)
		if first, last := a.First, a.First+(a.count-1)*a.step; a.chunks == 1 {
			origin := first / p.Geo.ChunkShape[i] * p.Geo.ChunkShape[i]
			along = min(along, (last-origin)/p.Geo.BlockShape[i]-(first-origin)/p.Geo.BlockShape[i]+1)
		}
		if n = n * along; n > math.MaxInt32 {
			return math.MaxInt32
		}
	}
	return n
}

// SetStrides sets the strides and the offset of the items on the user side, if they are part of a larger box. Steps
// must be positive.
func (p *Plan) SetStrides(stride *grid.Dims, offset int64) {
	for i := range p.Geo.Ndim {
		p.Axes[i].stride = stride[i]
	}
	p.user = offset
}
