package numbers

import (
	"encoding/binary"
	"math/bits"
)

// Swapper returns the Loop that copies numbers of width bytes and reverses the bytes of each. It allocates nothing for
// widths of 2, 4 and 8 bytes.
func Swapper(width int) Loop {
	l := Loop{in: width, out: width}
	switch width {
	case 2:
		l.loop = func(dst, src []byte) { swapTo(dst, src, 2) }
	case 4:
		l.loop = func(dst, src []byte) { swapTo(dst, src, 4) }
	case 8:
		l.loop = func(dst, src []byte) { swapTo(dst, src, 8) }
	default:
		l.loop = func(dst, src []byte) { swapTo(dst, src, width) }
	}
	l.kernel, l.least = swapKernel(width)
	return l
}

// swapTo copies numbers of width bytes and reverses the bytes of each.
func swapTo(dst, src []byte, width int) {
	n := binary.NativeEndian
	if aligned(dst, width) && aligned(src, width) {
		switch width {
		case 2:
			s := numbersIn[uint16](src)
			d := numbersIn[uint16](dst)[:len(s)]
			for i, x := range s {
				d[i] = bits.ReverseBytes16(x)
			}
		case 4:
			s := numbersIn[uint32](src)
			d := numbersIn[uint32](dst)[:len(s)]
			for i, x := range s {
				d[i] = bits.ReverseBytes32(x)
			}
		case 8:
			s := numbersIn[uint64](src)
			d := numbersIn[uint64](dst)[:len(s)]
			for i, x := range s {
				d[i] = bits.ReverseBytes64(x)
			}
		}
		return
	}
	switch width {
	case 2:
		for ; len(src) >= 2 && len(dst) >= 2; dst, src = dst[2:], src[2:] {
			n.PutUint16(dst, bits.ReverseBytes16(n.Uint16(src)))
		}
	case 4:
		for ; len(src) >= 4 && len(dst) >= 4; dst, src = dst[4:], src[4:] {
			n.PutUint32(dst, bits.ReverseBytes32(n.Uint32(src)))
		}
	case 8:
		for ; len(src) >= 8 && len(dst) >= 8; dst, src = dst[8:], src[8:] {
			n.PutUint64(dst, bits.ReverseBytes64(n.Uint64(src)))
		}
	}
}
