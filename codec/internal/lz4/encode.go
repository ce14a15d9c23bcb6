package lz4

import "github.com/goblosc/blosc2/codec/internal/lz4block"

// encodeGeneric writes all sequences of a block except the last literals. It reports whether there was space.
//
// The loop is one function, because it runs for every sequence.
func encodeGeneric[T uint16 | uint32](b *block, table *[1 << smallBits]T, factor uint64, shift uint) bool {
	src, dst, base := b.src, b.dst, b.base
	pos, match, anchor, out := b.pos, b.match, b.anchor, b.out
	lastStart := len(src) - lz4block.TailLength
	found := b.found
	for {
		if !found {
			// The next position is loaded ahead of the steps.
			next, step, steps := pos, 1, b.steps
			value := lz4block.Load64(src, next)
			for {
				slot := &table[value*factor>>(shift&63)&(1<<smallBits-1)]
				pos = next
				next += step
				step = steps >> stepBits
				steps++
				if next > lastStart+1 {
					b.anchor, b.out = anchor, out
					return true
				}
				want := uint32(value)
				value = lz4block.Load64(src, next)
				match = max(int(*slot)-base, 0)
				*slot = T(pos + base)
				if lz4block.Load32(src, match) == want && pos-match <= lz4block.MaxDistance {
					break
				}
			}
		}
		found = false
		back := min(pos-anchor, match)
		for back > 0 && src[pos-1] == src[match-1] {
			pos--
			match--
			back--
		}
		n := pos - anchor
		if n/255+n+9 > len(dst)-out {
			return false
		}
		token := out
		out = lz4block.PutToken(dst, out, n)
		if n <= 16 && 16 <= len(dst)-out && 16 <= len(src)-anchor {
			// A fixed length avoids a call. The excess is overwritten later.
			copy(dst[out:out+16], src[anchor:anchor+16])
			out += n
		} else {
			out += copy(dst[out:], src[anchor:pos])
		}
		for {
			distance := pos - match
			dst[out] = byte(distance)
			dst[out+1] = byte(distance >> 8)
			out += 2
			length := lz4block.MatchLength(src, pos, match)
			pos += length
			n := length - lz4block.MinMatch
			if (n+240)/255+6 > len(dst)-out {
				return false
			}
			if n >= 15 {
				dst[token] |= 15
				out = lz4block.PutLength(dst, out, n-15)
			} else {
				dst[token] |= byte(n)
			}
			anchor = pos
			if pos > lastStart {
				b.anchor, b.out = anchor, out
				return true
			}
			table[lz4block.Load64(src, pos-2)*factor>>(shift&63)&(1<<smallBits-1)] = T(pos - 2 + base)
			// A match may follow at once.
			value := lz4block.Load64(src, pos)
			slot := &table[value*factor>>(shift&63)&(1<<smallBits-1)]
			match = max(int(*slot)-base, 0)
			*slot = T(pos + base)
			if pos-match > lz4block.MaxDistance || lz4block.Load32(src, match) != uint32(value) {
				break
			}
			token = out // there is space, because 6 bytes were left above
			dst[token] = 0
			out++
		}
		pos++
	}
}
