//go:build (amd64 || arm64) && !purego

package filters

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// byteDiff writes the differences of one stream.
func byteDiff(dst, src []byte) { byteDiffGeneric(dst, src, byteDiffVector(dst, src)) }

// byteSum undoes byteDiff.
func byteSum(dst, src []byte) { byteSumGeneric(dst, src, byteSumVector(dst, src)) }

// byteDiffVector does byteDiff for the first bytes and returns how many.
func byteDiffVector(dst, src []byte) int {
	n := (len(src) - 1) &^ 31
	if !cpu.Has(vectorLevel) || n <= 0 {
		return 0
	}
	race.Read(src)
	race.Write(dst)
	dst[0] = src[0]
	_ = dst[n]
	byteDiffKernel(&dst[1], &src[1], n)
	return n + 1
}

// byteSumVector does byteSum for the first bytes and returns how many.
func byteSumVector(dst, src []byte) int {
	n := len(src) &^ 31
	if !cpu.Has(vectorLevel) || n == 0 {
		return 0
	}
	race.Read(src)
	race.Write(dst)
	_ = dst[n-1]
	byteSumKernel(&dst[0], &src[0], n)
	return n
}
