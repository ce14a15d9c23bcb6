package ndarray

import "math"

// plan says which items of which block go where in the result of a selection. It is pure arithmetic. After newPlan it is
// read-only, so that any number of goroutines may use it, each with its own chunkPart and box.
//
// The "user side" is the result when reading and the source when writing: items in C order of the selection's
// shape. Chunks, blocks and the items of a block are always visited in storage order; an axis with a negative step
// has a negative stride on the user side.
type plan struct {
	geo    *geometry
	axes   [maxDims]planAxis
	user   int64 // where the item of the lowest coordinates is on the user side
	items  int64 // selected
	chunks int64 // touched
	moved  moved
}

// planAxis is what is selected along one axis, by ascending coordinate: first + k*step for 0 <= k < count.
type planAxis struct {
	first, step, count int64
	stride             int64 // on the user side, in items; negative when the selection goes backwards
	chunks             int64 // touched along this axis
	sparse             bool  // the step is larger than a chunk: each item is in another one, and some are jumped over
}

// chunkPart is the selected part of one chunk.
type chunkPart struct {
	number int64 // in C order of the chunk grid
	coord  dims  // place in the chunk grid
	origin dims  // coordinates of the first item
	whole  bool  // every item of the chunk that lies inside the array is selected
	items  int64 // selected

	at     dims // counts the touched chunks along each axis
	lo, hi dims // the selected items along each axis: lo <= k < hi
}

// newPlan makes the plan of a selection that was resolved for the same shape.
func newPlan(g *geometry, s *selection) plan {
	p := plan{geo: g, items: s.items, chunks: 1, moved: moved{size: int(g.itemSize)}}
	if s.items == 0 {
		p.chunks = 0
		return p
	}
	stride := int64(1)
	for i := g.ndim - 1; i >= 0; i-- {
		p.slice(i, &s.axes[i], stride)
		stride *= s.axes[i].count
	}
	return p
}

// slice plans an axis. stride is how far neighbours are from each other on the user side, in items.
func (p *plan) slice(axis int, x *axisSelection, stride int64) {
	a := planAxis{first: x.start, step: x.step, count: x.count, stride: stride}
	if x.step < 0 {
		a.first += (x.count - 1) * x.step
		a.step = -x.step
		a.stride = -a.stride
		p.user -= (x.count - 1) * a.stride
	}
	c := p.geo.chunkShape[axis]
	a.sparse = a.step > c
	a.chunks = a.count
	if !a.sparse {
		a.chunks = (a.first+(a.count-1)*a.step)/c - a.first/c + 1
	}
	p.chunks *= a.chunks
	p.axes[axis] = a
}

// below returns how many selected items along the axis have a coordinate below x.
func (a *planAxis) below(x int64) int64 {
	if x <= a.first {
		return 0
	}
	if a.step == 1 {
		return min(x-a.first, a.count)
	}
	return min((x-a.first-1)/a.step+1, a.count)
}

// seek sets c to the i-th touched chunk, for 0 <= i < p.chunks. They are numbered in C order.
func (p *plan) seek(c *chunkPart, i int64) {
	g := p.geo
	c.number, c.items, c.whole = 0, 1, true
	for axis := g.ndim - 1; axis >= 0; axis-- {
		n := p.axes[axis].chunks
		c.at[axis] = i % n
		i /= n
		p.place(c, axis)
		n = c.hi[axis] - c.lo[axis]
		c.number += c.coord[axis] * g.gridStride[axis]
		c.items *= n
		c.whole = c.whole && n == min(g.chunkShape[axis], g.shape[axis]-c.origin[axis])
	}
}

// place computes what depends on c.at along one axis.
func (p *plan) place(c *chunkPart, axis int) {
	a, size := &p.axes[axis], p.geo.chunkShape[axis]
	if a.sparse {
		c.coord[axis] = (a.first + c.at[axis]*a.step) / size
	} else {
		c.coord[axis] = a.first/size + c.at[axis]
	}
	c.origin[axis] = c.coord[axis] * size
	c.lo[axis] = a.below(c.origin[axis])
	c.hi[axis] = a.below(c.origin[axis] + size)
}

