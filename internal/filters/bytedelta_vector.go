package filters

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// byteDiff writes the differences of one stream.
func byteDiff(dst, src []byte) { byteDiffGeneric(dst, src, byteDiffVector(dst, src)) }

// byteSum undoes byteDiff.
func byteSum(dst, src []byte) { byteSumGeneric(dst, src, byteSumVector(dst, src)) }

// byteDiffVector does byteDiff for the first bytes and returns their number.
func byteDiffVector(dst, src []byte) int {
	n := (len(src) - 1) &^ 31
	if !cpu.Has(vectorLevel) || n <= 0 {
		return 0
	}
	race.Read(src)
	race.Write(dst)
	dst[0] = src[0]
	byteDiffKernel(dst[:n+1], src[:n+1])
	return n + 1
}

// byteSumVector does byteSum for the first bytes and returns their number.
func byteSumVector(dst, src []byte) int {
	n := len(src) &^ 31
	if !cpu.Has(vectorLevel) || n == 0 {
		return 0
	}
	race.Read(src)
	race.Write(dst)
	byteSumKernel(dst[:n], src[:n])
	return n
}
