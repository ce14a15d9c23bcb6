//go:build amd64 && !purego

package shuffle

func byteDiffKernel(dst, src *byte, n int) { byteDiffAVX2(dst, src, n) }

func byteSumKernel(dst, src *byte, n int) { byteSumAVX2(dst, src, n) }

// The kernels below need AVX2. n is a multiple of 32 and not zero.

// byteDiffAVX2 is the loop
//
//	for i := range n { dst[i] = src[i] - src[i-1] }
//
// It reads the byte before src.
//
//go:noescape
func byteDiffAVX2(dst, src *byte, n int)

// byteSumAVX2 is the loop, with 0 in place of dst[-1],
//
//	for i := range n { dst[i] = dst[i-1] + src[i] }
//
// dst may be src.
//
//go:noescape
func byteSumAVX2(dst, src *byte, n int)
