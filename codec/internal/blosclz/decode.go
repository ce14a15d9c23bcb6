package blosclz

import "math"

// Decode decodes src into dst and reports whether the stream is valid and yields exactly len(dst) bytes. It never
// writes past len(dst). src may hold any bytes. dst and src must not overlap.
func Decode(dst, src []byte) bool {
	if len(src) == 0 {
		return false
	}
	d := decoder{src: src, dst: dst}
	d.run()
	return d.rest(math.MaxInt)
}

// DecodePrefix decodes at least the first n bytes into dst, for 0 < n < len(dst): the tokens that begin before byte n.
// The contents of dst after them are undefined, and the rest of the stream is not checked.
func DecodePrefix(dst, src []byte, n int) bool {
	if len(src) == 0 {
		return false
	}
	d := decoder{src: src, dst: dst[:min(len(dst), n+minKernel)]}
	d.run()
	d.dst = dst
	return d.out >= n || d.rest(n)
}

// minKernel is the least length of input and output for a kernel.
const minKernel = 64

// decoder is the state of decoding a stream.
type decoder struct {
	src, dst []byte
	in, out  int // a token starts in src and its bytes in dst
}

// rest decodes the remaining tokens, or the tokens before byte stop, and reports whether they are valid.
//
// The loop is one function, because it runs for every token.
func (d *decoder) rest(stop int) bool {
	dst, src, in, out := d.dst, d.src, d.in, d.out
	control := int(src[in])
	if in == 0 {
		control &= 31
	}
	in++
	for {
		if control < 32 {
			n := control + 1
			if n > len(dst)-out || n > len(src)-in {
				return false
			}
			if maxRun <= len(dst)-out && maxRun <= len(src)-in {
				// A fixed length avoids a call. The excess is overwritten later.
				copy16(dst[out:], src[in:])
				if n > 16 {
					copy16(dst[out+16:], src[in+16:])
				}
			} else {
				copy(dst[out:out+n], src[in:])
			}
			in += n
			out += n
			if out >= stop {
				return true
			}
			if in == len(src) {
				return out == len(dst)
			}
			control = int(src[in])
			in++
			continue
		}

		n := control>>5 + 2
		if n == 9 {
			for {
				if len(src)-in < 2 {
					return false
				}
				more := int(src[in])
				in++
				n += more
				if n > len(dst) {
					return false
				}
				if more != 255 {
					break
				}
			}
		} else if len(src)-in < 2 {
			return false
		}
		// The low byte exists: the last check left at least one byte.
		distance := control&31<<8 + int(src[in]) + 1
		in++
		if distance == 8192 {
			if len(src)-in < 2 {
				return false
			}
			distance += int(src[in])<<8 | int(src[in+1])
			in += 2
		}
		// A match is followed by another token.
		if n > len(dst)-out || distance > out || in >= len(src) {
			return false
		}
		if distance >= 16 && n <= 32 && 32 <= len(dst)-out {
			copy16(dst[out:], dst[out-distance:])
			if n > 16 {
				copy16(dst[out+16:], dst[out-distance+16:])
			}
		} else {
			copyMatch(dst[:out+n], out, distance)
		}
		out += n
		if out >= stop {
			return true
		}
		control = int(src[in])
		in++
	}
}

// copy16 copies 16 bytes.
func copy16(dst, src []byte) {
	copy(dst[:16], src[:16])
}

// copyMatch fills dst[out:] with the bytes at the given distance before it. They repeat if the distance is shorter.
func copyMatch(dst []byte, out, distance int) {
	from := out - distance
	for out < len(dst) {
		// The source doubles with each round.
		out += copy(dst[out:], dst[from:out])
	}
}
