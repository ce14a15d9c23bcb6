package ndarray

import (
	"encoding/binary"

	"github.com/goblosc/blosc2/internal/coder"
)

// transfer moves the items of a listBox between a block and the user side.
type transfer struct {
	plan     *listPlan
	part     *listBox
	dst, src []byte
	itemSize int
	toBlock  bool  // else to the user side
	one      bool  // src is one item for all; of the array when it goes to the user side
	loops    loops // of the box, for the sum of all offsets
	width    int   // bytes that the loops move at once

	apart bool // the bytes of the items of the block still lie apart: it is in block, not in src
	block coder.Shuffled
}

// run moves all items. Of several that go to the same place, the one that stands last in C order of the user side
// stays.
func (t *transfer) run() {
	l, q := &t.loops, &t.plan.pieces
	q.loops(l, &t.part.box, t.itemSize)
	if t.toBlock {
		l.flip()
		if t.one {
			l.srcOff, l.src = 0, [maxDims]int{}
		}
	}
	l.order()
	t.width = q.size
	if k := l.n - 1; k >= 0 && l.dst[k] == t.width && l.src[k] == t.width {
		t.width *= l.count[k]
		l.n--
	}
	// The innermost loop should be the one with the smallest steps on the user side: that of the last list, or of the box.
	step := &l.dst
	if t.toBlock {
		step = &l.src
	}
	if k := l.n - 1; k >= 0 && t.plan.lists[len(t.plan.lists)-1].stride*int64(q.size) < int64(max(step[k], -step[k])) {
		t.outside(0, l.dstOff, l.srcOff)
		return
	}
	t.list(0, l.dstOff, l.srcOff)
}

// outside runs the loops of the box from loop i on around those over the lists.
func (t *transfer) outside(i, d, s int) {
	l := &t.loops
	if i == l.n {
		l.n = 0
		t.list(0, d, s)
		l.n = i
		return
	}
	for range l.count[i] {
		t.outside(i+1, d, s)
		d += l.dst[i]
		s += l.src[i]
	}
}

// list moves the items of list i and of those behind it, for one combination of the lists before it, whose offsets
// are in d and s, in bytes.
func (t *transfer) list(i, d, s int) {
	q := &t.plan.lists[i]
	points := q.points[t.part.from[i]:t.part.to[i]]
	place, key := steps{at: int(q.stride) * t.plan.pieces.size}, steps{key: 1}
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
	case t.apart && i+1 == len(t.plan.lists):
		for k := range points {
			t.loops.dstOff, t.loops.srcOff = d+to.offset(&points[k]), s+from.offset(&points[k])
			t.loops.unshuffle(t.dst, t.block, t.width/t.itemSize)
		}
	case i+1 < len(t.plan.lists):
		for k := range points {
			t.list(i+1, d+to.offset(&points[k]), s+from.offset(&points[k]))
		}
	case t.loops.n == 0:
		movePoints(t.dst, t.src, points, d, s, to, from, t.width)
	default:
		for k := range points {
			t.loops.dstOff, t.loops.srcOff = d+to.offset(&points[k]), s+from.offset(&points[k])
			t.loops.run(t.dst, t.src, t.width)
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
