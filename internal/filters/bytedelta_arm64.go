//go:build arm64 && !purego

package filters

// byteDiffKernel is byteDiff without the first byte. The number of bytes after it is a multiple of 32 and not zero.
func byteDiffKernel(dst, src []byte) { byteDiffNEON(&dst[1], &src[1], len(src)-1) }

// byteSumKernel is byteSum for a multiple of 32 bytes that is not zero.
func byteSumKernel(dst, src []byte) { byteSumNEON(&dst[0], &src[0], len(src)) }

// In the kernels below n is a multiple of 16 and not zero.

// byteDiffNEON is the loop
//
//	for i := range n { dst[i] = src[i] - src[i-1] }
//
// It reads the byte before src.
//
//go:noescape
func byteDiffNEON(dst, src *byte, n int)

// byteSumNEON is the loop, with dst[-1] = 0,
//
//	for i := range n { dst[i] = dst[i-1] + src[i] }
//
// dst may be src.
//
//go:noescape
func byteSumNEON(dst, src *byte, n int)
