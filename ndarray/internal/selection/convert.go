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
	rows []byte // items that were unshuffled one by one
}

// Move implements engine.Mover.
func (m *convertMover) Move(block []byte, _ bool) error {
	if m.some {
		m.run(&m.copy, m.dst, block)
	}
	return nil
}

// Unshuffle implements engine.Mover. If a block has few selected items, it unshuffles only these.
func (m *convertMover) Unshuffle(block coder.Shuffled) bool {
	if !m.some {
		return true
	}
	n := m.copy.Bytes()
	if n > piece*m.part.size || !m.copy.UnshuffleIsFaster(block) {
		return false
	}
	m.rows = grown(m.rows, n)
	packed, rest := m.copy, m.copy
	packed.Dst, rest.Src = 0, 0
	step := packed.Width
	for i := packed.N - 1; i >= 0; i-- {
		packed.DstStep[i], rest.SrcStep[i] = step, step
		step *= packed.Count[i]
	}
	packed.Unshuffle(m.rows, block)
	m.run(&rest, m.dst, m.rows)
	return true
}

// readConverted is Read with a conversion.
func (p *Plan) readConverted(b *engine.Block, c *ChunkPart, k int, dst []byte) {
	m, ok := b.Mover.(*convertMover)
	if !ok {
		m = new(convertMover)
		b.Mover = m
	}
	b.Data, b.ItemSize, b.Need = nil, 0, 0
	if p.part.n == 0 && p.part.size == int(p.Geo.ItemSize) {
		b.ItemSize = p.part.size
	}
	m.part, m.dst = &p.part, dst
	var x Box
	if m.some = p.Box(&x, c, int32(k)); m.some {
		p.loops(&m.copy, &x)
		m.copy.SimplifyLoops()
		b.Need = m.copy.SrcEnd()
	}
}

// fillConverted is Fill with a conversion, for a box without a block side.
func (p *Plan) fillConverted(x *Box, dst, item []byte) {
	v, m := converter{part: &p.part}, &p.part
	var l ndcopy.Copy
	if m.n > 0 {
		p.loops(&l, x)
		l.SimplifyLoops()
		v.run(&l, dst, item)
		return
	}
	converted := make([]byte, m.wide)
	m.convert.Run(converted, item[m.offset:m.offset+m.size])
	l.Begin(int(x.User.Offset)*m.wide, 0, m.wide)
	for i := range x.Ndim {
		l.Loop(int(x.Count[i]), int(x.User.Stride[i])*m.wide, 0)
	}
	l.Simplify()
	l.Run(dst, converted)
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
	width, wide := v.part.size, v.part.wide
	for len(points) > 0 {
		n := min(len(points), piece)
		v.in, v.out = grown(v.in, n*width), grown(v.out, n*wide)
		for k := range points[:n] {
			i := s + from.offset(&points[k])
			copy(v.in[k*width:(k+1)*width], t.src[i:i+width])
		}
		v.part.convert.Run(v.out, v.in)
		for k := range points[:n] {
			i := d + to.offset(&points[k])
			copy(t.dst[i:i+wide], v.out[k*wide:(k+1)*wide])
		}
		points = points[n:]
	}
}
