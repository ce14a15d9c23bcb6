package selection

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
)

// listed is an item of a list. key is its location in the array, and at is its position in the list.
type listed struct{ key, at int64 }

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

// sortListed sorts items by key, and items with equal keys by their position in the list. It sorts in place and in
// linear time: an American flag sort, byte by byte from the highest (McIlroy, Bostic and McIlroy, Engineering Radix
// Sort, 1993). Keys and positions must not be negative. It returns the error of ctx if that ends.
func sortListed(ctx context.Context, p []listed) error {
	keys, sorted := int64(0), true
	for i := range p {
		if err := endedAt(ctx, i); err != nil {
			return err
		}
		keys |= p[i].key
		sorted = sorted && (i == 0 || compareListed(p[i-1], p[i]) <= 0)
	}
	if sorted {
		return nil
	}
	return sortDigit(ctx, p, 8+(bits.Len64(uint64(keys))-1)/8)
}

// digit returns byte d of an item: 0 to 7 are the bytes of its position, 8 to 15 the bytes of its key.
func (x *listed) digit(d int) byte {
	if d >= 8 {
		return byte(x.key >> (8 * (d - 8)))
	}
	return byte(x.at >> (8 * d))
}

// sortDigit sorts items whose bytes above d are equal.
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
