package selection

import (
	"math"

	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// Plan says which items of which block go where in the result of a selection. It is pure arithmetic. After NewPlan it is
// read-only, so that any number of goroutines may use it, each with its own ChunkPart and box.
//
// The "user side" is the result when reading and the source when writing: items in C order of the selection's
// shape. Chunks, blocks and the items of a block are always visited in storage order; an axis with a negative step
// has a negative stride on the user side.
type Plan struct {
	Geo    *grid.Geometry
	Axes   [grid.MaxDims]planAxis
	user   int64 // where the item of the lowest coordinates is on the user side
	Items  int64 // selected
	Chunks int64 // touched
	moved  moved
}

// planAxis is what is selected along one axis, by ascending coordinate: first + k*step for 0 <= k < count.
type planAxis struct {
	First, step, count int64
	stride             int64 // on the user side, in items; negative when the selection goes backwards
	chunks             int64 // touched along this axis
	sparse             bool  // the step is larger than a chunk: each item is in another one, and some are jumped over
}

// ChunkPart is the selected part of one chunk.
type ChunkPart struct {
	Number int64     // in C order of the chunk grid
	Coord  grid.Dims // place in the chunk grid
	Origin grid.Dims // coordinates of the first item
	Whole  bool      // every item of the chunk that lies inside the array is selected
	Items  int64     // selected

	at     grid.Dims // counts the touched chunks along each axis
	Lo, Hi grid.Dims // the selected items along each axis: lo <= k < hi
}

// NewPlan makes the plan of a selection that was resolved for the same shape.
func NewPlan(g *grid.Geometry, s *Selection) Plan {
	p := Plan{Geo: g, Items: s.Items, Chunks: 1, moved: moved{size: int(g.ItemSize)}}
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

// slice plans an axis. stride is how far neighbours are from each other on the user side, in items.
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

// below returns how many selected items along the axis have a coordinate below x.
func (a *planAxis) below(x int64) int64 {
	if x <= a.First {
		return 0
	}
	if a.step == 1 {
		return min(x-a.First, a.count)
	}
	return min((x-a.First-1)/a.step+1, a.count)
}

// Seek sets c to the i-th touched chunk, for 0 <= i < p.chunks. They are numbered in C order.
func (p *Plan) Seek(c *ChunkPart, i int64) {
	g := p.Geo
	c.Number, c.Items, c.Whole = 0, 1, true
	for axis := g.Ndim - 1; axis >= 0; axis-- {
		n := p.Axes[axis].chunks
		c.at[axis] = i % n
		i /= n
		p.place(c, axis)
		n = c.Hi[axis] - c.Lo[axis]
		c.Number += c.Coord[axis] * g.GridStride[axis]
		c.Items *= n
		c.Whole = c.Whole && n == min(g.ChunkShape[axis], g.Shape[axis]-c.Origin[axis])
	}
}

// place computes what depends on c.at along one axis.
func (p *Plan) place(c *ChunkPart, axis int) {
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

// AppendBlocks appends the numbers of the touched blocks of a chunk to dst, which is empty, in ascending order.
func (p *Plan) AppendBlocks(dst []int32, c *ChunkPart) []int32 {
	dst = append(dst, 0)
	for axis := p.Geo.Ndim - 1; axis >= 0; axis-- {
		dst = p.appendAxis(dst, c, axis)
	}
	return dst
}

// appendAxis replaces each number in dst by its sums with the numbers of the touched blocks along an axis: first the sums
// with the first block, in the order of dst, then those with the second, and so on.
func (p *Plan) appendAxis(dst []int32, c *ChunkPart, axis int) []int32 {
	a, size, number := &p.Axes[axis], p.Geo.BlockShape[axis], p.Geo.BlockNumber[axis]
	n, first := len(dst), int32(0)
	for k := c.Lo[axis]; k < c.Hi[axis]; {
		coord := (a.First + k*a.step - c.Origin[axis]) / size
		block := int32(coord * number)
		if k == c.Lo[axis] {
			first = block
		} else {
			dst = appendSums(dst, n, block)
		}
		k = a.below(c.Origin[axis] + (coord+1)*size)
	}
	for i := range dst[:n] {
		dst[i] += first
	}
	return dst
}

// appendSums appends the first n numbers, each with x added.
func appendSums(dst []int32, n int, x int32) []int32 {
	for _, y := range dst[:n] {
		dst = append(dst, x+y)
	}
	return dst
}

// Box sets dst to the selected items of a block of the chunk, and returns whether there are any.
func (p *Plan) Box(dst *Box, c *ChunkPart, block int32) bool {
	g := p.Geo
	dst.Ndim, dst.Items, dst.whole = g.Ndim, 1, true
	dst.Block.Offset, dst.User.Offset = 0, p.user
	rest := int64(block)
	for i := range g.Ndim {
		a, size := &p.Axes[i], g.BlockShape[i]
		coord := rest / g.BlockNumber[i]
		rest -= coord * g.BlockNumber[i]
		inside := coord * size // of the block's first item inside the chunk
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

// chunkBox sets dst to all selected items of a chunk, with a user side only: a chunk of one value needs no more.
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

// BlockCount returns about the number of blocks that the plan touches.
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

// Stand sets the strides and the offset of the items on the user side, if they are a part of that. No step may be negative.
func (p *Plan) Stand(stride *grid.Dims, offset int64) {
	for i := range p.Geo.Ndim {
		p.Axes[i].stride = stride[i]
	}
	p.user = offset
}
