package ndarray

import "encoding/binary"

// side is where the items of a box are in a buffer: item k of each axis is at offset + sum of k*stride, in items.
type side struct {
	offset int64
	stride dims
}

// box is a set of items, count of them along each axis, that are moved between a decoded block and the user side.
type box struct {
	ndim  int
	count dims
	items int64 // product of the counts
	block side
	user  side

	// whole is set when the box has all items of the block that belong to the chunk and lie inside the array.
	// Whoever writes it need not know what the block held before.
	whole bool
	// direct is set when the box is the full block, without padding, and stands on the user side as one run in
	// the same order: blockItems items at user.offset. It can be decoded and encoded in place.
	direct bool
}

// end returns where the items of the box end in the block, in items: behind the last of them.
func (b *box) end() int64 {
	n := b.block.offset + 1
	for i := range b.ndim {
		n += (b.count[i] - 1) * b.block.stride[i]
	}
	return n
}

// toUser copies the items of the box from a decoded block to the user side. Both buffers must be as long as the
// geometry and the selection say.
func (b *box) toUser(dst, block []byte, itemSize int) {
	copyItems(dst, block, &b.user, &b.block, &b.count, b.ndim, itemSize)
}

// toBlock copies the items of the box from the user side to a decoded block.
func (b *box) toBlock(block, src []byte, itemSize int) {
	copyItems(block, src, &b.block, &b.user, &b.count, b.ndim, itemSize)
}

// fillUser sets the items of the box on the user side to a value, which is one item.
func (b *box) fillUser(dst, value []byte) {
	fillItems(dst, value, &b.user, &b.count, b.ndim)
}

// fillBlock sets the items of the box in a decoded block to a value, which is one item.
func (b *box) fillBlock(block, value []byte) {
	fillItems(block, value, &b.block, &b.count, b.ndim)
}

// loops is a strided copy with the fewest nested loops that do it: loop 0 is the outermost. All sizes are bytes.
type loops struct {
	n        int
	count    [maxDims]int
	dst, src [maxDims]int // strides
	dstOff   int
	srcOff   int
}

// nest makes the loops over a box: axes of one item vanish, and neighbours that both sides step through evenly
// become one.
func (l *loops) nest(dst, src *side, count *dims, ndim, itemSize int) {
	l.n = 0
	l.dstOff, l.srcOff = int(dst.offset)*itemSize, int(src.offset)*itemSize
	for i := range ndim {
		n := int(count[i])
		if n == 1 {
			continue
		}
		ds, ss := int(dst.stride[i])*itemSize, int(src.stride[i])*itemSize
		if k := l.n - 1; k >= 0 && l.dst[k] == ds*n && l.src[k] == ss*n {
			l.count[k] *= n
			l.dst[k], l.src[k] = ds, ss
			continue
		}
		l.count[l.n], l.dst[l.n], l.src[l.n] = n, ds, ss
		l.n++
	}
}

// copyItems copies a box of items. The sides must not overlap.
func copyItems(dst, src []byte, to, from *side, count *dims, ndim, itemSize int) {
	var l loops
	l.nest(to, from, count, ndim, itemSize)
	l.copy(dst, src, itemSize)
}

// copy runs the loops over pieces of width bytes, or over longer ones where the innermost loop has no gaps.
func (l *loops) copy(dst, src []byte, width int) {
	if k := l.n - 1; k >= 0 && l.dst[k] == width && l.src[k] == width {
		width *= l.count[k]
		l.n--
	}
	l.run(dst, src, width)
}

// fillItems sets a box of items to one value.
func fillItems(dst, value []byte, to *side, count *dims, ndim int) {
	var l loops
	var from side // all strides zero: the same item again and again
	up := *to     // in which order the items are set does not matter
	for i := range ndim {
		if up.stride[i] < 0 {
			up.offset += (count[i] - 1) * up.stride[i]
			up.stride[i] = -up.stride[i]
		}
	}
	l.nest(&up, &from, count, ndim, len(value))
	l.fill(dst, value)
}

// fill sets the places that the loops lead to in dst to one value. No step may be negative.
func (l *loops) fill(dst, value []byte) {
	l.srcOff = 0
	k := l.n - 1
	if k < 0 || l.dst[k] != len(value) {
		l.run(dst, value, len(value))
		return
	}
	// The first row is made from the value, the others are copies of it.
	width := len(value) * l.count[k]
	row := dst[l.dstOff : l.dstOff+width]
	repeat(row, value)
	l.n--
	if l.n > 0 {
		l.run(dst, row, width)
	}
}

// repeat fills dst with copies of value, whose length divides the one of dst.
func repeat(dst, value []byte) {
	if isZero(value) {
		clear(dst)
		return
	}
	const near = 8 << 10 // the doubling stops while the source is still in the nearest cache
	n := copy(dst, value)
	for n < len(dst) && n < near {
		n += copy(dst[n:], dst[:n])
	}
	for from := dst[:n]; n < len(dst); {
		n += copy(dst[n:], from)
	}
}

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// run copies pieces of width bytes.
func (l *loops) run(dst, src []byte, width int) {
	if l.n == 0 {
		copy(dst[l.dstOff:l.dstOff+width], src[l.srcOff:l.srcOff+width])
		return
	}
	inner := l.n - 1
	n, ds, ss := l.count[inner], l.dst[inner], l.src[inner]
	p := l.begin() // not the loop's own, which would be a copy at each turn
	for {
		if width >= minRow && width <= maxRow {
			dstAhead, srcAhead := l.ahead(&p)
			rows(dst, src, p.dst, p.src, n, ds, ss, width, dstAhead, srcAhead)
		} else {
			line(dst, src, p.dst, p.src, n, ds, ss, width)
		}
		if !l.next(&p) {
			return
		}
	}
}

// odometer is a place in the loops, but for the innermost.
type odometer struct {
	dst, src int // offsets in bytes
	at       [maxDims]int
}

func (l *loops) begin() odometer { return odometer{dst: l.dstOff, src: l.srcOff} }

// ahead returns how far the places that the innermost loop goes through next are from those of this one, or zeros.
func (l *loops) ahead(p *odometer) (dst, src int) {
	if k := l.n - 2; k >= 0 && p.at[k] < l.count[k]-1 {
		return l.dst[k], l.src[k]
	}
	return 0, 0
}

// next moves to the next round of the innermost loop, and returns whether there is one.
func (l *loops) next(p *odometer) bool {
	for k := l.n - 2; k >= 0; k-- {
		p.dst += l.dst[k]
		p.src += l.src[k]
		if p.at[k]++; p.at[k] < l.count[k] {
			return true
		}
		p.dst -= l.dst[k] * l.count[k]
		p.src -= l.src[k] * l.count[k]
		p.at[k] = 0
	}
	return false
}

// line copies n pieces of width bytes, ds bytes apart in dst from d on, and ss bytes apart in src from s on.
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
