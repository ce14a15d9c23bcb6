package ndarray

import (
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/ndcopy"
)

// side is where the items of a box are in a buffer: item k of each axis is at offset + sum of k*stride, in items.
type side struct {
	offset int64
	stride dims
}

// box is a set of items, count of them along each axis, that are moved between a decoded block and the user side.
type box struct {
	ndim  int
	count dims
	items int64 // product of the counts
	block side
	user  side

	// whole is set when the box has all items of the block that belong to the chunk and lie inside the array. Writing it
	// needs no old content of the block.
	whole bool
}

// packed returns the user side of a box whose items stand alone, in C order.
func (b *box) packed() (s side) {
	strides(&s.stride, b.count[:b.ndim])
	return s
}

// copyOf returns the copy of a box of items. The sides must not overlap.
func copyOf(to, from *side, count *dims, ndim, itemSize int) (c ndcopy.Copy) {
	c.Begin(int(to.offset)*itemSize, int(from.offset)*itemSize, itemSize)
	for i := range ndim {
		c.Loop(int(count[i]), int(to.stride[i])*itemSize, int(from.stride[i])*itemSize)
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
	count      [maxDims]int
	user, item [maxDims]int // steps, in bytes
}

// itemSize returns the size of an item, if items are moved as they are and once, or 0.
func (p *plan) itemSize() int {
	if m := &p.moved; m.n == 0 && m.size == int(p.geo.itemSize) {
		return m.size
	}
	return 0
}

// loops sets c to the copy of a box from a block to the user side, or for a box without a block side, from an item.
func (p *plan) loops(c *ndcopy.Copy, b *box) {
	m, itemSize := &p.moved, int(p.geo.itemSize)
	c.Begin(int(b.user.offset)*m.size, int(b.block.offset)*itemSize+m.offset, m.size)
	for i := range b.ndim {
		c.Loop(int(b.count[i]), int(b.user.stride[i])*m.size, int(b.block.stride[i])*itemSize)
	}
	for i := range m.n {
		c.Loop(m.count[i], m.user[i], m.item[i])
	}
}

// read answers about a block of a chunk that is read to dst.
func (p *plan) read(b *engine.Block, c *chunkPart, k int, dst []byte) {
	b.Data, b.ItemSize, b.Need, b.Mover = dst, p.itemSize(), 0, nil
	var x box
	if !p.box(&x, c, int32(k)) {
		b.Copy.Begin(0, 0, 0)
		return
	}
	p.loops(&b.Copy, &x)
	b.Copy.Simplify()
	b.Need = b.Copy.SrcEnd()
}

// write answers about a block of a chunk that is written from src, or if one is set, with src as every item.
func (p *plan) write(b *engine.Block, c *chunkPart, k int, src []byte, one bool) {
	b.Data, b.ItemSize, b.Keep, b.Mover = src, p.itemSize(), engine.KeepAll, nil
	var x box
	if !p.box(&x, c, int32(k)) {
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
	b.Keep = p.keep(x.whole)
}

// keep returns how much of a block is kept that is written, of which all or some items are selected.
func (p *plan) keep(whole bool) engine.Keep {
	if whole && p.moved.size == int(p.geo.itemSize) {
		return engine.KeepNone
	}
	return engine.KeepSome
}

// fill sets the items of a chunk on the user side to the moved bytes of an item.
func (p *plan) fill(c *chunkPart, dst, item []byte) {
	var x box
	p.chunkBox(&x, c)
	var l ndcopy.Copy
	p.loops(&l, &x)
	l.Simplify()
	l.Run(dst, item)
}
