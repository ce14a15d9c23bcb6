package ndarray

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/goblosc/blosc2/meta"
)

// castTo returns a function that makes items of one dtype from those of another, as astype of NumPy does on x86-64
// (see AsType), or nil when they are the same. dst and src hold whole items, as many. The error is ErrType.
func castTo(to, from meta.DType) (func(dst, src []byte), error) {
	if to.String() == from.String() {
		return nil, nil
	}
	if widths := swaps(to, from); widths != nil {
		return func(dst, src []byte) {
			copy(dst, src)
			if to.Fields == nil && to.Elem == nil {
				swap(dst, widths[0].width)
				return
			}
			for ; len(dst) > 0; dst = dst[to.Size:] {
				for _, w := range widths {
					swap(dst[w.at:w.at+w.width], w.width)
				}
			}
		}, nil
	}
	text := from.Kind == 'S' || from.Kind == 'U'
	if text && from.Kind == to.Kind && from.Size > 0 {
		return func(dst, src []byte) { convertText(dst, src, to, from) }, nil
	}
	d, okTo := numberOf(to, from)
	s, okFrom := numberOf(from, to)
	if !okTo || !okFrom {
		return nil, fmt.Errorf("ndarray: %w: items of %v cannot become %v", ErrType, from, to)
	}
	return func(dst, src []byte) { convertNumbers(dst, src, d, s) }, nil
}

// swapped is a number whose bytes are to be reversed.
type swapped struct{ at, width int }

// swaps lists the numbers that have another byte order, of dtypes that differ in nothing else; nil if they do.
func swaps(to, from meta.DType) []swapped {
	if littleEndian(to).String() != littleEndian(from).String() {
		return nil
	}
	return appendSwaps(nil, to, from, 0)
}

func appendSwaps(list []swapped, to, from meta.DType, at int) []swapped {
	switch {
	case to.Fields != nil:
		for i := range to.Fields {
			list = appendSwaps(list, to.Fields[i].Type, from.Fields[i].Type, at+to.Fields[i].Offset)
		}
	case to.Elem != nil:
		if to.Elem.Size > 0 {
			for k := range to.Size / to.Elem.Size {
				list = appendSwaps(list, *to.Elem, *from.Elem, at+k*to.Elem.Size)
			}
		}
	case to.Order != from.Order:
		width := to.Size
		switch to.Kind {
		case 'c':
			width /= 2
		case 'U':
			width = 4
		}
		for k := 0; k < to.Size; k += width {
			list = append(list, swapped{at + k, width})
		}
	}
	return list
}

// littleEndian returns a dtype with all numbers little-endian.
func littleEndian(d meta.DType) meta.DType {
	if d.Order == '>' {
		d.Order = '<'
	}
	if d.Fields != nil {
		fields := append([]meta.Field{}, d.Fields...)
		for i := range fields {
			fields[i].Type = littleEndian(fields[i].Type)
		}
		d.Fields = fields
	}
	if d.Elem != nil {
		e := littleEndian(*d.Elem)
		d.Elem = &e
	}
	return d
}

// convertText cuts text off or fills it up with zeros.
func convertText(dst, src []byte, to, from meta.DType) {
	for len(dst) > 0 {
		n := copy(dst[:to.Size], src[:from.Size])
		clear(dst[n:to.Size])
		if to.Order != from.Order {
			swap(dst[:n], 4)
		}
		dst, src = dst[to.Size:], src[from.Size:]
	}
}

// numberType is a type of numbers.
type numberType struct {
	kind  byte // 'b', 'i', 'u', 'f' or 'c'
	size  int  // of a part of a complex number
	big   bool
	bytes int // from one item to the next
}

// numberOf returns d as a type of numbers. Dates and time differences are whole numbers beside such.
func numberOf(d, other meta.DType) (numberType, bool) {
	n := numberType{d.Kind, d.Size, d.Order == '>', d.Size}
	switch d.Kind {
	case 'b', 'i', 'u':
		return n, d.Elem == nil
	case 'f':
		return n, d.Size <= 8
	case 'c':
		n.size /= 2
		return n, d.Size <= 16
	case 'M', 'm':
		n.kind = 'i'
		return n, other.Kind == 'i' || other.Kind == 'u'
	}
	return n, false
}

