//go:build !purego

package lz4

const (
	minLength  = 13          // shorter inputs are all literals
	maxLength  = 0x7E000000  // of the input
	smallLimit = 64<<10 + 11 // inputs below have positions of 16 bits in their table
)

// Encoder compresses blocks. The zero value is ready. It belongs to one goroutine and keeps its tables, which are
// cleared for each block.
type Encoder struct {
	small [8192]uint16
	large [4096]uint32
}

func (e *Encoder) encode(dst, src []byte, acceleration int) int {
	out, anchor := 0, 0
	switch {
	case len(src) > maxLength:
		return 0
	case len(src) < minLength:
	case len(src) < smallLimit:
		clear(e.small[:])
		out, anchor = encodeSmall(dst, src, &e.small, acceleration)
	default:
		clear(e.large[:])
		out, anchor = encodeLarge(dst, src, &e.large, acceleration)
	}
	if out < 0 {
		return 0
	}
	return finish(dst[out:], src[anchor:], out)
}

// finish writes the last sequence, which is literals only, to dst and returns the length of the block: out more than
// that of the sequence.
func finish(dst, literals []byte, out int) int {
	n := len(literals)
	if n+1+(n+255-15)/255 > len(dst) {
		return 0
	}
	i := 1
	if n < 15 {
		dst[0] = byte(n << 4)
	} else {
		dst[0] = 0xf0
		for n -= 15; n >= 255; n -= 255 {
			dst[i] = 255
			i++
		}
		dst[i] = byte(n)
		i++
	}
	return out + i + copy(dst[i:], literals)
}

// encodeSmall and encodeLarge write all sequences but the last to dst. They return the length of these, or -1 where
// they do not fit, and where the literals of the last one start in src. src has minLength bytes at least, and fewer
// than smallLimit for encodeSmall; all of the table is zero.
//
//go:noescape
func encodeSmall(dst, src []byte, table *[8192]uint16, acceleration int) (out, anchor int)

//go:noescape
func encodeLarge(dst, src []byte, table *[4096]uint32, acceleration int) (out, anchor int)
