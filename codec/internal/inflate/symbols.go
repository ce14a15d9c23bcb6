package inflate

import "encoding/binary"

// run is the state of decoding the symbols of a block. The low left bits of word are the next bits. The bits above them
// are either the bits that follow or 0.
type run struct {
	src, dst []byte
	in, out  int // offset of the next byte to load from src, and of the next byte to write to dst
	stop     int // needed bytes of the output; may be more than its length
	end      int // of the input in src
	word     uint64
	left     uint
}

// Reasons why a loop stops.
const (
	stopLimit    = iota // too near the end of the input or of the output
	stopEnd             // of the block
	stopSymbol          // bits of no symbol
	stopDistance        // a match reaches before the output
	stopLonger          // the output is full
)

// refill loads bytes, so that left is 56 or more.
func (r *run) refill() {
	r.word |= load64(r.src, r.in) << (r.left & 63)
	r.in += int((63 - r.left) >> 3)
	r.left |= 56
}

// place returns the offset of the first byte of which no bit has been used. It may be after the end of the input.
func (r *run) place() int { return r.in - int(r.left>>3) }

// room is a little more than one iteration of the fast loop may write: literals, a match, and the excess of a copy.
const room = 8 + 258 + 2*wide

// fastGeneric decodes symbols as long as there is enough input and output.
//
// An iteration takes up to four entries of literals, each of at most 11 bits, and then a match, of at most 20 bits for
// the length and 28 for the distance, for which it loads again.
func (r *run) fastGeneric(t *tables) (stop int) {
	src, dst, in, out, word, left := r.src, r.dst, r.in, r.out, r.word, r.left
	literals, distances := &t.literals, &t.distances
	lastIn, lastOut := len(src)-margin, min(len(dst)-room, r.stop-1)
	for in <= lastIn && out <= lastOut {
		word |= load64(src, in) << (left & 63)
		in += int((63 - left) >> 3)
		left |= 56
		e := literals[word&(1<<literalBits-1)]
		if e >= isLiteral {
			store16(dst, out, uint16(e>>8))
			out += int(e >> 24 & 3)
			word >>= e & 63
			left -= uint(e & 63)
			e = literals[word&(1<<literalBits-1)]
			if e >= isLiteral {
				store16(dst, out, uint16(e>>8))
				out += int(e >> 24 & 3)
				word >>= e & 63
				left -= uint(e & 63)
				e = literals[word&(1<<literalBits-1)]
				if e >= isLiteral {
					store16(dst, out, uint16(e>>8))
					out += int(e >> 24 & 3)
					word >>= e & 63
					left -= uint(e & 63)
					e = literals[word&(1<<literalBits-1)]
					if e >= isLiteral {
						store16(dst, out, uint16(e>>8))
						out += int(e >> 24 & 3)
						word >>= e & 63
						left -= uint(e & 63)
						continue
					}
				}
			}
			word |= load64(src, in) << (left & 63)
			in += int((63 - left) >> 3)
			left |= 56
		}
		if e&isSpecial != 0 {
			if e&isSecond != 0 {
				e = literals[uint64(e>>8&0xffff)+word>>literalBits&(1<<literalMore-1)]
			}
			if e >= isLiteral {
				dst[out] = byte(e >> 8)
				out++
				word >>= e & 63
				left -= uint(e & 63)
				continue
			}
			if e&isSpecial != 0 {
				stop = stopSymbol
				if e&isEnd != 0 {
					word >>= e & 63
					left -= uint(e & 63)
					stop = stopEnd
				}
				break
			}
		}
		n := int(e>>16) + int(word&(1<<(e&63)-1)>>(e>>8&15))
		word >>= e & 63
		left -= uint(e & 63)
		e = distances[word&(1<<distanceBits-1)]
		if e&(isFar|isNone) != 0 {
			if e&isFar != 0 {
				e = distances[uint64(e>>16)+word>>distanceBits&(1<<distanceMore-1)]
			}
			if e&isNone != 0 {
				stop = stopSymbol
				break
			}
		}
		distance := int(e>>16) + int(word&(1<<(e&63)-1)>>(e>>8&15))
		word >>= e & 63
		left -= uint(e & 63)
		if distance > out {
			stop = stopDistance
			break
		}
		repeatWide(dst, out, distance, n)
		out += n
	}
	r.in, r.out, r.word, r.left = in, out, word, left
	return stop
}

// careful decodes symbols as long as there is input to load.
func (r *run) careful(t *tables) (stop int) {
	for r.in <= len(r.src)-margin {
		r.refill()
		e := t.literals[r.word&(1<<literalBits-1)]
		if e >= isSpecial && e&isSecond != 0 && e < isLiteral {
			e = t.literals[uint64(e>>8&0xffff)+r.word>>literalBits&(1<<literalMore-1)]
		}
		n, extra := r.take(e)
		switch {
		case e >= isLiteral:
			count := int(e >> 24 & 3)
			if count > len(r.dst)-r.out {
				return stopLonger
			}
			r.dst[r.out] = byte(e >> 8)
			if count == 2 {
				r.dst[r.out+1] = byte(e >> 16)
			}
			r.out += count
			continue
		case e&isEnd != 0 && e >= isSpecial:
			return stopEnd
		case e >= isSpecial:
			return stopSymbol
		}
		n += extra
		e = t.distances[r.word&(1<<distanceBits-1)]
		if e&isFar != 0 {
			e = t.distances[uint64(e>>16)+r.word>>distanceBits&(1<<distanceMore-1)]
		}
		if e&isNone != 0 {
			return stopSymbol
		}
		distance, extra := r.take(e)
		distance += extra
		if distance > r.out {
			return stopDistance
		}
		if n > len(r.dst)-r.out {
			return stopLonger
		}
		repeat(r.dst, r.out, distance, n)
		r.out += n
	}
	return stopLimit
}

// take takes the bits of an entry, and returns the two parts of its value.
func (r *run) take(e uint32) (base, more int) {
	base, more = int(e>>16), int(r.word&(1<<(e&63)-1)>>(e>>8&15))
	r.word >>= e & 63
	r.left -= uint(e & 63)
	return base, more
}

func load64(b []byte, i int) uint64     { return binary.LittleEndian.Uint64(b[i : i+8]) }
func store16(b []byte, i int, v uint16) { binary.LittleEndian.PutUint16(b[i:i+2], v) }
func store64(b []byte, i int, v uint64) { binary.LittleEndian.PutUint64(b[i:i+8], v) }