// convertNumbers converts in pieces by way of 64-bit numbers: signed, unsigned or floats, which hold all others.
func convertNumbers(dst, src []byte, to, from numberType) {
	pair := to.kind == 'c' && from.kind == 'c'
	if pair { // both parts alike
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
				w[i] = (w[i] | imaginary[i]) &^ (1 << 63) // neither is a zero of any sign
			}
		}
		switch {
		case to.kind == 'b' && (from.kind == 'f' || from.kind == 'c'):
			for i, x := range w[:n] {
				w[i] = truth(x<<1 != 0)
			}
		case to.kind == 'b':
			for i, x := range w[:n] {
				w[i] = truth(x != 0)
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

func truth(x bool) uint64 {
	if x {
		return 1
	}
	return 0
}

// load reads numbers: whole ones as 64 bits, floats as the bits of float64.
func (d *numberType) load(w []uint64, src []byte) {
	at, le := 0, binary.LittleEndian
	for i := range w {
		switch d.size {
		case 1:
			w[i] = uint64(src[at])
		case 2:
			x := le.Uint16(src[at:])
			if d.big {
				x = bits.ReverseBytes16(x)
			}
			w[i] = uint64(x)
		case 4:
			x := le.Uint32(src[at:])
			if d.big {
				x = bits.ReverseBytes32(x)
			}
			w[i] = uint64(x)
		case 8:
			x := le.Uint64(src[at:])
			if d.big {
				x = bits.ReverseBytes64(x)
			}
			w[i] = x
		}
		at += d.bytes
	}
	switch {
	case d.kind == 'b':
		for i, x := range w {
			w[i] = truth(x != 0)
		}
	case d.kind == 'i' && d.size < 8:
		shift := 64 - 8*d.size
		for i, x := range w {
			w[i] = uint64(int64(x<<shift) >> shift)
		}
	case d.kind != 'f' && d.kind != 'c':
	case d.size == 2:
		for i, x := range w {
			w[i] = math.Float64bits(Float16(x).Float64())
		}
	case d.size == 4:
		for i, x := range w {
			w[i] = math.Float64bits(float64(math.Float32frombits(uint32(x))))
		}
	}
}

// store writes numbers, of which it takes the lower bits.
func (d *numberType) store(dst []byte, w []uint64) {
	at, le := 0, binary.LittleEndian
	for _, x := range w {
		switch d.size {
		case 1:
			dst[at] = byte(x)
		case 2:
			if d.big {
				x = uint64(bits.ReverseBytes16(uint16(x)))
			}
			le.PutUint16(dst[at:], uint16(x))
		case 4:
			if d.big {
				x = uint64(bits.ReverseBytes32(uint32(x)))
			}
			le.PutUint32(dst[at:], uint32(x))
		case 8:
			if d.big {
				x = bits.ReverseBytes64(x)
			}
			le.PutUint64(dst[at:], x)
		}
		at += d.bytes
	}
}

// fromAny makes the bits of floats of d's size from numbers of a kind. Whole numbers become float16 by way of
// float32, as in NumPy.
func (d *numberType) fromAny(w []uint64, kind byte) {
	whole := kind != 'f' && kind != 'c'
	for i, x := range w {
		switch {
		case whole && d.size == 8 && kind == 'i':
			w[i] = math.Float64bits(float64(int64(x)))
		case whole && d.size == 8:
			w[i] = math.Float64bits(float64(x))
		case !whole && d.size == 8:
		case whole:
			y := nearest32(x)
			if kind == 'i' && int64(x) < 0 {
				y = -nearest32(-x)
			}
			if d.size == 4 {
				w[i] = uint64(math.Float32bits(y))
			} else {
				w[i] = uint64(Float16Of(y))
			}
		case d.size == 4:
			w[i] = uint64(math.Float32bits(float32(math.Float64frombits(x))))
		default:
			w[i] = uint64(Float16Of(math.Float64frombits(x)))
		}
	}
}

// nearest32 returns the float32 nearest to x. Go's own conversion cuts bits off on 386.
func nearest32(x uint64) float32 {
	if low := x & (1<<11 - 1); x>>53 != 0 {
		x -= low
		if low != 0 {
			x |= 1 << 11 // a bit that tells halves from more: the float64 is exact, and only the next step rounds
		}
	}
	return float32(float64(int64(x>>1))*2 + float64(int64(x&1)))
}

// fromFloats makes whole numbers of d's type from the bits of float64, cut towards zero. What does not fit becomes what
// NumPy makes of it on x86-64, where it converts many at once: the lowest number of 32 bits, of which smaller types take
// the lower ones, or of 64 bits; types without sign of 32 and 64 bits take half of their range off numbers above it,
// and put it back. Only float16 becomes uint32 by way of 64 bits.
func (d *numberType) fromFloats(w []uint64, from int) {
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
