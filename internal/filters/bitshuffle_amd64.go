//go:build amd64 && !purego

package filters

import "github.com/goblosc/blosc2/internal/cpu"

// planeBytes is the number of bytes of a plane that one iteration of the AVX2 kernels processes.
const planeBytes = 256

// splitPlaneKernel and joinPlaneKernel are splitPlane and joinPlane for n bytes of a plane, a multiple of planeBytes.

func splitPlaneKernel(rows []byte, rowLen int, plane []byte, n int) {
	i := 0
	if m := n &^ (planeBytes512 - 1); cpu.Has(cpu.AVX512) && m > 0 {
		splitPlaneAVX512(&rows[0], rowLen, &plane[0], &splitMask512, m)
		i = m
	}
	if i < n {
		splitPlaneAVX2(&rows[i/8], rowLen, &plane[i], &gatherMasks[8], n-i)
	}
}

func joinPlaneKernel(plane, rows []byte, rowLen, n int) {
	i := 0
	if m := n &^ (planeBytes512 - 1); cpu.Has(cpu.AVX512) && m > 0 {
		joinPlaneAVX512(&plane[0], &rows[0], rowLen, &joinMask512, m)
		i = m
	}
	if i < n {
		joinPlaneAVX2(&plane[i], &rows[i/8], rowLen, n-i)
	}
}

// The kernels below need AVX2. n is a multiple of 256 and not zero.

// splitPlaneAVX2 is splitPlane(rows, rowLen, plane[:n]). mask is gatherMasks[8].
//
//go:noescape
func splitPlaneAVX2(rows *byte, rowLen int, plane *byte, mask *[32]byte, n int)

// joinPlaneAVX2 is joinPlane(plane[:n], rows, rowLen).
//
//go:noescape
func joinPlaneAVX2(plane, rows *byte, rowLen, n int)
