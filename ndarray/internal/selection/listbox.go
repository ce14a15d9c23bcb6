package selection

import (
	"slices"

	"github.com/goblosc/blosc2/internal/ndcopy"
)

// Covers reports whether every item of the chunk that lies inside the array is selected.
func (p *ListPlan) Covers(c *ListPart) bool {
	if !c.Whole {
		return false
	}
	g := p.Geo
	for i := range p.Lists {
		want, have, last := int64(1), int64(0), int64(-1)
		for axis := range g.Ndim {
			if int(p.owner[axis]) == i+1 {
				want *= g.ChunkLength(axis, c.Origin[axis])
			}
		}
		points := p.Lists[i].Points[c.from[i]:c.to[i]]
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

// Touched returns an upper bound of the number of blocks of a chunk that hold selected items, at most most+1.
func (p *ListPlan) Touched(c *ListPart, most int64) int64 {
	n := min(c.Items, most+1)
	for i := range p.Lists {
		n = min(n*min(int64(c.to[i]-c.from[i]), most+1), most+1)
	}
	return n
}

// AppendBlocks appends the numbers of the blocks of a chunk that hold selected items to dst, which must be empty, in
// ascending order.
func (p *ListPlan) AppendBlocks(dst []int32, c *ListPart) []int32 {
	g := p.Geo
	dst = append(dst, 0)
	for i := range p.Lists {
		n, first, end := len(dst), int32(0), int64(-1)
		points := p.Lists[i].Points[c.from[i]:c.to[i]]
		for k := range points {
			if points[k].key < end {
				continue
			}
			block := (points[k].key - c.base[i]) / g.BlockBytes
			if end < 0 {
				first = int32(block)
			} else {
				for _, x := range dst[:n] {
					dst = append(dst, x+int32(block))
				}
			}
			end = c.base[i] + (block+1)*g.BlockBytes
		}
		for i := range dst[:n] {
			dst[i] += first
		}
	}
	for axis := range g.Ndim {
		if p.owner[axis] > 0 {
			continue
		}
		dst = p.appendAxis(dst, &c.ChunkPart, axis)
	}
	if !slices.IsSorted(dst) {
		slices.Sort(dst)
	}
	return dst
}

// Box sets dst to the selected items of a block of the chunk, and reports whether any item is selected.
func (p *ListPlan) Box(dst *listBox, c *ListPart, block int32) bool {
	g := p.Geo
	dst.Box = Box{Ndim: g.Ndim, Items: 1}
	dst.User.Offset = p.user
	dst.base = c.base
	rest := int64(block)
	for i := range g.Ndim {
		coord := rest / g.BlockNumber[i]
		rest -= coord * g.BlockNumber[i]
		dst.Count[i] = 1
		if list := int(p.owner[i]) - 1; list >= 0 {
			dst.base[list] += coord * g.BlockNumber[i] * g.BlockBytes
			continue
		}
		a, size := &p.Axes[i], g.BlockShape[i]
		origin := c.Origin[i] + coord*size
		lo, hi := a.below(origin), min(a.below(origin+size), c.Hi[i])
		if lo >= hi {
			return false
		}
		dst.Count[i] = hi - lo
		dst.Items *= hi - lo
		dst.Block.Offset += (a.First + lo*a.step - origin) * g.ItemStride[i]
		dst.Block.Stride[i] = a.step * g.ItemStride[i]
		dst.User.Offset += lo * a.stride
		dst.User.Stride[i] = a.stride
	}
	for i := range p.Lists {
		points := p.Lists[i].Points[:c.to[i]]
		dst.from[i] = c.from[i] + below(points[c.from[i]:], dst.base[i])
		dst.to[i] = dst.from[i] + below(points[dst.from[i]:], dst.base[i]+g.BlockBytes)
		if dst.from[i] == dst.to[i] {
			return false
		}
	}
	return true
}

// End returns the offset of the first byte after the selected items of a block.
func (p *ListPlan) End(b *listBox) int {
	var c ndcopy.Copy
	p.loops(&c, &b.Box)
	end := c.SrcEnd()
	for i := range p.Lists {
		end += int(p.Lists[i].Points[b.to[i]-1].key - b.base[i]) // keys are sorted: the last one is the largest
	}
	return end
}

// ChunkBox sets dst to all selected items of a chunk. It sets only the user side, which is enough for special chunks.
func (p *ListPlan) ChunkBox(dst *listBox, c *ListPart) {
	dst.Box = Box{Ndim: p.Geo.Ndim, Items: 1}
	dst.from, dst.to, dst.base = c.from, c.to, c.base
	dst.User.Offset = p.user
	for i := range p.Geo.Ndim {
		dst.Count[i] = 1
		if p.owner[i] == 0 {
			a := &p.Axes[i]
			dst.Count[i] = c.Hi[i] - c.Lo[i]
			dst.Items *= dst.Count[i]
			dst.User.Offset += c.Lo[i] * a.stride
			dst.User.Stride[i] = a.stride
		}
	}
}
