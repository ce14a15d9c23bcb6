package ndarray

// plan says which items of which block go where in the result of a selection. It is arithmetic alone: nothing is
// materialised, and after newPlan it is read-only, so that any number of goroutines may walk it, each with its own
// chunkPart, blockPart and box.
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

// blockPart is the place of a walk over the touched blocks of a chunk.
type blockPart struct {
	number int32 // in C order of the block grid of the chunk
	coord  dims  // place in that grid
	next   dims  // the first selected item behind this block, along each axis; c.hi or more if there is none
}

// newPlan makes the plan of a selection that was resolved for the same shape.
func newPlan(g *geometry, s *selection) plan {
	p := plan{geo: g, items: s.items, chunks: 1}
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
	for axis := p.geo.ndim - 1; axis >= 0; axis-- {
		n := p.axes[axis].chunks
		c.at[axis] = i % n
		i /= n
		p.place(c, axis)
	}
	p.finish(c)
}

// first sets c to the first touched chunk and returns whether there is one.
func (p *plan) first(c *chunkPart) bool {
	if p.chunks == 0 {
		return false
	}
	p.seek(c, 0)
	return true
}

// next moves c to the next touched chunk and returns whether there is one.
func (p *plan) next(c *chunkPart) bool {
	for axis := p.geo.ndim - 1; axis >= 0; axis-- {
		c.at[axis]++
		if c.at[axis] < p.axes[axis].chunks {
			p.place(c, axis)
			p.finish(c)
			return true
		}
		c.at[axis] = 0
		p.place(c, axis)
	}
	return false
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

// finish computes what depends on all axes.
func (p *plan) finish(c *chunkPart) {
	g := p.geo
	c.number, c.items, c.whole = 0, 1, true
	for i := range g.ndim {
		n := c.hi[i] - c.lo[i]
		c.number += c.coord[i] * g.gridStride[i]
		c.items *= n
		c.whole = c.whole && n == min(g.chunkShape[i], g.shape[i]-c.origin[i])
	}
}

// firstBlock sets b to the first touched block of a chunk. There always is one.
func (p *plan) firstBlock(b *blockPart, c *chunkPart) {
	b.number = 0
	for axis := range p.geo.ndim {
		p.placeBlock(b, c, axis, c.lo[axis])
	}
}

// nextBlock moves b to the next touched block of a chunk and returns whether there is one.
func (p *plan) nextBlock(b *blockPart, c *chunkPart) bool {
	for axis := p.geo.ndim - 1; axis >= 0; axis-- {
		b.number -= int32(b.coord[axis] * p.geo.blockNumber[axis])
		if k := b.next[axis]; k < c.hi[axis] {
			p.placeBlock(b, c, axis, k)
			return true
		}
		p.placeBlock(b, c, axis, c.lo[axis])
	}
	return false
}

// placeBlock moves b along one axis to the block of the selected item k, from the first block of the axis.
func (p *plan) placeBlock(b *blockPart, c *chunkPart, axis int, k int64) {
	a, size := &p.axes[axis], p.geo.blockShape[axis]
	b.coord[axis] = (a.first + k*a.step - c.origin[axis]) / size
	b.next[axis] = a.below(c.origin[axis] + (b.coord[axis]+1)*size)
	b.number += int32(b.coord[axis] * p.geo.blockNumber[axis])
}

// appendBlocks appends the numbers of the touched blocks of a chunk to dst, in ascending order.
func (p *plan) appendBlocks(dst []int32, c *chunkPart) []int32 {
	var b blockPart
	p.firstBlock(&b, c)
	for {
		dst = append(dst, b.number)
		if !p.nextBlock(&b, c) {
			return dst
		}
	}
}

// box sets dst to the selected items of a block of the chunk, and returns whether there are any.
func (p *plan) box(dst *box, c *chunkPart, block int32) bool {
	g := p.geo
	dst.ndim, dst.items, dst.whole, dst.direct = g.ndim, 1, true, true
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
		dst.direct = dst.direct && n == size && (n == 1 || a.stride == g.itemStride[i])
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
