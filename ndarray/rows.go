package ndarray

import "github.com/goblosc/blosc2/internal/coder"

// items makes the innermost loop, if it has no gaps, one over whole rows, and returns how many items a row has.
func (l *loops) items(itemSize int) int {
	if k := l.n - 1; k >= 0 && l.dst[k] == itemSize && l.src[k] == itemSize {
		l.n--
		return l.count[k]
	}
	return 1
}

// unshuffle is run for rows of items out of a block whose bytes still lie apart. No loop leads inside of an item.
func (l *loops) unshuffle(dst []byte, block coder.Shuffled, length int) {
	size := block.Width()
	r := coder.Rows{N: 1, Len: length}
	if l.n > 0 {
		inner := l.n - 1
		r.N, r.Step, r.BlockStep = l.count[inner], l.dst[inner], l.src[inner]/size
	}
	p := l.begin() // not the loop's own, which would be a copy at each turn
	for {
		r.At, r.Block = p.dst, p.src/size
		r.Ahead, _ = l.ahead(&p)
		block.Rows(dst, &r)
		if !l.next(&p) {
			return
		}
	}
}

// shuffle is copy for so many items into a block whose bytes lie apart, the rest of which becomes zeros; no loop leads
// inside of an item. It does nothing and returns false where copying them into a block and Shuffle is faster.
func (l *loops) shuffle(block coder.Shuffled, src []byte, items int) bool {
	size := block.Width()
	r := coder.Rows{N: 1, Len: l.items(size)}
	if !block.SetRowsPay(r.Len) {
		return false
	}
	if items < block.Items() {
		block.Clear()
	}
	if l.n > 0 {
		inner := l.n - 1
		r.N, r.Step, r.BlockStep = l.count[inner], l.src[inner], l.dst[inner]/size
	}
	p := l.begin()
	for {
		r.At, r.Block = p.src, p.dst/size
		_, r.Ahead = l.ahead(&p)
		block.SetRows(src, &r)
		if !l.next(&p) {
			return true
		}
	}
}
