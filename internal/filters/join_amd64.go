//go:build amd64 && !purego

package filters

import (
	"unsafe"

	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

func joinFaster(width int) bool {
	return cpu.Has(vectorLevel) && (width == 2 || width == 4 || width == 8)
}

// joinVector does Join for elements of 2, 4 or 8 bytes with a kernel, and returns the number of elements that are done.
func joinVector(dst []byte, planes [][]byte, n int, uncached bool) int {
	width, first := len(planes), 0
	if !joinFaster(width) || n < vectorElements {
		return 0
	}
	if uncached = uncached && n >= 2*vectorElements; uncached {
		// Stores past the caches are aligned.
		//
		// Safe: dst is not empty, because n is not 0. The address is only a number.
		skip := int(-uintptr(unsafe.Pointer(&dst[0])) % vectorElements)
		if uncached = skip%width == 0; uncached {
			first = skip / width
		}
	}
	race.Write(dst)
	for _, p := range planes {
		race.Read(p)
	}
	join := func(from, n int, uncached bool) {
		var rows [8]*byte
		for j, p := range planes {
			rows[j] = &p[from]
		}
		joinKernel(&dst[from*width], &rows, width, n, uncached)
	}
	joinGeneric(dst, planes, first, 0)
	m := (n - first) &^ (vectorElements - 1)
	join(first, m, uncached)
	if first+m < n { // the last iteration repeats some elements
		join(n-vectorElements, vectorElements, false)
	}
	return n
}

// joinKernel calls the kernel for elements of 2, 4 or 8 bytes. n is a multiple of 32 and not zero.
func joinKernel(dst *byte, rows *[8]*byte, width, n int, uncached bool) {
	switch {
	case width == 2 && uncached:
		join2UncachedAVX2(dst, rows, n)
	case width == 2:
		join2AVX2(dst, rows, n)
	case width == 4 && uncached:
		join4UncachedAVX2(dst, rows, n)
	case width == 4:
		join4AVX2(dst, rows, n)
	case uncached:
		join8UncachedAVX2(dst, rows, n)
	default:
		join8AVX2(dst, rows, n)
	}
}

// joinRows is scatter256 for elements of 2, 4 or 8 bytes.
func joinRows(dst, src []byte, rowLen, width, n int) {
	var rows [8]*byte
	for j := range width {
		rows[j] = &src[j*rowLen]
	}
	joinKernel(&dst[0], &rows, width, n, false)
}

// The kernels below need AVX2. n is a multiple of 32 and not zero. Those with Uncached in their names write past the
// caches, and the address of their dst is a multiple of 32.

// join2AVX2 is the loop
//
//	for i := range n { for j := range 2 { dst[2*i+j] = rows[j][i] } }
//
//go:noescape
func join2AVX2(dst *byte, rows *[8]*byte, n int)

//go:noescape
func join2UncachedAVX2(dst *byte, rows *[8]*byte, n int)

// join4AVX2 is the loop
//
//	for i := range n { for j := range 4 { dst[4*i+j] = rows[j][i] } }
//
//go:noescape
func join4AVX2(dst *byte, rows *[8]*byte, n int)

//go:noescape
func join4UncachedAVX2(dst *byte, rows *[8]*byte, n int)

// join8AVX2 is the loop
//
//	for i := range n { for j := range 8 { dst[8*i+j] = rows[j][i] } }
//
//go:noescape
func join8AVX2(dst *byte, rows *[8]*byte, n int)

//go:noescape
func join8UncachedAVX2(dst *byte, rows *[8]*byte, n int)
