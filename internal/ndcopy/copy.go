// Package ndcopy copies N-dimensional boxes of items between buffers. A Copy is a value: one package plans it, another
// runs it.
package ndcopy

import (
	"encoding/binary"

	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/filters"
)

// MaxDims is the largest number of loops of a Copy.
const MaxDims = 16

// Copy is a strided copy of rows between two buffers, as nested loops. Loop 0 is the outermost. All sizes are bytes.
// The zero Copy copies nothing.
type Copy struct {
	Dst, Src         int // offsets of the first row
	Width            int // of a row
	N                int // number of loops
	Count            [MaxDims]int
	DstStep, SrcStep [MaxDims]int
}

// Begin sets c to a copy of one row, without loops.
func (c *Copy) Begin(dst, src, width int) { c.Dst, c.Src, c.Width, c.N = dst, src, width, 0 }

// Loop adds a loop inside the others. A loop of one turn changes nothing.
func (c *Copy) Loop(count, dstStep, srcStep int) {
	if count == 1 {
		return
	}
	c.Count[c.N], c.DstStep[c.N], c.SrcStep[c.N] = count, dstStep, srcStep
	c.N++
}

// Flip exchanges the two sides.
func (c *Copy) Flip() {
	c.Dst, c.Src = c.Src, c.Dst
	c.DstStep, c.SrcStep = c.SrcStep, c.DstStep
}

// Repeat makes every row a copy of the first bytes of the source.
func (c *Copy) Repeat() { c.Src, c.SrcStep = 0, [MaxDims]int{} }

// Simplify changes c to the same copy with the fewest loops and the longest rows. Loops over smaller steps in the
// destination are inside loops over larger steps. The rows may be copied in another order.
func (c *Copy) Simplify() {
	c.SimplifyLoops()
	if n := c.N - 1; n >= 0 && c.DstStep[n] == c.Width && c.SrcStep[n] == c.Width {
		c.N = n
		c.Width *= c.Count[n]
	}
}

// SimplifyLoops is Simplify with rows that keep their width.
func (c *Copy) SimplifyLoops() {
	for i := 0; i < c.N; i++ {
		if c.SrcStep[i] == 0 && c.DstStep[i] < 0 { // all rows are equal, so the direction does not matter
			c.Dst += (c.Count[i] - 1) * c.DstStep[i]
			c.DstStep[i] = -c.DstStep[i]
		}
		for k := i; k > 0 && max(c.DstStep[k], -c.DstStep[k]) > max(c.DstStep[k-1], -c.DstStep[k-1]); k-- {
			c.Count[k], c.Count[k-1] = c.Count[k-1], c.Count[k]
			c.DstStep[k], c.DstStep[k-1] = c.DstStep[k-1], c.DstStep[k]
			c.SrcStep[k], c.SrcStep[k-1] = c.SrcStep[k-1], c.SrcStep[k]
		}
	}
	n := 0
	for i := range c.N {
		if count := c.Count[i]; n > 0 && c.DstStep[n-1] == c.DstStep[i]*count && c.SrcStep[n-1] == c.SrcStep[i]*count {
			c.Count[n-1] *= count
			c.DstStep[n-1], c.SrcStep[n-1] = c.DstStep[i], c.SrcStep[i]
		} else {
			c.Count[n], c.DstStep[n], c.SrcStep[n] = count, c.DstStep[i], c.SrcStep[i]
			n++
		}
	}
	c.N = n
}

// Bytes returns the number of bytes that c copies.
func (c *Copy) Bytes() int {
	n := c.Width
	for i := range c.N {
		n *= c.Count[i]
	}
	return n
}

// SrcEnd returns the offset after the last copied byte of the source, or 0 if nothing is copied.
func (c *Copy) SrcEnd() int {
	if c.Width == 0 {
		return 0
	}
	end := c.Src + c.Width
	for i := range c.N {
		end += max(0, (c.Count[i]-1)*c.SrcStep[i])
	}
	return end
}

// Run copies from src to dst, which must not overlap. It panics if a row is not inside both.
func (c *Copy) Run(dst, src []byte) {
	if c.N > 0 && c.repeats() {
		c.fill(dst, src[c.Src:c.Src+c.Width])
		return
	}
	c.run(dst, src)
}

// repeats reports whether all rows are the same.
func (c *Copy) repeats() bool {
	for i := c.N - 1; i >= 0; i-- {
		if c.SrcStep[i] != 0 {
			return false
		}
	}
	return true
}

// fill sets all rows to value.
func (c *Copy) fill(dst, value []byte) {
	row := *c
	row.Src = 0
	if k := c.N - 1; c.DstStep[k] == c.Width {
		// Fill the first of the longer rows; the others are copies of it.
		row.Width *= c.Count[k]
		row.N--
		first := dst[c.Dst : c.Dst+row.Width]
		filters.Fill(first, value)
		if value = first; row.N == 0 {
			return
		}
	}
	row.run(dst, value)
}

