//go:build arm64 && !purego

package filters

import "github.com/goblosc/blosc2/internal/cpu"

// vectorLevel is the level that the vector kernels need.
const vectorLevel = cpu.Baseline

// vectorElements is the number of elements that one iteration of the NEON kernels moves.
const vectorElements = 16

// gatherVector moves the byte columns of n elements, which are stride bytes apart in src, to rows, which begin rowLen
// bytes apart in dst. It returns the number of elements it moved, which may be less than n. It moves none if cols is
// not stride or has no kernel.
func gatherVector(dst []byte, rowLen int, src []byte, stride, cols, n int) int {
	n &^= vectorElements - 1
	if n == 0 || cols != stride {
		return 0
	}
	_, _ = src[n*stride-1], dst[(cols-1)*rowLen+n-1]
	switch cols {
	case 2:
		gather2NEON(&dst[0], rowLen, &src[0], n)
	case 3:
		gather3NEON(&dst[0], rowLen, &src[0], n)
	case 4:
		gather4NEON(&dst[0], rowLen, &src[0], n)
	case 8:
		gather8NEON(&dst[0], rowLen, &src[0], n)
	case 16:
		gather16NEON(&dst[0], rowLen, &src[0], n)
	default:
		return 0
	}
	return n
}

// scatterVector undoes gatherVector: it moves rows, which begin rowLen bytes apart in src, to the byte columns of n
// elements, which are stride bytes apart in dst. It returns the number of elements it wrote, which may be less than n.
func scatterVector(dst []byte, stride int, src []byte, rowLen, cols, n int) int {
	n &^= vectorElements - 1
	if n == 0 || cols != stride {
		return 0
	}
	_, _ = dst[n*stride-1], src[(cols-1)*rowLen+n-1]
	switch cols {
	case 2:
		scatter2NEON(&dst[0], &src[0], rowLen, n)
	case 3:
		scatter3NEON(&dst[0], &src[0], rowLen, n)
	case 4:
		scatter4NEON(&dst[0], &src[0], rowLen, n)
	case 8:
		scatter8NEON(&dst[0], &src[0], rowLen, n)
	case 16:
		scatter16NEON(&dst[0], &src[0], rowLen, n)
	default:
		return 0
	}
	return n
}

// The kernels below are the loops
//
//	for i := range n { for j := range width { dst[j*rowLen+i] = src[i*width+j] } } // gather
//	for i := range n { for j := range width { dst[i*width+j] = src[j*rowLen+i] } } // scatter
//
// for the width in their name. n is a multiple of 16 and not zero.

//go:noescape
func gather2NEON(dst *byte, rowLen int, src *byte, n int)

//go:noescape
func gather3NEON(dst *byte, rowLen int, src *byte, n int)

//go:noescape
func gather4NEON(dst *byte, rowLen int, src *byte, n int)

//go:noescape
func gather8NEON(dst *byte, rowLen int, src *byte, n int)

//go:noescape
func gather16NEON(dst *byte, rowLen int, src *byte, n int)

//go:noescape
func scatter2NEON(dst, src *byte, rowLen, n int)

//go:noescape
func scatter3NEON(dst, src *byte, rowLen, n int)

//go:noescape
func scatter4NEON(dst, src *byte, rowLen, n int)

//go:noescape
func scatter8NEON(dst, src *byte, rowLen, n int)

//go:noescape
func scatter16NEON(dst, src *byte, rowLen, n int)
