package selection

import (
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/ndcopy"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/numbers"
)

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
	// such a box needs no previous contents of the block.
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

// ItemSize returns the size of an item in bytes if whole items are copied, each once. Otherwise it returns 0.
func (p *Plan) ItemSize() int {
	if m := &p.part; m.n == 0 && m.size == int(p.Geo.ItemSize) && m.convert.None() {
		return m.size
	}
	return 0
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

// need returns the number of leading bytes that are decoded of a block of n bytes, if end is the offset after the items
// that are read. After the last item inside the array only padding follows. If all items are read, it is decoded too,
// so that the codec checks the end of its streams, as it does if the block has no padding.
func (b *Box) need(end, n int) int {
	if b.whole {
		return n
	}
	return end
}

// Read tells the engine how to copy block k of a chunk, which has n bytes, to dst.
func (p *Plan) Read(b *engine.Block, c *ChunkPart, k, n int, dst []byte) {
	if !p.part.convert.None() {
		p.readConverted(b, c, k, n, dst)
		return
	}
	b.Data, b.ItemSize, b.Need, b.Mover = dst, p.ItemSize(), 0, nil
	var x Box
	if !p.Box(&x, c, int32(k)) {
		b.Copy.Begin(0, 0, 0)
		return
	}
	p.loops(&b.Copy, &x)
	b.Copy.Simplify()
	b.Need = x.need(b.Copy.SrcEnd(), n)
}

// Write tells the engine how to fill block k of a chunk from src. If one is set, src is one item, which is written to
// every selected item.
func (p *Plan) Write(b *engine.Block, c *ChunkPart, k int, src []byte, one bool) {
	b.Data, b.ItemSize, b.Keep, b.Mover = src, p.ItemSize(), engine.KeepAll, nil
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