// run copies the rows.
func (c *Copy) run(dst, src []byte) {
	width := c.Width
	if c.N == 0 {
		copy(dst[c.Dst:c.Dst+width], src[c.Src:c.Src+width])
		return
	}
	inner := c.N - 1
	n, ds, ss := c.Count[inner], c.DstStep[inner], c.SrcStep[inner]
	p := c.Start()
	for {
		if width >= minRow && width <= maxRow {
			dstAhead, srcAhead := c.Ahead(&p)
			rows(dst, src, p.Dst, p.Src, n, ds, ss, width, dstAhead, srcAhead)
		} else {
			line(dst, src, p.Dst, p.Src, n, ds, ss, width)
		}
		if !c.Next(&p) {
			return
		}
	}
}

// Cursor is the state of all loops except the innermost.
type Cursor struct {
	Dst, Src int // offsets in bytes of the first row of this round of the innermost loop
	at       [MaxDims]int
}

// Start returns the first round of the innermost loop.
func (c *Copy) Start() Cursor { return Cursor{Dst: c.Dst, Src: c.Src} }

// Ahead returns the distance from the rows of this round of the innermost loop to the rows of the next round, or zeros.
func (c *Copy) Ahead(p *Cursor) (dst, src int) {
	if k := c.N - 2; k >= 0 && p.at[k] < c.Count[k]-1 {
		return c.DstStep[k], c.SrcStep[k]
	}
	return 0, 0
}

// Next moves to the next round of the innermost loop, and returns false after the last one.
func (c *Copy) Next(p *Cursor) bool {
	for k := c.N - 2; k >= 0; k-- {
		p.Dst += c.DstStep[k]
		p.Src += c.SrcStep[k]
		if p.at[k]++; p.at[k] < c.Count[k] {
			return true
		}
		p.Dst -= c.DstStep[k] * c.Count[k]
		p.Src -= c.SrcStep[k] * c.Count[k]
		p.at[k] = 0
	}
	return false
}

// Unshuffle is Run from a block that is still shuffled. Rows and source steps must be whole items of the block.
func (c *Copy) Unshuffle(dst []byte, block coder.Shuffled) {
	size := block.Width
	r := filters.Rows{N: 1, Len: c.Width / size}
	if inner := c.N - 1; inner >= 0 {
		r.N, r.Step, r.BlockStep = c.Count[inner], c.DstStep[inner], c.SrcStep[inner]/size
	}
	p := c.Start()
	for {
		r.At, r.Block = p.Dst, p.Src/size
		r.Ahead, _ = c.Ahead(&p)
		filters.UnshuffleRows(dst, block.Bytes, size, &r)
		if !c.Next(&p) {
			return
		}
	}
}

// Shuffle is Run into a shuffled block, and sets the other items of the block to zero. Rows and destination steps must
// be whole items of the block. If it is faster to Run and then shuffle the whole block, Shuffle does nothing and
// returns false.
func (c *Copy) Shuffle(block coder.Shuffled, src []byte) bool {
	size := block.Width
	r := filters.Rows{N: 1, Len: c.Width / size}
	if !filters.ShuffleRowsFaster(size, r.Len) {
		return false
	}
	if c.Bytes() < len(block.Bytes) {
		clear(block.Bytes)
	}
	if inner := c.N - 1; inner >= 0 {
		r.N, r.Step, r.BlockStep = c.Count[inner], c.SrcStep[inner], c.DstStep[inner]/size
	}
	p := c.Start()
	for {
		r.At, r.Block = p.Src, p.Dst/size
		_, r.Ahead = c.Ahead(&p)
		filters.ShuffleRows(block.Bytes, src, size, &r)
		if !c.Next(&p) {
			return true
		}
	}
}

// line copies n rows of width bytes. The first row is at d in dst and s in src. The rows are ds bytes apart in dst and
// ss bytes apart in src.
func line(dst, src []byte, d, s, n, ds, ss, width int) {
	switch width {
	case 1:
		for ; n > 0; n-- {
			dst[d] = src[s]
			d += ds
			s += ss
		}
	case 2:
		for ; n > 0; n-- {
			binary.NativeEndian.PutUint16(dst[d:d+2], binary.NativeEndian.Uint16(src[s:s+2]))
			d += ds
			s += ss
		}
	case 4:
		for ; n > 0; n-- {
			binary.NativeEndian.PutUint32(dst[d:d+4], binary.NativeEndian.Uint32(src[s:s+4]))
			d += ds
			s += ss
		}
	case 8:
		for ; n > 0; n-- {
			binary.NativeEndian.PutUint64(dst[d:d+8], binary.NativeEndian.Uint64(src[s:s+8]))
			d += ds
			s += ss
		}
	case 16:
		for ; n > 0; n-- {
			to, from := dst[d:d+16], src[s:s+16]
			binary.NativeEndian.PutUint64(to[:8], binary.NativeEndian.Uint64(from[:8]))
			binary.NativeEndian.PutUint64(to[8:], binary.NativeEndian.Uint64(from[8:]))
			d += ds
			s += ss
		}
	default:
		for ; n > 0; n-- {
			copy(dst[d:d+width], src[s:s+width])
			d += ds
			s += ss
		}
	}
}
