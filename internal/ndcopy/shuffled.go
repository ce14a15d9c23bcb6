package ndcopy

import "github.com/goblosc/blosc2/internal/coder"

// Unshuffle is Run from a block that is still shuffled. Rows and source steps must be whole items of the block.
func (c *Copy) Unshuffle(dst []byte, block coder.Shuffled) {
	size := block.Width()
	r := coder.Rows{N: 1, Len: c.Width / size}
	if inner := c.N - 1; inner >= 0 {
		r.N, r.Step, r.BlockStep = c.Count[inner], c.DstStep[inner], c.SrcStep[inner]/size
	}
	p := c.Start()
	for {
		r.At, r.Block = p.Dst, p.Src/size
		r.Ahead, _ = c.Ahead(&p)
		block.Rows(dst, &r)
		if !c.Next(&p) {
			return
		}
	}
}

// Shuffle is Run into a shuffled block, and sets the other items of the block to zero. Rows and destination steps must
// be whole items of the block. If it is faster to Run and then shuffle the whole block, Shuffle does nothing and
// returns false.
func (c *Copy) Shuffle(block coder.Shuffled, src []byte) bool {
	size := block.Width()
	r := coder.Rows{N: 1, Len: c.Width / size}
	if !block.SetRowsFaster(r.Len) {
		return false
	}
	if c.Bytes() < block.Items()*size {
		block.Clear()
	}
	if inner := c.N - 1; inner >= 0 {
		r.N, r.Step, r.BlockStep = c.Count[inner], c.SrcStep[inner], c.DstStep[inner]/size
	}
	p := c.Start()
	for {
		r.At, r.Block = p.Src, p.Dst/size
		_, r.Ahead = c.Ahead(&p)
		block.SetRows(src, &r)
		if !c.Next(&p) {
			return true
		}
	}
}
