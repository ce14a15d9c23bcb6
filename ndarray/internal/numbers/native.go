package numbers

import (
	"math"
	"math/bits"
	"unsafe"
)

// convert converts numbers for which goLoop returns nil: most of them to a smaller type, to bools or from a complex
// type. It does the same as convertNumbers, several times as fast. The exceptions are signaling NaNs that become
// float16, or that are copied from complex numbers: they stay signaling. All calls are static, so that the memory for
// pieces is on the stack.
func convert(dst, src []byte, to, from Type) {
	if to.kind == 'c' && from.kind == 'c' { // the parts are converted alike
		to, from = to.part(), from.part()
	}
	ok := false
	switch {
	case !aligned(dst, to.size) || !aligned(src, min(from.bytes, 8)) || to.kind == 'c':
	case to.kind == 'b':
		truths(dst, src, from)
		ok = true
	case to.foreign() || from.foreign() || from.kind == 'c' || from.size == 2 && from.kind == 'f':
		ok = convertPieces(dst, src, to, from)
	default:
		ok = native(dst, src, to, from)
	}
	if !ok {
		convertNumbers(dst, src, to, from)
	}
}

// part returns the type of one part of complex numbers.
func (d Type) part() Type { return Type{'f', d.size, d.big, d.size} }

// convertPieces converts real parts and numbers in any byte order. It reports whether native converts such numbers.
func convertPieces(dst, src []byte, to, from Type) bool {
	var numbers [piece]uint64
	var floats [piece]uint32
	for len(src) > 0 {
		n := min(len(src)/from.bytes, piece)
		d, x, part := dst[:n*to.size], src[:n*from.bytes], from
		// Safe: the slice ends inside the array.
		b := unsafe.Slice((*byte)(unsafe.Pointer(&numbers)), n*from.size)
		if from.kind == 'c' {
			realParts(b, x, from.size)
			x, part = b, from.part()
		}
		if from.foreign() {
			swapTo(b, x, from.size)
			x = b
		}
		if from.kind == 'f' && from.size == 2 {
			// Safe: the slice ends inside the array.
			f := unsafe.Slice((*byte)(unsafe.Pointer(&floats)), 4*n)
			halfLoop32(f, x)
			x, part.size = f, 4
		}
		if from.size == 2 && from.kind == 'f' && to.kind == 'u' && to.size == 4 {
			truncate64[uint32, float32](d, x) // only float16 becomes uint32 through 64 bits
		} else if !native(d, x, to, part) {
			return false
		}
		if to.foreign() {
			swapTo(d, d, to.size)
		}
		dst, src = dst[len(d):], src[n*from.bytes:]
	}
	return true
}

// realParts copies the real parts of complex numbers whose parts have size bytes.
func realParts(dst, src []byte, size int) {
	if size == 4 {
		copyFirst[uint32](dst, src)
	} else {
		copyFirst[uint64](dst, src)
	}
}

// copyFirst copies the first of every two numbers.
func copyFirst[T uint32 | uint64](dst, src []byte) {
	s := numbersIn[[2]T](src)
	d := numbersIn[T](dst)[:len(s)]
	for i := range s {
		d[i] = s[i][0]
	}
}

// native converts numbers in the byte order of the machine. It reports whether it has a loop for them. It ignores
// the byte orders of the types.
func native(dst, src []byte, to, from Type) bool {
	signed := from.kind == 'i'
	switch integer := from.integer(); {
	case from.kind == 'f' && from.size == 4 && to.kind != 'c':
		nativeFloats[float32](dst, src, to, 4)
	case from.kind == 'f' && from.size == 8 && to.kind != 'c':
		nativeFloats[float64](dst, src, to, 8)
	case integer && to.kind == 'f' && to.size == 2:
		toHalves(dst, src, from)
	case signed && from.size == 8 && to.kind == 'f' && to.size == 4:
		signedFloats(dst, src)
	case integer && from.size == 8 && to.kind == 'f' && to.size == 4:
		unsignedFloats(dst, src)
	case !integer || !to.integer():
		return false
	case from.size == 2 && to.size == 1:
		loop[uint8, uint16](dst, src)
	case from.size == 4 && to.size == 1:
		loop[uint8, uint32](dst, src)
	case from.size == 4 && to.size == 2:
		loop[uint16, uint32](dst, src)
	case from.size == 8 && to.size == 1:
		loop[uint8, uint64](dst, src)
	case from.size == 8 && to.size == 2:
		loop[uint16, uint64](dst, src)
	case from.size == 8 && to.size == 4:
		loop[uint32, uint64](dst, src)
	default:
		return false
	}
	return true
}

