//go:build !((amd64 || arm64) && !purego)

package filters

const planeBytes = 128

func splitPlaneKernel(rows []byte, rowLen int, plane []byte, n int) {
	splitPlane(rows, rowLen, plane[:n])
}

func joinPlaneKernel(plane, rows []byte, rowLen, n int) { joinPlane(plane[:n], rows, rowLen) }
