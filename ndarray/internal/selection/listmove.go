package selection

import (
	"encoding/binary"

	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/ndcopy"
)

// ListMover is the engine.Mover of a block if some axes are listed. It copies the items of a listBox.
type ListMover struct {
	Plan     *ListPlan
	Part     listBox
	Some     bool   // items of the block are selected
	User     []byte // the user side
	ToBlock  bool   // copy to the block; otherwise to the user side
	One      bool   // the source is one item, for all items
	dst, src []byte
	copy     ndcopy.Copy // copies the box for one combination of listed items
	convert  converter

	shuffled bool // the source is block, which is still shuffled, instead of src
	block    coder.Shuffled
}

// Move implements engine.Mover.
func (t *ListMover) Move(block []byte, kept bool) error {
	if t.ToBlock && !kept {
		clear(block) // the padding
	}
	if !t.Some {
		return nil
	}
	if t.shuffled = false; t.ToBlock {
		t.dst, t.src = block, t.User
	} else {
		t.dst, t.src = t.User, block
	}
	t.run()
	return nil
}

// Unshuffle implements engine.Mover. If a block has few selected items, it unshuffles only these.
func (t *ListMover) Unshuffle(block coder.Shuffled) bool {
	if !t.Some {
		return true
	}
	if !t.Plan.part.convert.None() {
		return false
	}
	n := t.Part.Items
	for i := range t.Plan.Lists {
		if n *= int64(t.Part.to[i] - t.Part.from[i]); n > t.Plan.Geo.BlockItems || !block.RowsFaster(int(n), 1) {
			return false
		}
	}
	t.dst, t.block, t.shuffled = t.User, block, true
	t.run()
	return true
}

// run copies all items. If several items have the same destination, the last one in C order of the user side is copied
// last.
func (t *ListMover) run() {
	c := &t.copy
	t.Plan.loops(c, &t.Part.Box)
	if t.ToBlock {
		c.Flip()
		if t.One {
			c.Repeat()
		}
	}
	if !t.Plan.part.convert.None() {
		c.SimplifyLoops() // items on both sides have different sizes
	} else {
		c.Simplify()
	}
	// The innermost loop should have the smallest steps on the user side: the loop over the last list or over the box.
	step := &c.DstStep
	if t.ToBlock {
		step = &c.SrcStep
	}
	last := t.Plan.Lists[len(t.Plan.Lists)-1].stride * int64(t.Plan.part.wide)
	if k := c.N - 1; k >= 0 && last < int64(max(step[k], -step[k])) {
		t.boxLoop(0, c.Dst, c.Src)
		return
	}
	t.list(0, c.Dst, c.Src)
}

// boxLoop runs the loops of the box, starting at loop i, around the loops over the lists.
func (t *ListMover) boxLoop(i, d, s int) {
	c := &t.copy
	if i == c.N {
		c.N = 0
		t.list(0, d, s)
		c.N = i
		return
	}
	for range c.Count[i] {
		t.boxLoop(i+1, d, s)
		d += c.DstStep[i]
		s += c.SrcStep[i]
	}
}

// list copies the items of list i and of the lists after it, for one combination of items of the lists before it. d and
// s are the sums of the offsets of that combination, in bytes.
func (t *ListMover) list(i, d, s int) {
	q := &t.Plan.Lists[i]
	points := q.Points[t.Part.from[i]:t.Part.to[i]]
	user, block := steps{at: int(q.stride) * t.Plan.part.wide}, steps{key: 1}
	to, from := user, block
	if t.ToBlock {
		to, from = block, user
	}
	if t.One {
		from = steps{}
	}
	d -= to.key * int(t.Part.base[i])
	s -= from.key * int(t.Part.base[i])
	switch {
	case t.shuffled && i+1 == len(t.Plan.Lists):
		for k := range points {
			t.copy.Dst, t.copy.Src = d+to.offset(&points[k]), s+from.offset(&points[k])
			t.copy.Unshuffle(t.dst, t.block)
		}
	case i+1 < len(t.Plan.Lists):
		for k := range points {
			t.list(i+1, d+to.offset(&points[k]), s+from.offset(&points[k]))
		}
	case !t.Plan.part.convert.None():
		t.convertPoints(points, d, s, to, from)
	case t.copy.N == 0:
		movePoints(t.dst, t.src, points, d, s, to, from, t.copy.Width)
	default:
		for k := range points {
			t.copy.Dst, t.copy.Src = d+to.offset(&points[k]), s+from.offset(&points[k])
			t.copy.Run(t.dst, t.src)
		}
	}
}

// steps are the distances in a buffer, in bytes, between neighboring positions and keys of listed items.
type steps struct{ at, key int }

// offset returns the offset of an item. On 32-bit systems the terms may wrap around, but their sum with the base does
// not.
func (x *steps) offset(p *listed) int { return x.at*int(p.at) + x.key*int(p.key) }

// movePoints copies width bytes for each item, in the order of the points.
func movePoints(dst, src []byte, points []listed, d, s int, to, from steps, width int) {
	switch width {
	case 1:
		for k := range points {
			dst[d+to.offset(&points[k])] = src[s+from.offset(&points[k])]
		}
	case 2:
		for k := range points {
			i, j := d+to.offset(&points[k]), s+from.offset(&points[k])
			binary.NativeEndian.PutUint16(dst[i:i+2], binary.NativeEndian.Uint16(src[j:j+2]))
		}
	case 4:
		for k := range points {
			i, j := d+to.offset(&points[k]), s+from.offset(&points[k])
			binary.NativeEndian.PutUint32(dst[i:i+4], binary.NativeEndian.Uint32(src[j:j+4]))
		}
	case 8:
		for k := range points {
			i, j := d+to.offset(&points[k]), s+from.offset(&points[k])
			binary.NativeEndian.PutUint64(dst[i:i+8], binary.NativeEndian.Uint64(src[j:j+8]))
		}
	default:
		for k := range points {
			i, j := d+to.offset(&points[k]), s+from.offset(&points[k])
			copy(dst[i:i+width], src[j:j+width])
		}
	}
}
