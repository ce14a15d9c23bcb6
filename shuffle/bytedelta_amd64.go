//go:build amd64 && !purego

package shuffle

// byteDiff writes the differences of one stream.
func byteDiff(dst, src []byte) { byteDiffGeneric(dst, src, byteDiffVector(dst, src)) }

// byteSum undoes byteDiff.
func byteSum(dst, src []byte) { byteSumGeneric(dst, src, byteSumVector(dst, src)) }

// byteDiffVector does byteDiff for the first bytes and returns how many.
func byteDiffVector(dst, src []byte) int {
	n := (len(src) - 1) &^ 31
	if !use.avx2 || n <= 0 {
		return 0
	}
	raceRead(src)
	raceWrite(dst)
	dst[0] = src[0]
	_ = dst[n]
	byteDiffAVX2(&dst[1], &src[1], n)
	return n + 1
}

// byteSumVector does byteSum for the first bytes and returns how many.
func byteSumVector(dst, src []byte) int {
	n := len(src) &^ 31
	if !use.avx2 || n == 0 {
		return 0
	}
	raceRead(src)
	raceWrite(dst)
	_ = dst[n-1]
	byteSumAVX2(&dst[0], &src[0], n)
	return n
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

// byteSumAVX2 is the loop, with 0 in place of dst[-1],
//
//	for i := range n { dst[i] = dst[i-1] + src[i] }
//
// dst may be src.
//
//go:noescape
func byteSumAVX2(dst, src *byte, n int)
