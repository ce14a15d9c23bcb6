package ndarray

import (
	"encoding/binary"

	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/ndcopy"
)

// listMover is the engine.Mover of a block of which some axes are listed: it moves the items of a listBox.
type listMover struct {
	plan     *listPlan
	part     listBox
	some     bool   // a part of the block is selected
	user     []byte // the user side
	toBlock  bool   // else to the user side
	one      bool   // the source is one item for all; of the array when it goes to the user side
	dst, src []byte
	copy     ndcopy.Copy // of the box, for the sum of all offsets

	shuffled bool // the block is still shuffled: it is in block, not in src
	block    coder.Shuffled
}

// listMoverOf returns the mover of the last answer of the plan, or a new one.
func listMoverOf(b *engine.Block) *listMover {
	m, ok := b.Mover.(*listMover)
	if !ok {
		m = new(listMover)
		b.Mover = m
	}
	return m
}

// Move implements engine.Mover.
func (t *listMover) Move(block []byte, kept bool) error {
	if t.toBlock && !kept {
		clear(block) // the padding
	}
	if !t.some {
		return nil
	}
	if t.shuffled = false; t.toBlock {
		t.dst, t.src = block, t.user
	} else {
		t.dst, t.src = t.user, block
	}
	t.run()
	return nil
}

// Unshuffle implements engine.Mover: where a block has few of the items, no others are unshuffled.
func (t *listMover) Unshuffle(block coder.Shuffled) bool {
	if !t.some {
		return true
	}
	n := t.part.items
	for i := range t.plan.lists {
		if n *= int64(t.part.to[i] - t.part.from[i]); n > t.plan.geo.blockItems || !block.RowsPay(int(n), 1) {
			return false
		}
	}
	t.dst, t.block, t.shuffled = t.user, block, true
	t.run()
	return true
}

// run moves all items. Of several items for the same destination, the last one in C order of the user side is moved last.
func (t *listMover) run() {
	c := &t.copy
	t.plan.loops(c, &t.part.box)
	if t.toBlock {
		c.Flip()
		if t.one {
			c.Repeat()
		}
	}
	c.Simplify()
	// The innermost loop should have the smallest steps on the user side: that of the last list, or of the box.
	step := &c.DstStep
	if t.toBlock {
		step = &c.SrcStep
	}
	last := t.plan.lists[len(t.plan.lists)-1].stride * int64(t.plan.moved.size)
	if k := c.N - 1; k >= 0 && last < int64(max(step[k], -step[k])) {
		t.outside(0, c.Dst, c.Src)
		return
	}
	t.list(0, c.Dst, c.Src)
}

// outside runs the loops of the box, from loop i, around the loops over the lists.
func (t *listMover) outside(i, d, s int) {
	c := &t.copy
	if i == c.N {
		c.N = 0
		t.list(0, d, s)
		c.N = i
		return
	}
	for range c.Count[i] {
		t.outside(i+1, d, s)
		d += c.DstStep[i]
		s += c.SrcStep[i]
	}
}

// list moves the items of list i and of the lists after it, for one combination of the lists before it, whose offsets
// are in d and s, in bytes.
func (t *listMover) list(i, d, s int) {
	q := &t.plan.lists[i]
	points := q.points[t.part.from[i]:t.part.to[i]]
	place, key := steps{at: int(q.stride) * t.plan.moved.size}, steps{key: 1}
	to, from := place, key
	if t.toBlock {
		to, from = key, place
	}
	if t.one {
		from = steps{}
	}
	d -= to.key * int(t.part.base[i])
	s -= from.key * int(t.part.base[i])
	switch {
	case t.shuffled && i+1 == len(t.plan.lists):
		for k := range points {
			t.copy.Dst, t.copy.Src = d+to.offset(&points[k]), s+from.offset(&points[k])
			t.copy.Unshuffle(t.dst, t.block)
		}
	case i+1 < len(t.plan.lists):
		for k := range points {
			t.list(i+1, d+to.offset(&points[k]), s+from.offset(&points[k]))
		}
	case t.copy.N == 0:
		movePoints(t.dst, t.src, points, d, s, to, from, t.copy.Width)
	default:
		for k := range points {
			t.copy.Dst, t.copy.Src = d+to.offset(&points[k]), s+from.offset(&points[k])
			t.copy.Run(t.dst, t.src)
		}
	}
}

// steps says how far in a buffer, in bytes, one step of a listed item's place and key leads.
type steps struct{ at, key int }

// offset returns where an item is. On 32 bits the terms may wrap around, but not the sum with its base.
func (x *steps) offset(p *listed) int { return x.at*int(p.at) + x.key*int(p.key) }

// movePoints copies a piece of width bytes for each item, in their order.
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
