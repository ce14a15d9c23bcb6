//go:build amd64 && !purego

package filters

import "github.com/goblosc/blosc2/internal/cpu"

// vectorLevel is the level that all vector kernels need. Some need cpu.AVX512.
const vectorLevel = cpu.AVX2

// vectorElements is the number of elements that one iteration of the AVX2 kernels moves. One iteration with AVX-512
// moves twice as many.
const vectorElements = 32

// gatherVector moves the first cols byte columns of n elements, which are stride bytes apart in src, to rows, which
// begin rowLen bytes apart in dst. It returns the number of elements it moved, which may be less than n. Either cols is
// stride, 2 to 16, or cols is 16 and stride is larger.
//
// The kernels load 16 bytes wherever elements begin. These loads must be inside src, so gatherVector may leave out the
// last elements.
func gatherVector(dst []byte, rowLen int, src []byte, stride, cols, n int) int {
	done := 0
	if cpu.Has(cpu.AVX512) {
		done = gather512(dst, rowLen, src, stride, cols, n)
	}
	if n -= done; n < vectorElements {
		return done
	}
	return done + gather256(dst[done:], rowLen, src[done*stride:], stride, cols, n)
}

// gather256 is gatherVector with AVX2.
func gather256(dst []byte, rowLen int, src []byte, stride, cols, n int) int {
	perLoad := loadElements(cols)
	n = vectorFit(len(src), 16, stride, perLoad, n) &^ (vectorElements - 1)
	if n == 0 {
		return 0
	}
	_ = dst[(cols-1)*rowLen+n-1]
	switch perLoad {
	case 8:
		gather2AVX2(&dst[0], rowLen, &src[0], &gatherMasks[2], n)
	case 4:
		gather4AVX2(&dst[0], rowLen, &src[0], &gatherMasks[cols], cols, n)
	case 2:
		gather8AVX2(&dst[0], rowLen, &src[0], &gatherMasks[cols], cols, n)
	default:
		for i := 0; i < n; i += halfTile {
			m := min(halfTile, n-i)
			gatherLow16AVX2(&dst[i], rowLen, &src[i*stride], stride, m)
			gatherHigh16AVX2(&dst[i], rowLen, &src[i*stride], stride, cols, m)
		}
	}
	return n
}

// halfTile is the number of elements whose first eight columns are moved before the other columns. All sixteen rows may
// map to one set of the first-level cache, which cannot hold a line of each.
const halfTile = 512

// scatterVector undoes gatherVector: it moves rows, which begin rowLen bytes apart in src, to the first cols byte
// columns of n elements, which are stride bytes apart in dst. It returns the number of elements it wrote, which may be
// less than n. If cols is stride, it may change up to 63 bytes of dst after these elements.
func scatterVector(dst []byte, stride int, src []byte, rowLen, cols, n int) int {
	done := 0
	if cpu.Has(cpu.AVX512) {
		done = scatter512(dst, stride, src, rowLen, cols, n)
	}
	if n -= done; n < vectorElements {
		return done
	}
	return done + scatter256(dst[done*stride:], stride, src[done:], rowLen, cols, n)
}

// scatter256 is scatterVector with AVX2.
func scatter256(dst []byte, stride int, src []byte, rowLen, cols, n int) int {
	perStore := loadElements(cols)
	n = vectorFit(len(dst), 16, stride, perStore, n) &^ (vectorElements - 1)
	if n == 0 {
		return 0
	}
	_ = src[(cols-1)*rowLen+n-1]
	switch {
	case joinFaster(cols):
		joinRows(dst, src, rowLen, cols, n)
	case perStore == 4:
		scatter3AVX2(&dst[0], &src[0], rowLen, &scatterMasks[cols], n)
	case perStore == 2:
		scatter8AVX2(&dst[0], &src[0], rowLen, &scatterMasks[cols], cols, n)
	default:
		scatter16AVX2(&dst[0], stride, &src[0], rowLen, cols, n)
	}
	return n
}

// loadElements returns the number of elements of width bytes, 1 to 16, that the kernels keep in 16 bytes.
func loadElements(width int) int {
	switch {
	case width <= 2:
		return 8
	case width <= 4:
		return 4
	case width <= 8:
		return 2
	}
	return 1
}

