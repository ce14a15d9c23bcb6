//go:build arm64 && !purego

package filters

func byteDiffKernel(dst, src *byte, n int) { byteDiffNEON(dst, src, n) }

func byteSumKernel(dst, src *byte, n int) { byteSumNEON(dst, src, n) }

// In the kernels below n is a multiple of 16 and not zero.

// byteDiffNEON is the loop
//
//	for i := range n { dst[i] = src[i] - src[i-1] }
//
// It reads the byte before src.
//
//go:noescape
func byteDiffNEON(dst, src *byte, n int)

// byteSumNEON is the loop, with 0 in place of dst[-1],
//
//	for i := range n { dst[i] = dst[i-1] + src[i] }
//
// dst may be src.
//
//go:noescape
func byteSumNEON(dst, src *byte, n int)
