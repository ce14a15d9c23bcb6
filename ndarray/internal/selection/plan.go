package selection

import (
	"math"

	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/ndcopy"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/numbers"
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

	ItemSize int // size of an item in bytes if whole items are copied, each once; otherwise 0
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

// itemPart describes which bytes of an item of the array are copied, and their layout on the user side: size bytes from
// an offset, and more of them if the axes of a view run along the bytes of an item or repeat them. Without a view,
// whole items are copied.
type itemPart struct {
	size   int // bytes that are copied or converted
	wide   int // bytes of an item on the user side
	offset int // first byte in an item of a block

	// convert converts items of size bytes to items of wide bytes. The zero Loop means that they are the same.
	convert numbers.Loop

	n          int // number of loops over the item
	count      [grid.MaxDims]int
	user, item [grid.MaxDims]int // steps in bytes
}

// Side describes the locations of the items of a box in a buffer: the item with index k[i] along each axis i is at
// Offset + sum of k[i]*Stride[i], counted in items.
type Side struct {
	Offset int64
	Stride grid.Dims
}

// Box is a set of items, Count[i] of them along each axis i, that are copied between a decoded block and the user side.
type Box struct {
	Ndim  int
	Count grid.Dims
	Items int64 // product of the counts
	Block Side
	User  Side

	// whole is set if the box has all items of the block that belong to the chunk and lie inside the array. Writing
	// such a box needs no previous contents of the block. Reading it decodes the padding, too, so that the codec checks
	// the end of its streams, as it does if the block has no padding. Otherwise only padding and items that are not
	// read follow after the last item, and they are not decoded.
	whole bool
}

// Packed returns a side on which the items of the box are contiguous, in C order.
func (b *Box) Packed() (s Side) {
	grid.Strides(&s.Stride, b.Count[:b.Ndim])
	return s
}

// CopyOf returns the copy of a box of items from one side to the other. The sides must not overlap.
func CopyOf(to, from *Side, count *grid.Dims, ndim, itemSize int) (c ndcopy.Copy) {
	c.Begin(int(to.Offset)*itemSize, int(from.Offset)*itemSize, itemSize)
	for i := range ndim {
		c.Loop(int(count[i]), int(to.Stride[i])*itemSize, int(from.Stride[i])*itemSize)
	}
	c.Simplify()
	return c
}

// NewPlan returns the plan of a selection that was resolved for the shape of g.
func NewPlan(g *grid.Geometry, s *Selection) Plan {
	size := int(g.ItemSize)
	p := Plan{Geo: g, Items: s.Items, Chunks: 1, ItemSize: size, part: itemPart{size: size, wide: size}}
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

// loops sets c to the copy of a box from a block to the user side. For a box without a block side it sets c to the copy
// of one item.
func (p *Plan) loops(c *ndcopy.Copy, b *Box) {
	m, itemSize := &p.part, int(p.Geo.ItemSize)
	c.Begin(int(b.User.Offset)*m.wide, int(b.Block.Offset)*itemSize+m.offset, m.size)
	for i := range b.Ndim {
		c.Loop(int(b.Count[i]), int(b.User.Stride[i])*m.wide, int(b.Block.Stride[i])*itemSize)
	}
	for i := range m.n {
		c.Loop(m.count[i], m.user[i], m.item[i])
	}
}

// Read tells the engine how to copy block k of a chunk, which has n bytes, to dst.
func (p *Plan) Read(b *engine.Block, c *ChunkPart, k, n int, dst []byte) {
	if !p.part.convert.None() {
		p.readConverted(b, c, k, n, dst)
		return
	}
	b.Data, b.ItemSize, b.Need, b.Mover = dst, p.ItemSize, 0, nil
	var x Box
	if !p.Box(&x, c, int32(k)) {
		b.Copy.Begin(0, 0, 0)
		return
	}
	p.loops(&b.Copy, &x)
	b.Copy.Simplify()
	if b.Need = n; !x.whole {
		b.Need = b.Copy.SrcEnd()
	}
}

// Write tells the engine how to fill block k of a chunk from src. If one is set, src is one item, which is written to
// every selected item.
func (p *Plan) Write(b *engine.Block, c *ChunkPart, k int, src []byte, one bool) {
	b.Data, b.ItemSize, b.Keep, b.Mover = src, p.ItemSize, engine.KeepAll, nil
	var x Box
	if !p.Box(&x, c, int32(k)) {
		b.Copy.Begin(0, 0, 0)
		return
	}
	p.loops(&b.Copy, &x)
	b.Copy.Flip()
	if one {
		b.ItemSize = 0
		b.Copy.Repeat()
	}
	b.Copy.Simplify()
	b.Keep = p.Keep(x.whole)
}

// Keep returns how much of the previous contents of a block a write needs. whole means that all items are selected.
func (p *Plan) Keep(whole bool) engine.Keep {
	if whole && p.part.size == int(p.Geo.ItemSize) {
		return engine.KeepNone
	}
	return engine.KeepSome
}

// Fill sets the items of a chunk on the user side to one item.
func (p *Plan) Fill(c *ChunkPart, dst, item []byte) {
	var x Box
	p.chunkBox(&x, c)
	if !p.part.convert.None() {
		p.fillConverted(c, &x, dst, item)
		return
	}
	var l ndcopy.Copy
	p.loops(&l, &x)
	l.Simplify()
	l.Run(dst, item)
}
