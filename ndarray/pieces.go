package ndarray

// pieces says how items are moved between a block and the user side when a view is between them: of each item of the
// block, the bytes from an offset on, size of them, and as many more as loops inside the item take, or repeat.
type pieces struct {
	size   int // of an item on the user side
	offset int // in an item of the block

	n          int // loops
	count      [maxDims]int
	user, item [maxDims]int // steps, in bytes
}

// plain tells whether items are moved whole and once.
func (q *pieces) plain(itemSize int) bool { return q.size == itemSize && q.n == 0 }

// loops makes the loops over a box from a block to the user side.
func (q *pieces) loops(l *loops, b *box, itemSize int) {
	l.n = 0
	l.dstOff, l.srcOff = int(b.user.offset)*q.size, int(b.block.offset)*itemSize+q.offset
	for i := range b.ndim {
		if n := int(b.count[i]); n > 1 {
			l.add(n, int(b.user.stride[i])*q.size, int(b.block.stride[i])*itemSize)
		}
	}
	for i := range q.n {
		l.add(q.count[i], q.user[i], q.item[i])
	}
}

func (l *loops) add(count, dst, src int) {
	l.count[l.n], l.dst[l.n], l.src[l.n] = count, dst, src
	l.n++
}

// order sorts the loops so that the one with the smallest steps in dst is the innermost, and joins those that can be
// one.
func (l *loops) order() {
	for i := 1; i < l.n; i++ {
		for k := i; k > 0 && max(l.dst[k], -l.dst[k]) > max(l.dst[k-1], -l.dst[k-1]); k-- {
			l.count[k], l.count[k-1] = l.count[k-1], l.count[k]
			l.dst[k], l.dst[k-1] = l.dst[k-1], l.dst[k]
			l.src[k], l.src[k-1] = l.src[k-1], l.src[k]
		}
	}
	n := 0
	for i := range l.n {
		if c := l.count[i]; n > 0 && l.dst[n-1] == l.dst[i]*c && l.src[n-1] == l.src[i]*c {
			l.count[n-1] *= c
			l.dst[n-1], l.src[n-1] = l.dst[i], l.src[i]
		} else {
			l.count[n], l.dst[n], l.src[n] = c, l.dst[i], l.src[i]
			n++
		}
	}
	l.n = n
}

// flip exchanges the two sides.
func (l *loops) flip() {
	l.dst, l.src = l.src, l.dst
	l.dstOff, l.srcOff = l.srcOff, l.dstOff
}

// toUser copies the items of the box from a decoded block to the user side.
func (q *pieces) toUser(b *box, dst, block []byte, itemSize int) {
	var l loops
	q.loops(&l, b, itemSize)
	l.order()
	l.copy(dst, block, q.size)
}

// toBlock copies the items of the box from the user side to a decoded block; if one is set, the same item everywhere.
func (q *pieces) toBlock(b *box, block, src []byte, itemSize int, one bool) {
	var l loops
	q.loops(&l, b, itemSize)
	l.flip()
	if one {
		l.srcOff, l.src = 0, [maxDims]int{}
	}
	l.order()
	l.copy(block, src, q.size)
}

// fillUser sets the items of a box without a block side to what is shown of an item of the array.
func (q *pieces) fillUser(b *box, dst, item []byte) {
	var l loops
	q.loops(&l, b, 0)
	for i := range l.n {
		if l.src[i] != 0 {
			l.order()
			l.copy(dst, item, q.size)
			return
		}
		if l.dst[i] < 0 { // in which order the items are set does not matter
			l.dstOff += (l.count[i] - 1) * l.dst[i]
			l.dst[i] = -l.dst[i]
		}
	}
	l.order()
	l.fill(dst, item[q.offset:q.offset+q.size])
}
