//go:build amd64 && !purego

package filters

import "github.com/goblosc/blosc2/internal/cpu"

// byteDiffKernel is byteDiff without the first byte. The number of bytes after it is a multiple of 32 and not zero.
func byteDiffKernel(dst, src []byte) { byteDiffAVX2(&dst[1], &src[1], len(src)-1) }

// byteSumKernel is byteSum for a multiple of 32 bytes that is not zero.
func byteSumKernel(dst, src []byte) {
	if cpu.Has(cpu.AVX512) {
		byteSumAVX512(&dst[0], &src[0], &sumMasks, len(src))
	} else {
		byteSumAVX2(&dst[0], &src[0], len(src))
	}
}

// sumMasks are masks of VPERMB. For each byte, they select the last byte of the quadword, of the lane and of the half
// below it, and the last byte of the vector. They never change.
var sumMasks = makeSumMasks()

func makeSumMasks() (masks [4][64]byte) {
	for i := range 64 {
		masks[0][i], masks[1][i], masks[2][i], masks[3][i] = byte(i&^15+7), byte(i&^31+15), 31, 63
	}
	return masks
}

// The kernels below need AVX2. n is a multiple of 32 and not zero.

// byteDiffAVX2 is the loop
//
//	for i := range n { dst[i] = src[i] - src[i-1] }
//
// It reads the byte before src.
//
//go:noescape
func byteDiffAVX2(dst, src *byte, n int)

// byteSumAVX2 is the loop, with dst[-1] = 0,
//
//	for i := range n { dst[i] = dst[i-1] + src[i] }
//
// dst may be src.
//
//go:noescape
func byteSumAVX2(dst, src *byte, n int)

// byteSumAVX512 is byteSumAVX2 with AVX-512 and VBMI. masks are sumMasks.
//
//go:noescape
func byteSumAVX512(dst, src *byte, masks *[4][64]byte, n int)
