//go:build amd64 && !purego

package shuffle

// planeBytes is the number of bytes of a plane that the AVX2 kernels take in one turn.
const planeBytes = 256

// splitPlaneKernel and joinPlaneKernel are splitPlane and joinPlane for n bytes of a plane, a multiple of planeBytes.

func splitPlaneKernel(rows []byte, rowLen int, plane []byte, n int) {
	splitPlaneAVX2(&rows[0], rowLen, &plane[0], &gatherMasks[8], n)
}

func joinPlaneKernel(plane, rows []byte, rowLen, n int) {
	joinPlaneAVX2(&plane[0], &rows[0], rowLen, n)
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
