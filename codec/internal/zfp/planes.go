package zfp

import "math/bits"

// planes holds the items of a cell in groups of 64, or their bit planes: bit i of word k is bit k of item i. Groups
// that a cell does not have are ignored.
type planes [4][64]uint64

// split turns the items of a cell into its bit planes.
func (p *planes) split(size int) {
	if size >= 64 {
		p.transpose(size / 64)
		return
	}
	var items [16]uint64
	copy(items[:], p[0][:size])
	p[0] = [64]uint64{}
	for g := 0; g < size; g += 8 {
		eight := (*[8]uint64)(items[g:])
		all := eight[0] | eight[1] | eight[2] | eight[3] | eight[4] | eight[5] | eight[6] | eight[7]
		for low := 0; all>>low != 0; low += 8 {
			x := uint64(0)
			for i, u := range eight {
				x |= u >> (low & 63) & 0xff << (8 * i)
			}
			x = transpose8(x)
			eightPlanes := (*[8]uint64)(p[0][low:])
			for i := range eightPlanes {
				eightPlanes[i] |= x >> (8 * i) & 0xff << g
			}
		}
	}
}

// join turns the bit planes of a cell into its items.
func (p *planes) join(size int) {
	if size >= 64 {
		p.transpose(size / 64)
		return
	}
	var items [16]uint64
	for g := 0; g < size; g += 8 {
		eight := (*[8]uint64)(items[g:])
		for low := 0; low < 64; low += 8 {
			x := uint64(0)
			for i, u := range (*[8]uint64)(p[0][low:]) {
				x |= u >> g & 0xff << (8 * i)
			}
			if x == 0 {
				continue
			}
			x = transpose8(x)
			for i := range eight {
				eight[i] |= x >> (8 * i) & 0xff << low
			}
		}
	}
	copy(p[0][:size], items[:])
}

// transpose8 transposes a matrix of 8x8 bits.
func transpose8(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00aa00aa00aa00aa
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000cccc0000cccc
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000f0f0f0f0
	return x ^ t ^ t<<28
}

// transpose transposes n groups.
func (p *planes) transpose(n int) {
	for i := range p[:n] {
		m := &p[i]
		mask := uint64(1<<32 - 1)
		for j := 32; j != 0; j >>= 1 {
			for k := 0; k < 64; k = ((k | j) + 1) &^ j {
				low, high := &m[k&63], &m[(k|j)&63]
				t := (*low>>uint(j) ^ *high) & mask
				*low ^= t << uint(j)
				*high ^= t
			}
			mask ^= mask << uint(j/2)
		}
	}
}

// next returns the number of the first item at or after i and below size whose bit k is set, or size.
func (p *planes) next(k, i, size int) int {
	for ; i < size; i = (i | 63) + 1 {
		if x := p[i>>6][k] >> uint(i&63); x != 0 {
			return i + bits.TrailingZeros64(x)
		}
	}
	return size
}

// trailingZeros returns the number of zeros before the first one in the low n bits of x.
func trailingZeros(x uint64, n int) int { return min(bits.TrailingZeros64(x), n) }

// write writes the bit planes of a cell of size items, from plane top down to lowest, in at most budget bits. The bits
// of items up to the last one that has had a bit set are written directly. For the others, write writes the distances
// to the next set bit.
func (p *planes) write(w *writer, size, top, lowest, budget int) {
	known := 0
	for k := top; k >= lowest && budget > 0; k-- {
		n := min(known, budget)
		for i := 0; i < n; i += 64 {
			w.bits(p[i>>6][k], min(64, n-i))
		}
		budget -= n
		for known < size && budget > 0 {
			next := p.next(k, known, size)
			if next == size {
				w.bits(0, 1)
				budget--
				break
			}
			// A one means that a set bit follows. Zeros and a one give its position. The last item needs no one.
			zeros := next - known
			n := 2 + zeros
			if next == size-1 {
				n--
			}
			n = min(n, budget)
			budget -= n
			if zeros <= 62 {
				w.bits(1|2<<uint(zeros), n)
			} else {
				w.bits(1, 1)
				w.pad(w.pos + int64(min(zeros, n-1)))
				w.bits(1, max(0, n-1-zeros))
			}
			known = next + 1
		}
	}
}

// read reads what write wrote into planes that are zero.
func (p *planes) read(r *reader, size, top, lowest, budget int) {
	known := 0
	for k := top; k >= lowest && budget > 0; k-- {
		n := min(known, budget)
		for i := 0; i < n; i += 64 {
			p[i>>6][k] = r.bits(min(64, n-i))
		}
		budget -= n
		for known < size && budget > 0 {
			budget--
			if r.bits(1) == 0 {
				break
			}
			most := min(size-1-known, budget)
			zeros := r.zeros(most)
			budget -= min(zeros+1, most)
			known += zeros
			p[known>>6][k] |= 1 << uint(known&63)
			known++
		}
	}
}