// nativeFloats is native for floats of size bytes. It has a loop for all other floats and integers.
func nativeFloats[S float](dst, src []byte, to Type, size int) {
	switch {
	case to.kind == 'f' && to.size == size:
		copy(dst, src)
	case to.kind == 'f' && to.size == 4:
		loop[float32, S](dst, src)
	case to.kind == 'f' && to.size == 8:
		loop[float64, S](dst, src)
	case to.kind == 'f' && size == 4:
		toHalf32(dst, src)
	case to.kind == 'f':
		toHalf64(dst, src)
	case to.size == 1:
		truncate32[uint8, S](dst, src)
	case to.size == 2:
		truncate32[uint16, S](dst, src)
	case to.size == 4 && to.kind == 'i':
		truncate32[uint32, S](dst, src)
	case to.size == 4:
		truncateUint32[S](dst, src)
	case to.kind == 'i':
		truncate64[uint64, S](dst, src)
	default:
		truncateUint64[S](dst, src)
	}
}

// The functions below convert as Type.fromFloats describes.

// truncate32 converts floats through int32.
func truncate32[D uint8 | uint16 | uint32, S float](dst, src []byte) {
	s := numbersIn[S](src)
	d := numbersIn[D](dst)[:len(s)]
	for i, x := range s {
		y, f := uint32(1<<31), float64(x)
		if f > -1<<31-1 && f < 1<<31 {
			y = uint32(int32(f))
		}
		d[i] = D(y)
	}
}

// truncateUint32 converts floats to uint32.
func truncateUint32[S float](dst, src []byte) {
	s := numbersIn[S](src)
	d := numbersIn[uint32](dst)[:len(s)]
	for i, x := range s {
		f, high := float64(x), uint32(0)
		if f >= 1<<31 {
			f, high = f-1<<31, 1<<31
		}
		y := uint32(1 << 31)
		if f > -1<<31-1 && f < 1<<31 {
			y = uint32(int32(f))
		}
		d[i] = y ^ high
	}
}

// truncate64 converts floats through int64.
func truncate64[D uint32 | uint64, S float](dst, src []byte) {
	s := numbersIn[S](src)
	d := numbersIn[D](dst)[:len(s)]
	for i, x := range s {
		y := uint64(1 << 63)
		if x >= -1<<63 && x < 1<<63 {
			y = uint64(int64(x))
		}
		d[i] = D(y)
	}
}

// truncateUint64 converts floats to uint64.
func truncateUint64[S float](dst, src []byte) {
	s := numbersIn[S](src)
	d := numbersIn[uint64](dst)[:len(s)]
	for i, x := range s {
		high := uint64(0)
		if x >= 1<<63 {
			x, high = x-1<<63, 1<<63
		}
		y := uint64(1 << 63)
		if x >= -1<<63 && x < 1<<63 {
			y = uint64(int64(x))
		}
		d[i] = y ^ high
	}
}

// signedFloats converts int64 to float32. float64 holds most numbers exactly. nearest32 rounds the others only once.
func signedFloats(dst, src []byte) {
	s := numbersIn[int64](src)
	d := numbersIn[float32](dst)[:len(s)]
	for i, x := range s {
		switch {
		case x >= -1<<53 && x <= 1<<53:
			d[i] = float32(float64(x))
		case x < 0:
			d[i] = -nearest32(-uint64(x))
		default:
			d[i] = nearest32(uint64(x))
		}
	}
}

// unsignedFloats converts uint64 to float32.
func unsignedFloats(dst, src []byte) {
	s := numbersIn[uint64](src)
	d := numbersIn[float32](dst)[:len(s)]
	for i, x := range s {
		if x <= 1<<53 {
			d[i] = float32(float64(int64(x)))
		} else {
			d[i] = nearest32(x)
		}
	}
}

// truths converts numbers to bools. A number is true if it has a bit other than the signs of floats, whatever the byte
// order.
func truths(dst, src []byte, from Type) {
	float := from.kind == 'f' || from.kind == 'c'
	mask := ^uint64(0) >> (64 - 8*from.size)
	if float {
		mask >>= 1
	}
	if float && from.foreign() {
		mask = bits.ReverseBytes64(mask) >> (64 - 8*from.size)
	}
	switch {
	case from.kind == 'c' && from.size == 4:
		truth(dst, src, mask<<32|mask)
	case from.kind == 'c':
		s := numbersIn[[2]uint64](src)
		d := dst[:len(s)]
		for i := range s {
			d[i] = byte(boolBit((s[i][0]|s[i][1])&mask != 0))
		}
	case from.size == 1:
		truth(dst, src, uint8(mask))
	case from.size == 2:
		truth(dst, src, uint16(mask))
	case from.size == 4:
		truth(dst, src, uint32(mask))
	default:
		truth(dst, src, mask)
	}
}

