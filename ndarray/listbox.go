package ndarray

import (
	"slices"

	"github.com/goblosc/blosc2/internal/ndcopy"
)

// covers tells whether every item of the chunk that lies inside the array is selected.
func (p *listPlan) covers(c *listPart) bool {
	if !c.whole {
		return false
	}
	g := p.geo
	for i := range p.lists {
		want, have, last := int64(1), int64(0), int64(-1)
		for axis := range g.ndim {
			if int(p.owner[axis]) == i+1 {
				want *= min(g.chunkShape[axis], g.shape[axis]-c.origin[axis])
			}
		}
		points := p.lists[i].points[c.from[i]:c.to[i]]
		if int64(len(points)) < want {
			return false
		}
		for k := range points {
			if points[k].key != last {
				last = points[k].key
				have++
			}
		}
		if have < want {
			return false
		}
	}
	return true
}

// touched returns how many blocks of a chunk are touched, or a larger number, but at most most+1.
func (p *listPlan) touched(c *listPart, most int64) int64 {
	n := min(c.items, most+1)
	for i := range p.lists {
		n = min(n*min(int64(c.to[i]-c.from[i]), most+1), most+1)
	}
	return n
}

// appendBlocks appends the numbers of the touched blocks of a chunk to dst, which is empty, in ascending order.
func (p *listPlan) appendBlocks(dst []int32, c *listPart) []int32 {
	g := p.geo
	dst = append(dst, 0)
	for i := range p.lists {
		n, first, end := len(dst), int32(0), int64(-1)
		points := p.lists[i].points[c.from[i]:c.to[i]]
		for k := range points {
			if points[k].key < end {
				continue
			}
			block := (points[k].key - c.base[i]) / g.blockBytes
			if end < 0 {
				first = int32(block)
			} else {
				dst = appendSums(dst, n, int32(block))
			}
			end = c.base[i] + (block+1)*g.blockBytes
		}
		for i := range dst[:n] {
			dst[i] += first
		}
	}
	for axis := range g.ndim {
		if p.owner[axis] > 0 {
			continue
		}
		dst = p.appendAxis(dst, &c.chunkPart, axis)
	}
	if !slices.IsSorted(dst) {
		slices.Sort(dst)
	}
	return dst
}

// box sets dst to the selected items of a block of the chunk, and returns whether there are any.
func (p *listPlan) box(dst *listBox, c *listPart, block int32) bool {
	g := p.geo
	dst.box = box{ndim: g.ndim, items: 1}
	dst.user.offset = p.user
	dst.base = c.base
	rest := int64(block)
	for i := range g.ndim {
		coord := rest / g.blockNumber[i]
		rest -= coord * g.blockNumber[i]
		dst.count[i] = 1
		if list := int(p.owner[i]) - 1; list >= 0 {
			dst.base[list] += coord * g.blockNumber[i] * g.blockBytes
			continue
		}
		a, size := &p.axes[i], g.blockShape[i]
		origin := c.origin[i] + coord*size
		lo, hi := a.below(origin), min(a.below(origin+size), c.hi[i])
		if lo >= hi {
			return false
		}
		dst.count[i] = hi - lo
		dst.items *= hi - lo
		dst.block.offset += (a.first + lo*a.step - origin) * g.itemStride[i]
		dst.block.stride[i] = a.step * g.itemStride[i]
		dst.user.offset += lo * a.stride
		dst.user.stride[i] = a.stride
	}
	for i := range p.lists {
		points := p.lists[i].points[:c.to[i]]
		dst.from[i] = c.from[i] + below(points[c.from[i]:], dst.base[i])
		dst.to[i] = dst.from[i] + below(points[dst.from[i]:], dst.base[i]+g.blockBytes)
		if dst.from[i] == dst.to[i] {
			return false
		}
	}
	return true
}

// end returns the offset after the last byte of a block that is selected.
func (p *listPlan) end(b *listBox) int {
	var c ndcopy.Copy
	p.loops(&c, &b.box)
	end := c.SrcEnd()
	for i := range p.lists {
		end += int(p.lists[i].points[b.to[i]-1].key - b.base[i]) // of the last item of the list, as they are sorted
	}
	return end
}

// chunkBox sets dst to all selected items of a chunk, with a user side only: a chunk of one value needs no more.
func (p *listPlan) chunkBox(dst *listBox, c *listPart) {
	dst.box = box{ndim: p.geo.ndim, items: 1}
	dst.from, dst.to, dst.base = c.from, c.to, c.base
	dst.user.offset = p.user
	for i := range p.geo.ndim {
		dst.count[i] = 1
		if p.owner[i] == 0 {
			a := &p.axes[i]
			dst.count[i] = c.hi[i] - c.lo[i]
			dst.items *= dst.count[i]
			dst.user.offset += c.lo[i] * a.stride
			dst.user.stride[i] = a.stride
		}
	}
}
