package selection

import (
	"context"
	"math/bits"

	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/filters"
	"github.com/goblosc/blosc2/internal/ndcopy"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// MaskPlan is the plan of a selection by one mask over all axes. It needs two bits of memory for each boolean, where a
// ListPlan needs 16 bytes for each selected item.
//
// Its Plan selects all items. The positions on the user side of that are those in the mask, and the position of an item
// in the result is the number of true values before it.
type MaskPlan struct {
	Plan  // with items of one byte on the user side
	ctx   context.Context
	item  itemPart   // as the items are
	words []maskWord // the last one is empty
	box   maskBox    // for Next
}

// maskWord has 64 booleans of a mask.
type maskWord struct {
	bits   uint64
	before int64 // number of true values in the words before
}

// NewMaskPlan returns the plan of a selection by one mask over all axes of an array, or of a view of it if m is not
// nil. It returns nil for other selections, and where a ListPlan is better: for masks with few true values, and for
// arrays with tiny chunks or chunks of very many blocks. It returns the error of ctx if that ends.
func NewMaskPlan(ctx context.Context, g *grid.Geometry, m *Mapping, s *Selection, sel []Index) (*MaskPlan, error) {
	if len(sel) != 1 {
		return nil, nil
	}
	x, ok := sel[0].(*IndexArray)
	if !ok || !x.Mask() || len(x.Shape) != s.Ndim || s.Items <= int64(len(x.Keep)/64) {
		return nil, nil
	}
	const most, least = 1 << 16, 64 // blocks of a chunk, which are listed; items of a chunk, which are looked at
	if g.Blocks > most || g.ChunkBytes < least*g.ItemSize || s.Ndim == ndcopy.MaxDims {
		return nil, nil // a maskBox may need one loop more than axes
	}
	if m == nil {
		whole := Identity(g, meta.DType{Size: int(g.ItemSize)})
		m = &whole
	}
	p := &MaskPlan{Plan: m.newPlan(g), ctx: ctx, words: make([]maskWord, len(x.Keep)/64+2)}
	p.item = p.part
	p.part.wide = 1
	var buf, stride grid.Dims
	shape := m.Shape(&buf)
	all := WholeAxes(shape)
	grid.Strides(&stride, shape)
	for i := range m.Ndim {
		m.planAxis(&p.Plan, i, &all.Axes[i], stride[i])
	}
	keep, n := x.Keep, int64(0)
	for i := range p.words {
		if err := endedAt(ctx, i); err != nil {
			return nil, err
		}
		w := word(keep[:min(64, len(keep))])
		keep = keep[min(64, len(keep)):]
		p.words[i] = maskWord{w, n}
		n += int64(bits.OnesCount64(w))
	}
	return p, nil
}

// rank returns the number of true values before a position.
func (p *MaskPlan) rank(position int) int {
	w := &p.words[position/64]
	return int(w.before) + bits.OnesCount64(w.bits&(1<<(position%64)-1))
}

// take returns n booleans from a position on, at most 64, the first in the lowest bit.
func (p *MaskPlan) take(position, n int) uint64 {
	w := p.words[position/64].bits>>(position%64) | p.words[position/64+1].bits<<1<<(63-position%64)
	return w & (1<<n - 1)
}

// maskBox has the items of a block or chunk, as rows that are contiguous in the mask.
type maskBox struct {
	// The steps of the destination are positions in the mask, those of the source bytes. The last loop is over a row.
	copy  ndcopy.Copy
	items Box
}

// rows sets b to the items of a block, and reports whether it has any.
func (p *MaskPlan) rows(b *maskBox, c *ChunkPart, block int32) bool {
	if !p.Box(&b.items, c, block) {
		return false
	}
	p.setRows(b)
	return true
}

// chunkRows sets b to all items of a chunk, without a source.
func (p *MaskPlan) chunkRows(b *maskBox, c *ChunkPart) {
	p.chunkBox(&b.items, c)
	p.setRows(b)
}

// setRows sets the copy of b.
func (p *MaskPlan) setRows(b *maskBox) {
	c := &b.copy
	p.loops(c, &b.items)
	for i := range c.N {
		if c.DstStep[i] < 0 { // from the other end
			c.Dst += (c.Count[i] - 1) * c.DstStep[i]
			c.Src += (c.Count[i] - 1) * c.SrcStep[i]
			c.DstStep[i], c.SrcStep[i] = -c.DstStep[i], -c.SrcStep[i]
		}
	}
	c.SimplifyLoops()
	if c.N == 0 || c.DstStep[c.N-1] != 1 { // every row has one item
		c.Count[c.N], c.DstStep[c.N], c.SrcStep[c.N] = 1, 1, 0
		c.N++
	}
}

// row returns the number of items of a row, and their distance in the source.
func (b *maskBox) row() (n, step int) { return b.copy.Count[b.copy.N-1], b.copy.SrcStep[b.copy.N-1] }

// any reports whether a box has selected items.
func (p *MaskPlan) any(b *maskBox) bool {
	at := b.copy.Start()
	for n, _ := b.row(); ; {
		if p.rank(at.Dst+n) > p.rank(at.Dst) {
			return true
		}
		if !b.copy.Next(&at) {
			return false
		}
	}
}

// count returns the number of selected items of a box.
func (p *MaskPlan) count(b *maskBox) int64 {
	total, at := 0, b.copy.Start()
	for n, _ := b.row(); ; {
		total += p.rank(at.Dst+n) - p.rank(at.Dst)
		if !b.copy.Next(&at) {
			return int64(total)
		}
	}
}

// end returns the offset after the last selected item of a block, or 0 if there is none.
func (p *MaskPlan) end(b *maskBox) int {
	end, at := 0, b.copy.Start()
	n, step := b.row()
	for {
		if i := p.last(at.Dst, n, step < 0); i >= 0 {
			end = max(end, at.Src+i*step+b.copy.Width)
		}
		if !b.copy.Next(&at) {
			return end
		}
	}
}

// last returns the last selected one of n items from a position on, or the first if that is set. It returns -1 if there
// is none.
func (p *MaskPlan) last(position, n int, first bool) int {
	for i := 0; first && i < n; i += 64 {
		if w := p.take(position+i, min(64, n-i)); w != 0 {
			return i + bits.TrailingZeros64(w)
		}
	}
	for !first && n > 0 {
		from := max(n-64, 0)
		if w := p.take(position+from, n-from); w != 0 {
			return from + bits.Len64(w) - 1
		}
		n = from
	}
	return -1
}

// Next sets c to the first chunk with selected items, of those from chunk number next of the plan on, and next to the
// number after it. It returns false if there is none. If the context has ended, it may stop at any chunk: the engine
// then returns the error of the context.
func (p *MaskPlan) Next(c *ChunkPart, next *int64) bool {
	for skipped := 0; *next < p.Chunks; skipped++ {
		p.Seek(c, *next)
		*next++
		p.chunkRows(&p.box, c)
		if p.any(&p.box) || endedAt(p.ctx, skipped) != nil {
			return true
		}
	}
	return false
}

// Covers reports whether every item of the chunk that lies inside the array is selected.
func (p *MaskPlan) Covers(c *ChunkPart) bool {
	var b maskBox
	p.chunkRows(&b, c)
	return c.Whole && p.count(&b) == int64(b.copy.Bytes()/b.copy.Width)
}

// AppendBlocks appends the numbers of the blocks of a chunk that hold selected items to dst, which must be empty, in
// ascending order.
func (p *MaskPlan) AppendBlocks(dst []int32, c *ChunkPart) []int32 {
	var b maskBox
	all := p.Plan.AppendBlocks(dst, c)
	n := 0
	for _, block := range all {
		if p.rows(&b, c, block) && p.any(&b) {
			all[n] = block
			n++
		}
	}
	return all[:n]
}

// MaskMover is the engine.Mover of a block of a MaskPlan.
type MaskMover struct {
	plan     *MaskPlan
	box      maskBox
	some     bool   // items of the block are selected
	user     []byte // the user side
	toBlock  bool   // copy to the block; otherwise to the user side
	one      bool   // the user side is one item, for all items
	convert  converter
	points   [64]listed  // a part of a row: the position in the row and in the result
	unpacked ndcopy.Copy // of one item of a shuffled block
}

// Set prepares the move of a block. It returns the offset after the last selected item, or 0 if there is none.
func (t *MaskMover) Set(p *MaskPlan, c *ChunkPart, block int32, user []byte, toBlock, one bool) (end int) {
	t.plan, t.user, t.toBlock, t.one = p, user, toBlock, one
	if p.rows(&t.box, c, block) {
		end = p.end(&t.box)
	}
	t.some = end > 0
	return end
}

// Reset implements engine.Resetter.
func (t *MaskMover) Reset() { t.plan, t.user, t.convert.part = nil, nil, nil }

// Move implements engine.Mover.
func (t *MaskMover) Move(block []byte, kept bool) error {
	if t.toBlock && !kept {
		clear(block) // the padding
	}
	if !t.some {
		return nil
	}
	at := t.box.copy.Start()
	n, step := t.box.row()
	for {
		t.moveRow(block, at.Dst, n, at.Src, step)
		if !t.box.copy.Next(&at) {
			return nil
		}
	}
}

// moveRow moves the selected items of a row.
func (t *MaskMover) moveRow(block []byte, position, n, src, step int) {
	p := &t.plan.item
	from := t.plan.rank(position)
	found := t.plan.rank(position+n) - from
	if found == 0 {
		return
	}
	if found == n && step == p.wide && p.convert.None() && !t.one {
		user, items := t.user[from*p.wide:(from+n)*p.wide], block[src:src+n*p.wide]
		if t.toBlock {
			copy(items, user)
		} else {
			copy(user, items)
		}
		return
	}
	user, inBlock := steps{at: p.wide}, steps{key: step}
	if t.one {
		user = steps{}
	}
	for i := 0; i < n; i += 64 {
		points := t.next(position, i, min(64, n-i))
		switch {
		case len(points) == 0:
		case t.toBlock:
			movePoints(block, t.user, points, src, 0, inBlock, user, p.size)
		case !p.convert.None():
			t.convert.part = p
			t.convert.points(t.user, block, points, 0, src, user, inBlock)
		default:
			movePoints(t.user, block, points, 0, src, user, inBlock, p.size)
		}
	}
}

// next returns the selected ones of n items of a row, which starts at a position, from item i on. Their key is their
// number in the row.
func (t *MaskMover) next(position, i, n int) []listed {
	w, at := t.plan.take(position+i, n), int64(t.plan.rank(position+i))
	k := 0
	for ; w != 0; w &= w - 1 {
		t.points[k%64] = listed{key: int64(i + bits.TrailingZeros64(w)), at: at}
		k++
		at++
	}
	return t.points[:k]
}

// Unshuffle implements engine.Mover. If a block has few selected items, it unshuffles only these.
func (t *MaskMover) Unshuffle(block coder.Shuffled) bool {
	if !t.some {
		return true
	}
	p := &t.plan.item
	if !p.convert.None() || !block.RowsFaster(int(t.plan.count(&t.box)), 1) {
		return false
	}
	c := &t.unpacked
	c.Begin(0, 0, p.size)
	at := t.box.copy.Start()
	n, step := t.box.row()
	for {
		for i := 0; i < n; i += 64 {
			for _, x := range t.next(at.Dst, i, min(64, n-i)) {
				c.Dst, c.Src = int(x.at)*p.wide, at.Src+int(x.key)*step
				c.Unshuffle(t.user, block)
			}
		}
		if !t.box.copy.Next(&at) {
			return true
		}
	}
}

// Fill sets the selected items of a chunk on the user side to one item.
func (p *MaskPlan) Fill(c *ChunkPart, dst, item []byte) {
	t := MaskMover{plan: p, user: dst}
	p.chunkRows(&t.box, c)
	at := t.box.copy.Start()
	n, step := t.box.row()
	for {
		if from, to := p.rank(at.Dst), p.rank(at.Dst+n); step == 0 && p.item.convert.None() {
			filters.Fill(dst[from*p.item.wide:to*p.item.wide], item[at.Src:at.Src+p.item.size])
		} else {
			t.moveRow(item, at.Dst, n, at.Src, step)
		}
		if !t.box.copy.Next(&at) {
			return
		}
	}
}
