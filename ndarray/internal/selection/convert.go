package selection

import (
	"slices"

	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/ndcopy"
	"github.com/goblosc/blosc2/ndarray/internal/numbers"
)

// piece is the number of items that a converter gathers or scatters at once, so that they stay in the cache.
const piece = 256

// converter converts the items of a box on their way from a block to the user side.
type converter struct {
	part    *itemPart
	in, out []byte // items that are not contiguous in the block or on the user side
	one     ndcopy.Copy
}

// run converts the items of a copy with simplified loops, whose rows are items.
func (v *converter) run(c *ndcopy.Copy, dst, src []byte) {
	width, wide := v.part.size, v.part.wide
	if c.N == 0 {
		v.part.convert.Run(dst[c.Dst:c.Dst+wide], src[c.Src:c.Src+width])
		return
	}
	inner := c.N - 1
	n, ds, ss := c.Count[inner], c.DstStep[inner], c.SrcStep[inner]
	if ds == wide && ss == width {
		c.N = inner // the innermost loop is a row
		v.rows(c, dst, src, n)
		c.N++
		return
	}
	p := c.Start()
	for {
		v.line(dst, src, p.Dst, p.Src, n, ds, ss)
		if !c.Next(&p) {
			return
		}
	}
}

// rows converts the items of a copy whose rows are n contiguous items on both sides.
func (v *converter) rows(c *ndcopy.Copy, dst, src []byte, n int) {
	r := numbers.Rows{N: 1, DstLen: n * v.part.wide, SrcLen: n * v.part.size}
	if k := c.N - 1; k >= 0 {
		r.N, r.DstStep, r.SrcStep = c.Count[k], c.DstStep[k], c.SrcStep[k]
	}
	p := c.Start()
	for {
		r.Dst, r.Src = p.Dst, p.Src
		r.Ahead, _ = c.Ahead(&p)
		v.part.convert.Rows(dst, src, r)
		if !c.Next(&p) {
			return
		}
	}
}

// line converts n items. The first is at d in dst and s in src. The items are ds bytes apart in dst and ss bytes apart
// in src.
func (v *converter) line(dst, src []byte, d, s, n, ds, ss int) {
	width, wide := v.part.size, v.part.wide
	for n > 0 {
		k := min(n, piece)
		from := src[s:]
		if ss != width {
			v.in = grown(v.in, k*width)
			v.one.Begin(0, s, width)
			v.one.Loop(k, width, ss)
			v.one.Run(v.in, src)
			from = v.in
		}
		if ds == wide {
			v.part.convert.Run(dst[d:d+k*wide], from[:k*width])
		} else {
			v.out = grown(v.out, k*wide)
			v.part.convert.Run(v.out, from[:k*width])
			v.one.Begin(d, 0, wide)
			v.one.Loop(k, ds, wide)
			v.one.Run(dst, v.out)
		}
		n, d, s = n-k, d+k*ds, s+k*ss
	}
}

// grown returns memory of n bytes, in b if that is large enough.
func grown(b []byte, n int) []byte { return slices.Grow(b[:0], n)[:n] }

// convertMover is the engine.Mover of a block whose items are converted.
type convertMover struct {
	converter
	copy ndcopy.Copy
	some bool // items of the block are selected
	dst  []byte

	// For Unshuffle.
	packed, rest ndcopy.Copy // to rows, and from there
	rows         []byte
}

// Move implements engine.Mover.
func (m *convertMover) Move(block []byte, _ bool) error {
	if m.some {
		m.run(&m.copy, m.dst, block)
	}
	return nil
}

// Reset implements engine.Resetter.
func (m *convertMover) Reset() { m.part, m.dst = nil, nil }

