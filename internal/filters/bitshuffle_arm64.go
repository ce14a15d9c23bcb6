//go:build arm64 && !purego

package filters

// planeBytes is the number of bytes of a plane that one iteration of the NEON kernels processes.
const planeBytes = 128

// splitPlaneKernel and joinPlaneKernel are splitPlane and joinPlane for n bytes of a plane, a multiple of planeBytes.

func splitPlaneKernel(rows []byte, rowLen int, plane []byte, n int) {
	splitPlaneNEON(&rows[0], rowLen, &plane[0], n)
}

func joinPlaneKernel(plane, rows []byte, rowLen, n int) {
	joinPlaneNEON(&plane[0], &rows[0], rowLen, n)
}

// In the kernels below n is a multiple of 128 and not zero.

// splitPlaneNEON is splitPlane(rows, rowLen, plane[:n]).
//
//go:noescape
func splitPlaneNEON(rows *byte, rowLen int, plane *byte, n int)

// joinPlaneNEON is joinPlane(plane[:n], rows, rowLen).
//
//go:noescape
func joinPlaneNEON(plane, rows *byte, rowLen, n int)
