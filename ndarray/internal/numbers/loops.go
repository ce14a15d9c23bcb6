package numbers

import (
	"encoding/binary"
	"math"
	"math/bits"
	"runtime"
	"unsafe"
)

// loopFunc converts numbers. dst and src hold the same number of numbers, without a remainder.
type loopFunc func(dst, src []byte)

// piece is the number of items that are converted at once if their bytes are also reversed, so that they stay in the
// cache.
const piece = 256

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type float interface{ float32 | float64 }

// loop converts numbers with Go's conversion. The numbers have the byte order of the machine.
func loop[D, S integer | float](dst, src []byte) {
	s := numbersIn[S](src)
	d := numbersIn[D](dst)[:len(s)]
	for i, x := range s {
		d[i] = D(x)
	}
}

// boolLoop converts bools to numbers. Every byte except 0 is true.
func boolLoop[D integer | float](dst, src []byte) {
	d := numbersIn[D](dst)[:len(src)]
	for i, x := range src {
		d[i] = D((int32(x) + 255) >> 8) // 1 for all except 0, without a branch
	}
}

// boolHalves converts bools to float16.
func boolHalves(dst, src []byte) {
	const one = 0x3c00
	d := numbersIn[uint16](dst)[:len(src)]
	for i, x := range src {
		d[i] = uint16(boolBit(x != 0)) * one
	}
}

// boolCopy copies bools. True becomes 1. It does eight at a time: the sum of the low seven bits of a byte and 0x7f has
// the highest bit if one of them is set.
func boolCopy(dst, src []byte) {
	const low, high = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	n := binary.NativeEndian
	for ; len(src) >= 8 && len(dst) >= 8; dst, src = dst[8:], src[8:] {
		x := n.Uint64(src)
		n.PutUint64(dst, ((x&low+low)|x)&high>>7)
	}
	boolLoop[uint8](dst, src)
}

// CopyBools returns the Loop that copies bools. True becomes 1.
func CopyBools() Loop {
	l := Loop{loop: boolCopy, in: 1, out: 1}
	l.kernel, l.least = boolKernel()
	return l
}

// halfLoop32 converts float16 to float32.
func halfLoop32(dst, src []byte) {
	s := numbersIn[uint16](src)
	d := numbersIn[uint32](dst)[:len(s)]
	for i, h := range s {
		d[i] = half32(h)
	}
}

// half32 returns the bits of the float32 that is the same number as the float16 with the bits h.
func half32(h uint16) uint32 {
	// The exponent of float32 has three more bits. The product corrects the bias, also of subnormal numbers.
	x := uint32(h&0x7fff) << 13
	y := math.Float32bits(math.Float32frombits(x) * 0x1p112)
	if h&0x7c00 == 0x7c00 {
		y = x | 0x7f800000
	}
	return y | uint32(h&0x8000)<<16
}

// halfLoop64 converts float16 to float64.
func halfLoop64(dst, src []byte) {
	s := numbersIn[uint16](src)
	d := numbersIn[uint64](dst)[:len(s)]
	for i, h := range s {
		d[i] = half64(h)
	}
}

// half64 returns the bits of the float64 that is the same number as the float16 with the bits h.
func half64(h uint16) uint64 {
	x := uint64(h&0x7fff) << 42
	y := math.Float64bits(math.Float64frombits(x) * 0x1p1008)
	if h&0x7c00 == 0x7c00 {
		y = x | 0x7ff0000000000000
	}
	return y | uint64(h&0x8000)<<48
}