// appendBlocks appends the numbers of the touched blocks of a chunk to dst, which is empty, in ascending order.
func (p *plan) appendBlocks(dst []int32, c *chunkPart) []int32 {
	dst = append(dst, 0)
	for axis := p.geo.ndim - 1; axis >= 0; axis-- {
		dst = p.appendAxis(dst, c, axis)
	}
	return dst
}

// appendAxis replaces each number in dst by its sums with the numbers of the touched blocks along an axis: first the sums
// with the first block, in the order of dst, then those with the second, and so on.
func (p *plan) appendAxis(dst []int32, c *chunkPart, axis int) []int32 {
	a, size, number := &p.axes[axis], p.geo.blockShape[axis], p.geo.blockNumber[axis]
	n, first := len(dst), int32(0)
	for k := c.lo[axis]; k < c.hi[axis]; {
		coord := (a.first + k*a.step - c.origin[axis]) / size
		block := int32(coord * number)
		if k == c.lo[axis] {
			first = block
		} else {
			dst = appendSums(dst, n, block)
		}
		k = a.below(c.origin[axis] + (coord+1)*size)
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

// box sets dst to the selected items of a block of the chunk, and returns whether there are any.
func (p *plan) box(dst *box, c *chunkPart, block int32) bool {
	g := p.geo
	dst.ndim, dst.items, dst.whole = g.ndim, 1, true
	dst.block.offset, dst.user.offset = 0, p.user
	rest := int64(block)
	for i := range g.ndim {
		a, size := &p.axes[i], g.blockShape[i]
		coord := rest / g.blockNumber[i]
		rest -= coord * g.blockNumber[i]
		inside := coord * size // of the block's first item inside the chunk
		origin := c.origin[i] + inside
		lo := a.below(origin)
		hi := min(a.below(origin+size), c.hi[i])
		if lo >= hi {
			dst.items = 0
			return false
		}
		n := hi - lo
		dst.count[i] = n
		dst.items *= n
		dst.block.offset += (a.first + lo*a.step - origin) * g.itemStride[i]
		dst.block.stride[i] = a.step * g.itemStride[i]
		dst.user.offset += lo * a.stride
		dst.user.stride[i] = a.stride
		dst.whole = dst.whole && n == min(size, g.chunkShape[i]-inside, g.shape[i]-origin)
	}
	return true
}

// chunkBox sets dst to all selected items of a chunk, with a user side only: a chunk of one value needs no more.
func (p *plan) chunkBox(dst *box, c *chunkPart) {
	*dst = box{ndim: p.geo.ndim, items: c.items, whole: c.whole}
	dst.user.offset = p.user
	for i := range p.geo.ndim {
		a := &p.axes[i]
		dst.count[i] = c.hi[i] - c.lo[i]
		dst.user.offset += c.lo[i] * a.stride
		dst.user.stride[i] = a.stride
	}
}

// blockCount returns about the number of blocks that the plan touches.
func (p *plan) blockCount() int64 {
	n := int64(1)
	for i := range p.geo.ndim {
		a := &p.axes[i]
		along := min(a.count, (a.count-1)*a.step/p.geo.blockShape[i]+a.chunks+1)
		if first, last := a.first, a.first+(a.count-1)*a.step; a.chunks == 1 {
			origin := first / p.geo.chunkShape[i] * p.geo.chunkShape[i]
			along = min(along, (last-origin)/p.geo.blockShape[i]-(first-origin)/p.geo.blockShape[i]+1)
		}
		if n = n * along; n > math.MaxInt32 {
			return math.MaxInt32
		}
	}
	return n
}

// stand sets the strides and the offset of the items on the user side, if they are a part of that. No step may be negative.
func (p *plan) stand(stride *dims, offset int64) {
	for i := range p.geo.ndim {
		p.axes[i].stride = stride[i]
	}
	p.user = offset
}
