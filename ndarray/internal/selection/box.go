package selection

import (
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/ndcopy"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// Side is where the items of a box are in a buffer: item k of each axis is at offset + sum of k*stride, in items.
type Side struct {
	Offset int64
	Stride grid.Dims
}

// Box is a set of items, count of them along each axis, that are moved between a decoded block and the user side.
type Box struct {
	Ndim  int
	Count grid.Dims
	Items int64 // product of the counts
	Block Side
	User  Side

	// whole is set when the box has all items of the block that belong to the chunk and lie inside the array. Writing it
	// needs no old content of the block.
	whole bool
}

// Packed returns the user side of a box whose items stand alone, in C order.
func (b *Box) Packed() (s Side) {
	grid.Strides(&s.Stride, b.Count[:b.Ndim])
	return s
}

// CopyOf returns the copy of a box of items. The sides must not overlap.
func CopyOf(to, from *Side, count *grid.Dims, ndim, itemSize int) (c ndcopy.Copy) {
	c.Begin(int(to.Offset)*itemSize, int(from.Offset)*itemSize, itemSize)
	for i := range ndim {
		c.Loop(int(count[i]), int(to.Stride[i])*itemSize, int(from.Stride[i])*itemSize)
	}
	c.Simplify()
	return c
}

// moved says which bytes of an item of the array are moved, and how they are laid out on the user side: size bytes from an
// offset, and more of them as the loops over the item take, or repeat, them. Without a view, items are moved as they are.
type moved struct {
	size   int // of an item on the user side
	offset int // in an item of a block

	n          int // loops
	count      [grid.MaxDims]int
	user, item [grid.MaxDims]int // steps, in bytes
}

// ItemSize returns the size of an item, if items are moved as they are and once, or 0.
func (p *Plan) ItemSize() int {
	if m := &p.moved; m.n == 0 && m.size == int(p.Geo.ItemSize) {
		return m.size
	}
	return 0
}

// loops sets c to the copy of a box from a block to the user side, or for a box without a block side, from an item.
func (p *Plan) loops(c *ndcopy.Copy, b *Box) {
	m, itemSize := &p.moved, int(p.Geo.ItemSize)
	c.Begin(int(b.User.Offset)*m.size, int(b.Block.Offset)*itemSize+m.offset, m.size)
	for i := range b.Ndim {
		c.Loop(int(b.Count[i]), int(b.User.Stride[i])*m.size, int(b.Block.Stride[i])*itemSize)
	}
	for i := range m.n {
		c.Loop(m.count[i], m.user[i], m.item[i])
	}
}

// Read answers about a block of a chunk that is read to dst.
func (p *Plan) Read(b *engine.Block, c *ChunkPart, k int, dst []byte) {
	b.Data, b.ItemSize, b.Need, b.Mover = dst, p.ItemSize(), 0, nil
	var x Box
	if !p.Box(&x, c, int32(k)) {
		b.Copy.Begin(0, 0, 0)
		return
	}
	p.loops(&b.Copy, &x)
	b.Copy.Simplify()
	b.Need = b.Copy.SrcEnd()
}

// Write answers about a block of a chunk that is written from src, or if one is set, with src as every item.
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

// Keep returns how much of a block is kept that is written, of which all or some items are selected.
func (p *Plan) Keep(whole bool) engine.Keep {
	if whole && p.moved.size == int(p.Geo.ItemSize) {
		return engine.KeepNone
	}
	return engine.KeepSome
}

// Fill sets the items of a chunk on the user side to the moved bytes of an item.
func (p *Plan) Fill(c *ChunkPart, dst, item []byte) {
	var x Box
	p.chunkBox(&x, c)
	var l ndcopy.Copy
	p.loops(&l, &x)
	l.Simplify()
	l.Run(dst, item)
}