// numbersIn returns the memory of b as numbers.
//
// Safe: the result ends inside b, T has no pointers, and loopFor uses the loops only for memory that has the alignment
// of T or on machines that need none.
func numbersIn[T any](b []byte) []T {
	if len(b) < int(unsafe.Sizeof(*new(T))) {
		return nil // the address of a number would reach past the end of b
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// anyAddress reports whether the machine can load numbers from any address.
func anyAddress() bool {
	switch runtime.GOARCH {
	case "amd64", "386", "arm64", "wasm", "ppc64le", "s390x":
		return true
	}
	return false
}

// aligned reports whether the machine can load numbers of width bytes from b.
//
// Safe: the address is not used to load anything.
func aligned(b []byte, width int) bool {
	return anyAddress() || uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(width) == 0
}

// loopFor returns the loop that converts numbers in the byte order of the machine, or nil if there is none for these
// types. Then convert converts them.
func loopFor(to, from Type) loopFunc {
	switch {
	case from.kind == 'b':
		return boolLoops(to)
	case from.kind == 'i' || from.kind == 'u':
		return intLoop(to, from)
	case from.kind != 'f' || to.kind != 'f':
	case from.size == 4 && to.size == 2:
		return toHalf32
	case from.size == 8 && to.size == 2:
		return toHalf64
	case from.size == 2 && to.size == 4:
		return halfLoop32
	case from.size == 2 && to.size == 8:
		return halfLoop64
	case from.size == 4 && to.size == 8:
		return loop[float64, float32]
	case from.size == 8 && to.size == 4:
		return loop[float32, float64]
	}
	return nil
}

// intLoop returns the loop that converts integers.
func intLoop(to, from Type) loopFunc {
	row := bits.TrailingZeros(uint(from.size))
	if from.kind == 'u' {
		row += 4
	}
	switch column := bits.TrailingZeros(uint(to.size)); {
	case to.kind == 'i' || to.kind == 'u':
		return intLoops[row][column]
	case to.kind == 'f' && to.size >= 4:
		return intLoops[row][column+2]
	}
	return nil
}

// intLoops are the loops that convert int8 to int64 and uint8 to uint64. The columns are integers of 1, 2, 4 and 8
// bytes, of which signed and unsigned ones have the same bits, float32 and float64. On 386, Go rounds integers of 8
// bytes twice if it converts them to float32. As a table of functions that are known at compile time, the loops are
// found without allocating.
var intLoops = [8][6]loopFunc{
	{loop[uint8, int8], loop[uint16, int8], loop[uint32, int8], loop[uint64, int8], loop[float32, int8], loop[float64, int8]},
	{loop[uint8, int16], loop[uint16, int16], loop[uint32, int16], loop[uint64, int16], loop[float32, int16], loop[float64, int16]},
	{loop[uint8, int32], loop[uint16, int32], loop[uint32, int32], loop[uint64, int32], loop[float32, int32], loop[float64, int32]},
	{loop[uint8, int64], loop[uint16, int64], loop[uint32, int64], loop[uint64, int64], nil, loop[float64, int64]},
	{loop[uint8, uint8], loop[uint16, uint8], loop[uint32, uint8], loop[uint64, uint8], loop[float32, uint8], loop[float64, uint8]},
	{loop[uint8, uint16], loop[uint16, uint16], loop[uint32, uint16], loop[uint64, uint16], loop[float32, uint16], loop[float64, uint16]},
	{loop[uint8, uint32], loop[uint16, uint32], loop[uint32, uint32], loop[uint64, uint32], loop[float32, uint32], loop[float64, uint32]},
	{loop[uint8, uint64], loop[uint16, uint64], loop[uint32, uint64], loop[uint64, uint64], nil, loop[float64, uint64]},
}

// boolLoops returns the loop that converts bools.
func boolLoops(to Type) loopFunc {
	switch integral := to.kind != 'f' && to.kind != 'c'; {
	case integral && to.size == 1:
		return boolLoop[uint8]
	case integral && to.size == 2:
		return boolLoop[uint16]
	case integral && to.size == 4:
		return boolLoop[uint32]
	case integral:
		return boolLoop[uint64]
	case to.kind == 'f' && to.size == 2:
		return boolHalves
	case to.kind == 'f' && to.size == 4:
		return boolLoop[float32]
	case to.kind == 'f' && to.size == 8:
		return boolLoop[float64]
	}
	return nil
}

// Conversion returns the Loop that converts numbers of one type to another. On machines that load numbers from any
// address, it allocates nothing if the target holds every number of the source, except for foreign targets.
func Conversion(to, from Type) Loop {
	t, s := to, from
	if t.kind == 'c' && s.kind == 'c' { // the parts are converted alike
		t.kind, s.kind = 'f', 'f'
	}
	if t.size == s.size && (t.kind == s.kind || t.integer() && s.integer()) {
		switch {
		case t.kind == 'b':
			return CopyBools()
		case t.foreign() == s.foreign():
			return NewLoop(func(dst, src []byte) { copy(dst, src) })
		}
		return Swapper(s.size)
	}
	if t.kind == 'c' {
		l := Conversion(to.part(), from)
		l.spread, l.to, l.from = true, to, from
		return l
	}
	l := Loop{loop: goLoop(t, s, to, from), to: to, from: from, in: from.size, out: to.size}
	l.kernel, l.least = kernelFor(t, s)
	return l
}

// goLoop returns the function that converts items of dtype from to items of dtype to, or nil if convert does. t and s
// are the types of the numbers, which differ from the dtypes if both are complex.
func goLoop(t, s, to, from Type) loopFunc {
	var f loopFunc
	if s.foreign() && !t.foreign() {
		f = swappedLoopFor(t, s)
	}
	if f == nil && !(s.foreign() && t.size < s.size) {
		if f = loopFor(t, s); f != nil && (s.foreign() || t.foreign()) {
			f = inPieces(f, t, s)
		}
	}
	if f == nil || anyAddress() {
		return f
	}
	return whenAligned(f, to, from)
}

// whenAligned returns the function that converts numbers with f if they have the alignment of their types.
func whenAligned(f loopFunc, to, from Type) loopFunc {
	return func(dst, src []byte) {
		if aligned(dst, to.size) && aligned(src, from.size) {
			f(dst, src)
		} else {
			convertNumbers(dst, src, to, from)
		}
	}
}

// inPieces returns the function that converts numbers with f and reverses their bytes before or after it.
func inPieces(f loopFunc, to, from Type) loopFunc {
	return func(dst, src []byte) {
		for len(src) > 0 {
			n := min(len(src)/from.size, piece)
			d, x := dst[:n*to.size], src[:n*from.size]
			if from.foreign() {
				// The numbers go to the end of d, where the loop does not overwrite them before it reads them.
				native := d[n*(to.size-from.size):]
				swapTo(native, x, from.size)
				x = native
			}
			f(d, x)
			if to.foreign() {
				swapTo(d, d, to.size)
			}
			dst, src = dst[len(d):], src[n*from.size:]
		}
	}
}
