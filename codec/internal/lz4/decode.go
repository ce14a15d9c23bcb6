package lz4

import "github.com/goblosc/blosc2/codec/internal/lz4block"

// decoder is the state of decoding a block.
type decoder struct {
	src, dst []byte
	in, out  int // where the next sequence starts in src, and its bytes in dst
}

// decodeGeneric is Decode in Go.
func decodeGeneric(dst, src, dict []byte) bool {
	d := decoder{src: src, dst: dst}
	for d.in < len(src) {
		if !d.sequence(dict) {
			return false
		}
	}
	return d.out == len(dst)
}

// DecodePrefix decodes at least the first n bytes of dst, fewer than all: the sequences that begin before byte n. The
// rest of dst is undefined, and the rest of the block is not checked.
func DecodePrefix(dst, src, dict []byte, n int) bool {
	if !prefixIsFaster(n, len(dst)) {
		return Decode(dst, src, dict)
	}
	d := decoder{src: src, dst: dst}
	for d.out < n && d.in < len(src) {
		d.hurry(n)
		if d.out < n && d.in < len(src) && !d.sequence(dict) {
			return false
		}
	}
	return d.out >= n
}

// decodeEach is DecodeAll, one block after the other.
func decodeEach(dst, src [][]byte, dict []byte) bool {
	for i := range dst {
		if !Decode(dst[i], src[i], dict) {
			return false
		}
	}
	return true
}

// sequence decodes one sequence and reports whether it is valid. The last one has no match. A match length in its token
// is ignored, as in liblz4.
func (d *decoder) sequence(dict []byte) bool {
	src, dst, in, out := d.src, d.dst, d.in, d.out
	token := int(src[in])
	in++
	n := token >> 4
	if n == 15 {
		if n, in = getLength(src, in, n); n < 0 {
			return false
		}
	}
	if n > len(dst)-out || n > len(src)-in {
		return false
	}
	out += copy(dst[out:], src[in:in+n])
	in += n
	if in == len(src) {
		d.in, d.out = in, out
		return true
	}
	if len(src)-in < 2 {
		return false
	}
	distance := int(src[in]) | int(src[in+1])<<8
	in += 2
	n = token & 15
	if n == 15 {
		if n, in = getLength(src, in, n); n < 0 {
			return false
		}
	}
	if n > len(dst)-lz4block.MinMatch || n+lz4block.MinMatch > len(dst)-out || distance == 0 {
		return false
	}
	end := out + n + lz4block.MinMatch
	if distance > out {
		if distance-out > len(dict) {
			return false
		}
		out += copy(dst[out:end], dict[len(dict)-(distance-out):])
	}
	for from := out - distance; out < end; {
		out += copy(dst[out:end], dst[from:out]) // the source doubles in each iteration
	}
	d.in, d.out = in, out
	return true
}

// getLength adds the bytes of a length, which start at src[in], to n. It returns the sum and the position after them.
// The sum is -1 if the length does not end or is too large.
func getLength(src []byte, in, n int) (int, int) {
	for in < len(src) && n <= lz4block.MaxLength {
		c := int(src[in])
		in++
		n += c
		if c != 255 {
			return n, in
		}
	}
	return -1, in
}
