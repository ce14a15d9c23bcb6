//go:build amd64 && !purego

package filters

// turn512 is the number of elements that one iteration of the AVX-512 kernels moves.
const turn512 = 64

// gather512 is gatherVector with AVX-512. It moves a multiple of 64 elements.
func gather512(dst []byte, rowLen int, src []byte, stride, cols, n int) int {
	n = vectorFit(len(src), 16, stride, loadElements(cols), n) &^ (turn512 - 1)
	if n == 0 {
		return 0
	}
	_ = dst[(cols-1)*rowLen+n-1]
	mask := &gatherMasks512[cols]
	switch {
	case cols == 2:
		gather2AVX512(&dst[0], rowLen, &src[0], mask, n)
	case cols <= 4:
		gather4AVX512(&dst[0], rowLen, &src[0], mask, cols, n)
	case cols <= 8:
		gather8AVX512(&dst[0], rowLen, &src[0], mask, cols, n)
	default:
		gather16AVX512(&dst[0], rowLen, &src[0], mask, stride, cols, n)
	}
	return n
}

// scatter512 is scatterVector with AVX-512. It moves a multiple of 64 elements. It moves no elements of 2, 4 or 8
// bytes, for which AVX2 is as fast.
func scatter512(dst []byte, stride int, src []byte, rowLen, cols, n int) int {
	if cols == 2 || cols == 4 || cols == 8 {
		return 0
	}
	if stride > 16 {
		n = vectorFit(len(dst), 16, stride, 1, n)
	} else {
		n = vectorFit(len(dst), 64, stride, 4*loadElements(cols), n)
	}
	if n &^= turn512 - 1; n == 0 {
		return 0
	}
	_ = src[(cols-1)*rowLen+n-1]
	mask := &scatterMasks512[cols]
	rows := rowOffsets(rowLen, cols)
	switch {
	case cols <= 4:
		scatter4AVX512(&dst[0], &src[0], (*[4]int)(rows[:]), mask, cols, n)
	case cols <= 8:
		scatter8AVX512(&dst[0], &src[0], (*[8]int)(rows[:]), mask, cols, n)
	default:
		scatter16AVX512(&dst[0], stride, &src[0], &rows, mask, n)
	}
	return n
}

// rowOffsets returns the offsets of rows. Kernels that load more rows than exist load the first row again.
func rowOffsets(rowLen, cols int) (rows [16]int) {
	for j := range cols {
		rows[j] = j * rowLen
	}
	return rows
}

// gatherMasks512 and scatterMasks512 hold the masks of VPERMB for widths from 2 to 16. They never change.
var (
	gatherMasks512  = makeMasks512(gatherMask512)
	scatterMasks512 = makeMasks512(scatterMask512)
)

func makeMasks512(f func(width, k int) [64]byte) (masks [17][64]byte) {
	for width := 2; width <= 16; width++ {
		masks[width] = f(width, 4*loadElements(width))
	}
	return masks
}

// gatherMask512 returns the mask that moves byte j of k elements to unit j of k bytes. Each lane has a quarter of the
// elements.
func gatherMask512(width, k int) (mask [64]byte) {
	for i := range mask {
		if j, e := i/k, i%k; j < width {
			mask[i] = byte(e/(k/4)*16 + e%(k/4)*width + j)
		}
	}
	return mask
}

// scatterMask512 returns the mask that undoes gatherMask512, with elements width bytes apart.
func scatterMask512(width, k int) (mask [64]byte) {
	for i := range k * width {
		mask[i] = byte(i%width*k + i/width)
	}
	return mask
}

// The kernels below need AVX-512 with VBMI. n is a multiple of 64 and not zero. Rows begin rowLen bytes apart, or at
// the offsets in rows.

// gather2AVX512 is the loop of gather2AVX2.
//
//go:noescape
func gather2AVX512(dst *byte, rowLen int, src *byte, mask *[64]byte, n int)

// gather4AVX512 is the loop of gather4AVX2, for a width of 3 or 4. It reads src[:n*width+16-4*width].
//
//go:noescape
func gather4AVX512(dst *byte, rowLen int, src *byte, mask *[64]byte, width, n int)

// scatter4AVX512 is the loop of scatter4AVX2, for a width of 3 or 4. It writes dst[:n*width+64-16*width].
//
//go:noescape
func scatter4AVX512(dst, src *byte, rows *[4]int, mask *[64]byte, width, n int)

// gather8AVX512 is the loop of gather4AVX2 for a width of 5 to 8. It reads src[:n*width+16-2*width].
//
//go:noescape
func gather8AVX512(dst *byte, rowLen int, src *byte, mask *[64]byte, width, n int)

// scatter8AVX512 is the loop of scatter4AVX2 for a width of 5 to 8. It writes dst[:n*width+64-8*width].
//
//go:noescape
func scatter8AVX512(dst, src *byte, rows *[8]int, mask *[64]byte, width, n int)

// gather16AVX512 does the loops of gatherLow16AVX2 and gatherHigh16AVX2, for 9 to 16 rows. It reads
// src[:(n-1)*stride+16].
//
//go:noescape
func gather16AVX512(dst *byte, rowLen int, src *byte, mask *[64]byte, stride, rows, n int)

// scatter16AVX512 is the loop of scatter16AVX2, for 9 to 16 rows. If the stride is at most 16, it must be the number of
// rows. The kernel then writes dst[:n*stride+64-4*stride].
//
//go:noescape
func scatter16AVX512(dst *byte, stride int, src *byte, rows *[16]int, mask *[64]byte, n int)
