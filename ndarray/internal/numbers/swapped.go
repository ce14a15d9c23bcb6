package numbers

import (
	"math"
	"math/bits"
)

// The loops below reverse the bytes of numbers and convert them in one pass, for the most common types.

// swappedFloats converts float32 to float64.
func swappedFloats(dst, src []byte) {
	s := numbersIn[uint32](src)
	d := numbersIn[float64](dst)[:len(s)]
	for i, x := range s {
		d[i] = float64(math.Float32frombits(bits.ReverseBytes32(x)))
	}
}

// swappedHalf32 converts float16 to float32.
func swappedHalf32(dst, src []byte) {
	s := numbersIn[uint16](src)
	d := numbersIn[uint32](dst)[:len(s)]
	for i, h := range s {
		d[i] = half32(bits.ReverseBytes16(h))
	}
}

// swappedHalf64 converts float16 to float64.
func swappedHalf64(dst, src []byte) {
	s := numbersIn[uint16](src)
	d := numbersIn[uint64](dst)[:len(s)]
	for i, h := range s {
		d[i] = half64(bits.ReverseBytes16(h))
	}
}

// swapped2 converts integers of 2 bytes.
func swapped2[D integer | float, S int16 | uint16](dst, src []byte) {
	s := numbersIn[uint16](src)
	d := numbersIn[D](dst)[:len(s)]
	for i, x := range s {
		d[i] = D(S(bits.ReverseBytes16(x)))
	}
}

// swapped4 converts integers of 4 bytes.
func swapped4[D integer | float, S int32 | uint32](dst, src []byte) {
	s := numbersIn[uint32](src)
	d := numbersIn[D](dst)[:len(s)]
	for i, x := range s {
		d[i] = D(S(bits.ReverseBytes32(x)))
	}
}

// swappedLoopFor returns the loop that converts numbers in the other byte order than the machine's to numbers in its
// own, or nil if there is none for these types.
func swappedLoopFor(to, from Type) loopFunc {
	switch integral := from.kind == 'i' || from.kind == 'u'; {
	case from.kind == 'f' && from.size == 4 && to.kind == 'f' && to.size == 8:
		return swappedFloats
	case from.kind == 'f' && from.size == 2 && to.kind == 'f' && to.size == 4:
		return swappedHalf32
	case from.kind == 'f' && from.size == 2 && to.kind == 'f' && to.size == 8:
		return swappedHalf64
	case !integral:
		return nil
	case from.size == 2 && to.size == 4 && to.kind == 'f':
		return signed(from, swapped2[float32, int16], swapped2[float32, uint16])
	case from.size == 2 && to.size == 8 && to.kind == 'f':
		return signed(from, swapped2[float64, int16], swapped2[float64, uint16])
	case from.size == 4 && to.size == 8 && to.kind == 'f':
		return signed(from, swapped4[float64, int32], swapped4[float64, uint32])
	case to.kind != 'i' && to.kind != 'u':
		return nil
	case from.size == 2 && to.size == 1:
		return swapped2[uint8, uint16]
	case from.size == 4 && to.size == 1:
		return swapped4[uint8, uint32]
	case from.size == 4 && to.size == 2:
		return swapped4[uint16, uint32]
	case from.size == 2 && to.size == 4:
		return signed(from, swapped2[uint32, int16], swapped2[uint32, uint16])
	case from.size == 2 && to.size == 8:
		return signed(from, swapped2[uint64, int16], swapped2[uint64, uint16])
	case from.size == 4 && to.size == 8:
		return signed(from, swapped4[uint64, int32], swapped4[uint64, uint32])
	}
	return nil
}

// signed returns the loop for the sign of from.
func signed(from Type, signed, unsigned loopFunc) loopFunc {
	if from.kind == 'i' {
		return signed
	}
	return unsigned
}
