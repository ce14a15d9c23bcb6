package numbers

import (
	"math"

	"github.com/goblosc/blosc2/ndarray/internal/float16"
)

// convertNumbers converts items in pieces, first to 64-bit numbers and then to the target type. The 64-bit numbers are
// signed, unsigned or floats, which hold the numbers of all other types.
func convertNumbers(dst, src []byte, to, from Type) {
	pair := to.kind == 'c' && from.kind == 'c'
	if pair { // both parts are converted the same way
		to.bytes, from.bytes = to.size, from.size
	} else if to.kind == 'c' {
		clear(dst) // the imaginary parts
	}
	var w, imaginary [256]uint64
	for len(dst) > 0 {
		n := min(len(w), len(dst)/to.bytes)
		from.load(w[:n], src)
		if from.kind == 'c' && to.kind == 'b' {
			from.load(imaginary[:n], src[from.size:])
			for i := range n {
				w[i] = (w[i] | imaginary[i]) &^ (1 << 63) // zero only if both parts are, whatever their sign
			}
		}
		switch {
		case to.kind == 'b' && (from.kind == 'f' || from.kind == 'c'):
			for i, x := range w[:n] {
				w[i] = boolBit(x<<1 != 0)
			}
		case to.kind == 'b':
			for i, x := range w[:n] {
				w[i] = boolBit(x != 0)
			}
		case to.kind == 'f' || to.kind == 'c':
			to.fromAny(w[:n], from.kind)
		case from.kind == 'f' || from.kind == 'c':
			to.fromFloats(w[:n], from.size)
		}
		to.store(dst, w[:n])
		dst, src = dst[n*to.bytes:], src[n*from.bytes:]
	}
}

// boolBit returns 1 for true and 0 for false.
func boolBit(x bool) uint64 {
	if x {
		return 1
	}
	return 0
}

// load reads numbers: integers as 64 bits, floats as the bits of float64.
func (d *Type) load(w []uint64, src []byte) {
	at := 0
	for i := range w {
		switch d.size {
		case 1:
			w[i] = uint64(src[at])
		case 2:
			w[i] = uint64(Load16(src[at:], d.big))
		case 4:
			w[i] = uint64(Load32(src[at:], d.big))
		case 8:
			w[i] = Load64(src[at:], d.big)
		}
		at += d.bytes
	}
	switch {
	case d.kind == 'b':
		for i, x := range w {
			w[i] = boolBit(x != 0)
		}
	case d.kind == 'i' && d.size < 8:
		shift := 64 - 8*d.size
		for i, x := range w {
			w[i] = uint64(int64(x<<shift) >> shift)
		}
	case d.kind != 'f' && d.kind != 'c':
	case d.size == 2:
		for i, x := range w {
			w[i] = math.Float64bits(float16.Float16(x).Float64())
		}
	case d.size == 4:
		for i, x := range w {
			w[i] = math.Float64bits(float64(math.Float32frombits(uint32(x))))
		}
	}
}

// store writes the low bits of numbers.
func (d *Type) store(dst []byte, w []uint64) {
	at := 0
	for _, x := range w {
		switch d.size {
		case 1:
			dst[at] = byte(x)
		case 2:
			Store16(dst[at:], uint16(x), d.big)
		case 4:
			Store32(dst[at:], uint32(x), d.big)
		case 8:
			Store64(dst[at:], x, d.big)
		}
		at += d.bytes
	}
}

// fromAny converts numbers of a kind to the bits of floats of d's size. Integers are rounded to float32 before they are
// rounded to float16, as in NumPy.
func (d *Type) fromAny(w []uint64, kind byte) {
	integer := kind != 'f' && kind != 'c'
	for i, x := range w {
		switch {
		case integer && d.size == 8 && kind == 'i':
			w[i] = math.Float64bits(float64(int64(x)))
		case integer && d.size == 8:
			w[i] = math.Float64bits(float64(x))
		case !integer && d.size == 8:
		case integer:
			y := nearest32(x)
			if kind == 'i' && int64(x) < 0 {
				y = -nearest32(-x)
			}
			if d.size == 4 {
				w[i] = uint64(math.Float32bits(y))
			} else {
				w[i] = uint64(float16.Of(y))
			}
		case d.size == 4:
			w[i] = uint64(math.Float32bits(float32(math.Float64frombits(x))))
		default:
			w[i] = uint64(float16.Of(math.Float64frombits(x)))
		}
	}
}

// nearest32 returns the float32 nearest to x. Go's own conversion loses bits on 386.
func nearest32(x uint64) float32 {
	if low := x & (1<<11 - 1); x>>53 != 0 {
		x -= low
		if low != 0 {
			x |= 1 << 11 // a sticky bit: the float64 is exact, and only the conversion to float32 rounds
		}
	}
	return float32(float64(int64(x>>1))*2 + float64(int64(x&1)))
}

// fromFloats converts the bits of float64 to integers of d's type, truncated towards zero. Numbers that do not fit get
// the values that NumPy's vector code produces on x86-64: the lowest int32, of which smaller types take the low bits,
// or the lowest int64. For uint32 and uint64, half of the range is subtracted from larger numbers before the conversion
// and added afterwards. Only float16 becomes uint32 through 64 bits.
func (d *Type) fromFloats(w []uint64, from int) {
	const two31, two63 = 1 << 31, 1 << 63
	wide := d.size == 8
	unsigned := d.kind == 'u' && d.size >= 4
	if from == 2 && d.kind == 'u' && d.size == 4 {
		wide, unsigned = true, false
	}
	for i, b := range w {
		x, high := math.Float64frombits(b), uint64(0)
		if wide {
			if unsigned && x >= two63 {
				x, high = x-two63, 1<<63
			}
			w[i] = 1<<63 ^ high
			if x >= -two63 && x < two63 {
				w[i] = uint64(int64(x)) ^ high
			}
			continue
		}
		if unsigned && x >= two31 {
			x, high = x-two31, 1<<31
		}
		w[i] = 1<<31 ^ high
		if x > -two31-1 && x < two31 {
			w[i] = uint64(int64(x)) ^ high
		}
	}
}
