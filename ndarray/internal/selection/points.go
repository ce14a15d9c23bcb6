package selection

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
)

// listed is an item of a list. key is its location in the array, and at is its position in the list.
type listed struct{ key, at int64 }

// listedBytes is the size of a listed.
const listedBytes = 16

// endedAt returns the error of ctx at every 16384th item, so that a plan of many items ends soon after ctx. It does
// nothing for lists that are shorter.
func endedAt(ctx context.Context, i int) error {
	const each = 1 << 14
	if i%each != each-1 {
		return nil
	}
	return ctx.Err()
}

// compareListed orders items by key, then by position.
func compareListed(a, b listed) int {
	if c := cmp.Compare(a.key, b.key); c != 0 {
		return c
	}
	return cmp.Compare(a.at, b.at)
}

// sortListed sorts items by key, and items with equal keys by their position in the list, in linear time. The position
// of each item must be its index in p, and keys must not be negative. A part of the list is its keys from a multiple of
// size to the next multiple. If the keys of each part are in ascending order, a counting sort by part is enough. It
// returns the error of ctx if that ends.
func sortListed(ctx context.Context, p []listed, size int64) error {
	if len(p) == 0 {
		return nil
	}
	keys, low, high, sorted := int64(0), p[0].key, int64(0), true
	for i := range p {
		if err := endedAt(ctx, i); err != nil {
			return err
		}
		key := p[i].key
		sorted = sorted && high <= key
		keys, low, high = keys|key, min(low, key), max(high, key)
	}
	if sorted {
		return nil
	}
	first := low / size
	parts := high/size - first + 1
	shift := bits.Len(uint(len(p)))
	const each = 16 // items of a part on average, which keeps the memory for parts small
	if parts > int64(len(p)/each) || bits.Len64(uint64(keys))+shift > 63 {
		return sortDigit(ctx, p, topDigit(keys))
	}
	return sortParts(ctx, p, size, first, int(parts), shift)
}

// sortParts is sortListed for the parts from number first up. It needs no memory for a second list: until unpack, the
// positions hold the sorted keys and positions. The key, shifted by shift bits, and the position must fit 63 bits.
func sortParts(ctx context.Context, p []listed, size, first int64, parts, shift int) error {
	next := make([]int, parts+1)
	part, start := 0, first*size
	for i := range p {
		if err := endedAt(ctx, i); err != nil {
			return err
		}
		if key := p[i].key; uint64(key-start) >= uint64(size) {
			part = int(key/size - first)
			start = (first + int64(part)) * size
		}
		next[part+1]++
	}
	for i := range parts {
		next[i+1] += next[i]
	}
	for i := range p {
		if err := endedAt(ctx, i); err != nil {
			return err
		}
		key := p[i].key
		if uint64(key-start) >= uint64(size) {
			part = int(key/size - first)
			start = (first + int64(part)) * size
		}
		p[next[part]].at = key<<shift | int64(i)
		next[part]++
	}
	from := 0
	for _, to := range next[:parts] {
		if err := unpack(ctx, p[from:to], shift); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// unpack separates the keys and positions of a part, and sorts its items unless they are in order.
func unpack(ctx context.Context, p []listed, shift int) error {
	differ, last, sorted := int64(0), int64(0), true
	for i := range p {
		if err := endedAt(ctx, i); err != nil {
			return err
		}
		both := p[i].at
		key := both >> shift
		p[i] = listed{key: key, at: both & (1<<shift - 1)}
		sorted = sorted && last <= key
		differ |= key ^ p[0].key
		last = key
	}
	if sorted {
		return nil
	}
	return sortDigit(ctx, p, topDigit(differ))
}

// topDigit returns the number of the highest byte of keys that is not zero.
func topDigit(keys int64) int { return 8 + (bits.Len64(uint64(keys))-1)/8 }

// digit returns byte d of an item: 0 to 7 are the bytes of its position, 8 to 15 the bytes of its key.
func (x *listed) digit(d int) byte {
	if d >= 8 {
		return byte(x.key >> (8 * (d - 8)))
	}
	return byte(x.at >> (8 * d))
}

// sortDigit sorts items whose bytes above d are equal. It sorts in place: an American flag sort, byte by byte from the
// highest (McIlroy, Bostic and McIlroy, Engineering Radix Sort, 1993).
func sortDigit(ctx context.Context, p []listed, d int) error {
	const few = 64 // up to this number, sorting by comparison is faster
	for ; d >= 0 && len(p) > few; d-- {
		var end [256]int
		for i := range p {
			if err := endedAt(ctx, i); err != nil {
				return err
			}
			end[p[i].digit(d)]++
		}
		if end[p[0].digit(d)] == len(p) {
			continue
		}
		var next [256]int
		sum := 0
		for i, n := range end {
			next[i] = sum
			sum += n
			end[i] = sum
		}
		moved := 0
		for b := range next {
			for next[b] < end[b] {
				if err := endedAt(ctx, next[b]); err != nil {
					return err
				}
				x := p[next[b]]
				for c := x.digit(d); int(c) != b; c = x.digit(d) {
					p[next[c]], x = x, p[next[c]]
					next[c]++
					if moved++; endedAt(ctx, moved) != nil {
						return ctx.Err()
					}
				}
				p[next[b]] = x
				next[b]++
			}
		}
		from := 0
		for _, to := range end {
			if err := sortDigit(ctx, p[from:to], d-1); err != nil {
				return err
			}
			from = to
		}
		return nil
	}
	slices.SortFunc(p, compareListed)
	return nil
}

// below returns the number of sorted items with a smaller key.
func below(p []listed, key int64) int {
	lo, hi := 0, len(p)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); p[mid].key < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