// vectorFit returns the number of elements, at most n, that a kernel can process in size bytes. The elements are stride
// bytes apart, and the kernel accesses access bytes at every k-th element.
func vectorFit(size, access, stride, k, n int) int {
	if size < access {
		return 0
	}
	return min(n, (size-access)/stride+k)
}

// gatherMasks and scatterMasks hold the masks of VPSHUFB for widths up to 8. They never change.
var (
	gatherMasks  = makeMasks(gatherMask)
	scatterMasks = makeMasks(scatterMask)
)

func makeMasks(f func(width, k int) [32]byte) (masks [9][32]byte) {
	for width := 2; width <= 8; width++ {
		masks[width] = f(width, loadElements(width))
	}
	return masks
}

// gatherMask returns the mask, the same in both lanes, that moves byte j of k elements of width bytes to unit j of k
// bytes.
func gatherMask(width, k int) (mask [32]byte) {
	for i := range mask {
		j, e := i%16/k, i%k
		mask[i] = 0x80 // a zero
		if j < width {
			mask[i] = byte(e*width + j)
		}
	}
	return mask
}

// scatterMask returns the mask, the same in both lanes, that packs k elements of width bytes, which are 16/k bytes
// apart.
func scatterMask(width, k int) (mask [32]byte) {
	for i := range mask {
		mask[i] = 0x80 // a zero
		if i%16 < k*width {
			mask[i] = byte(i%16/width*(16/k) + i%16%width)
		}
	}
	return mask
}

// The kernels below need AVX2. n is a multiple of 32 and not zero. Rows begin rowLen bytes apart.

// gather2AVX2 is the loop
//
//	for i := range n { dst[i], dst[rowLen+i] = src[2*i], src[2*i+1] }
//
//go:noescape
func gather2AVX2(dst *byte, rowLen int, src *byte, mask *[32]byte, n int)

// gather4AVX2 is the loop, for a width of 3 or 4 and its gatherMask,
//
//	for i := range n { for j := range width { dst[j*rowLen+i] = src[i*width+j] } }
//
// It reads src[:n*width+16-4*width].
//
//go:noescape
func gather4AVX2(dst *byte, rowLen int, src *byte, mask *[32]byte, width, n int)

// scatter3AVX2 is the loop, with the scatterMask for a width of 3,
//
//	for i := range n { for j := range 3 { dst[3*i+j] = src[j*rowLen+i] } }
//
// It writes dst[:3*n+4].
//
//go:noescape
func scatter3AVX2(dst, src *byte, rowLen int, mask *[32]byte, n int)

// gather8AVX2 is the loop of gather4AVX2 for a width of 5 to 8. It reads src[:n*width+16-2*width].
//
//go:noescape
func gather8AVX2(dst *byte, rowLen int, src *byte, mask *[32]byte, width, n int)

// scatter8AVX2 is the loop, for a width of 5 to 7 and its scatterMask,
//
//	for i := range n { for j := range width { dst[i*width+j] = src[j*rowLen+i] } }
//
// It writes dst[:n*width+16-2*width].
//
//go:noescape
func scatter8AVX2(dst, src *byte, rowLen int, mask *[32]byte, width, n int)

// gatherLow16AVX2 is the loop, for a stride of 9 or more,
//
//	for i := range n { for j := range 8 { dst[j*rowLen+i] = src[i*stride+j] } }
//
// It reads src[:(n-1)*stride+16].
//
//go:noescape
func gatherLow16AVX2(dst *byte, rowLen int, src *byte, stride, n int)

// gatherHigh16AVX2 is the loop, for 9 to 16 rows and a stride of at least their number,
//
//	for i := range n { for j := 8; j < rows; j++ { dst[j*rowLen+i] = src[i*stride+j] } }
//
// It reads src[:(n-1)*stride+16].
//
//go:noescape
func gatherHigh16AVX2(dst *byte, rowLen int, src *byte, stride, rows, n int)

// scatter16AVX2 is the loop, for 9 to 16 rows and a stride of at least their number,
//
//	for i := range n { for j := range rows { dst[i*stride+j] = src[j*rowLen+i] } }
//
// With fewer than 16 rows, the stride must be their number. The kernel writes dst[:(n-1)*stride+16].
//
//go:noescape
func scatter16AVX2(dst *byte, stride int, src *byte, rowLen, rows, n int)