// truth stores 1 for numbers with a bit of the mask, and 0 for the others.
func truth[S uint8 | uint16 | uint32 | uint64](dst, src []byte, mask S) {
	s := numbersIn[S](src)
	d := dst[:len(s)]
	for i, x := range s {
		d[i] = byte(boolBit(x&mask != 0))
	}
}

// toHalf32 converts float32 to float16.
func toHalf32(dst, src []byte) {
	s := numbersIn[uint32](src)
	d := numbersIn[uint16](dst)[:len(s)]
	for i, x := range s {
		d[i] = halfOf32(x)
	}
}

// halfOf32 returns what float16.Of does of the float32 with the bits b.
func halfOf32(b uint32) uint16 {
	const subnormal = 0.5 // the last bit of numbers from 0.5 to 1 is that of subnormal float16 numbers
	a := b & 0x7fffffff
	h := (a + 0xfff + a>>13&1 - 112<<23) >> 13 // round to even, and correct the bias
	if a < 113<<23 {
		h = math.Float32bits(math.Float32frombits(a)+subnormal) - math.Float32bits(subnormal)
	}
	if a >= 0x477ff000 { // 65520
		h = 0x7c00
		if a > 0x7f800000 {
			h |= max(a>>13&0x3ff, 1)
		}
	}
	return uint16(h | b>>16&0x8000)
}

// toHalf64 converts float64 to float16.
func toHalf64(dst, src []byte) {
	s := numbersIn[uint64](src)
	d := numbersIn[uint16](dst)[:len(s)]
	for i, x := range s {
		d[i] = halfOf64(x)
	}
}

// halfOf64 returns what float16.Of does of the float64 with the bits b.
func halfOf64(b uint64) uint16 {
	const subnormal = 1 << 28 // the last bit of numbers from 2^28 to 2^29 is that of subnormal float16 numbers
	a := b &^ (1 << 63)
	h := (a + 1<<41 - 1 + a>>42&1 - 1008<<52) >> 42
	if a < 0x3f10<<48 {
		h = math.Float64bits(math.Float64frombits(a)+subnormal) - math.Float64bits(subnormal)
	}
	if a >= 0x40effe00<<32 { // 65520
		h = 0x7c00
		if a > 0x7ff0<<48 {
			h |= max(a>>42&0x3ff, 1)
		}
	}
	return uint16(h | b>>48&0x8000)
}

// toHalves converts integers to float16 through float32.
func toHalves(dst, src []byte, from Type) {
	if from.size == 8 {
		var floats [piece]uint32
		for len(src) > 0 {
			n := min(len(src)/8, piece)
			// Safe: the slice ends inside the array.
			f := unsafe.Slice((*byte)(unsafe.Pointer(&floats)), 4*n)
			if from.kind == 'i' {
				signedFloats(f, src[:8*n])
			} else {
				unsignedFloats(f, src[:8*n])
			}
			toHalf32(dst[:2*n], f)
			dst, src = dst[2*n:], src[8*n:]
		}
		return
	}
	switch signed := from.kind == 'i'; {
	case from.size == 1 && signed:
		integerHalf[int8](dst, src)
	case from.size == 1:
		integerHalf[uint8](dst, src)
	case from.size == 2 && signed:
		integerHalf[int16](dst, src)
	case from.size == 2:
		integerHalf[uint16](dst, src)
	case signed:
		integerHalf[int32](dst, src)
	default:
		integerHalf[uint32](dst, src)
	}
}

// integerHalf converts integers of up to 4 bytes to float16.
func integerHalf[S integer](dst, src []byte) {
	s := numbersIn[S](src)
	d := numbersIn[uint16](dst)[:len(s)]
	for i, x := range s {
		d[i] = halfOf32(math.Float32bits(float32(x)))
	}
}

// runComplex converts numbers to the real parts of complex numbers.
func (l *Loop) runComplex(dst, src []byte) {
	part := *l
	part.spread, part.to = false, l.to.part()
	if !aligned(dst, l.to.size) {
		convertNumbers(dst, src, l.to, l.from)
		return
	}
	for len(src) > 0 {
		n := min(len(src)/l.from.bytes, piece)
		d := dst[:n*l.to.bytes]
		// The parts go to the end of d, where spread does not overwrite them before it reads them.
		parts := d[len(d)/2:]
		part.Run(parts, src[:n*l.from.bytes])
		if l.to.size == 4 {
			spread[uint32](d, parts)
		} else {
			spread[uint64](d, parts)
		}
		dst, src = dst[len(d):], src[n*l.from.bytes:]
	}
}

// spread copies numbers and stores a zero after each.
func spread[T uint32 | uint64](dst, src []byte) {
	s := numbersIn[T](src)
	d := numbersIn[[2]T](dst)[:len(s)]
	for i, x := range s {
		d[i] = [2]T{x}
	}
}