// Unshuffle implements engine.Mover. It unshuffles some items to memory that stays in the cache, converts them, and
// continues with the next items.
func (m *convertMover) Unshuffle(block coder.Shuffled) bool {
	if !m.some {
		return true
	}
	c, size := &m.copy, m.part.size
	// Some turns of loop k are done at once, with all loops in it.
	most := max(piece, unshuffled/size)
	k, items, all, turns := c.N, 1, 1, 1
	for k > 1 && items*c.Count[k-1] <= most {
		k--
		items *= c.Count[k]
	}
	if k > 0 {
		k--
		all = c.Count[k]
		turns = min(all, most/items)
	}
	m.pack(k, turns)
	if !block.RowsFaster(c.Bytes()/size, m.packed.Width/size) {
		return false
	}
	m.rows = grown(m.rows, items*turns*size)
	outer := *c
	outer.N = k + 1 // Next goes through all loops except the last
	p := outer.Start()
	for {
		for at := 0; at < all; at += turns {
			if left := all - at; left < turns {
				m.pack(k, left)
			}
			m.packed.Src, m.rest.Dst = p.Src, p.Dst
			if at > 0 {
				m.packed.Src += at * c.SrcStep[k]
				m.rest.Dst += at * c.DstStep[k]
			}
			m.packed.Unshuffle(m.rows, block)
			m.run(&m.rest, m.dst, m.rows)
		}
		if !outer.Next(&p) {
			return true
		}
		if all%turns > 0 {
			m.pack(k, turns)
		}
	}
}

// unshuffled is the number of bytes that Unshuffle converts at once.
const unshuffled = 8 << 10

// pack sets m.packed to a copy of n turns of loop k of m.copy, and of the loops in it, to contiguous items. It sets
// m.rest to the copy of these items.
func (m *convertMover) pack(k, n int) {
	c := &m.copy
	m.packed.Begin(0, 0, c.Width)
	m.rest.Begin(0, 0, c.Width)
	step := c.Bytes()
	for i := range c.N {
		step /= c.Count[i]
		count := c.Count[i]
		if i < k {
			continue
		} else if i == k {
			count = n
		}
		m.packed.Loop(count, step, c.SrcStep[i])
		m.rest.Loop(count, c.DstStep[i], step)
	}
	m.packed.Simplify()
	m.rest.SimplifyLoops()
}

// readConverted is Read with a conversion.
func (p *Plan) readConverted(b *engine.Block, c *ChunkPart, k, n int, dst []byte) {
	m := engine.MoverOf[convertMover](b)
	b.Data, b.ItemSize, b.Need = nil, 0, 0
	if p.part.n == 0 && p.part.size == int(p.Geo.ItemSize) {
		b.ItemSize = p.part.size
	}
	m.part, m.dst = &p.part, dst
	var x Box
	if m.some = p.Box(&x, c, int32(k)); m.some {
		p.loops(&m.copy, &x)
		m.copy.SimplifyLoops()
		if b.Need = n; !x.whole {
			b.Need = m.copy.SrcEnd()
		}
	}
}

// fillConverted is Fill with a conversion, for a box without a block side.
func (p *Plan) fillConverted(c *ChunkPart, x *Box, dst, item []byte) {
	m := &p.part
	var l ndcopy.Copy
	if m.n > 0 {
		v := converter{part: m}
		p.loops(&l, x)
		l.SimplifyLoops()
		v.run(&l, dst, item)
		return
	}
	c.item = grown(c.item, m.wide)
	m.convert.Run(c.item, item[m.offset:m.offset+m.size])
	l.Begin(int(x.User.Offset)*m.wide, 0, m.wide)
	for i := range x.Ndim {
		l.Loop(int(x.Count[i]), int(x.User.Stride[i])*m.wide, 0)
	}
	l.Simplify()
	l.Run(dst, c.item)
}

// convertPoints converts the items of the box for each listed item. See ListMover.list.
func (t *ListMover) convertPoints(points []listed, d, s int, to, from steps) {
	v, c := &t.convert, &t.copy
	v.part = &t.Plan.part
	if c.N > 0 {
		for k := range points {
			c.Dst, c.Src = d+to.offset(&points[k]), s+from.offset(&points[k])
			v.run(c, t.dst, t.src)
		}
		return
	}
	v.points(t.dst, t.src, points, d, s, to, from)
}

// points converts one item of src for each listed item.
func (v *converter) points(dst, src []byte, points []listed, d, s int, to, from steps) {
	width, wide := v.part.size, v.part.wide
	for len(points) > 0 {
		n := min(len(points), piece)
		v.in, v.out = grown(v.in, n*width), grown(v.out, n*wide)
		for k := range points[:n] {
			i := s + from.offset(&points[k])
			copy(v.in[k*width:(k+1)*width], src[i:i+width])
		}
		v.part.convert.Run(v.out, v.in)
		for k := range points[:n] {
			i := d + to.offset(&points[k])
			copy(dst[i:i+wide], v.out[k*wide:(k+1)*wide])
		}
		points = points[n:]
	}
}
