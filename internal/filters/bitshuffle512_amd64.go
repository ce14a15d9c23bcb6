//go:build amd64 && !purego

package filters

// planeBytes512 is the number of bytes of a plane that one iteration of the AVX-512 kernels processes.
const planeBytes512 = 512

// splitMask512 and joinMask512 are masks of VPERMB. Both move byte j of eight quadwords to quadword j. joinMask512 also
// reverses the bytes of each quadword. They never change.
var (
	splitMask512 = makeQuadMask(0)
	joinMask512  = makeQuadMask(7)
)

func makeQuadMask(flip int) (mask [64]byte) {
	for i := range mask {
		mask[i] = byte((i%8^flip)*8 + i/8)
	}
	return mask
}

// The kernels below need AVX-512 with VBMI and GFNI. n is a multiple of 512 and not zero.

// splitPlaneAVX512 is splitPlane(rows, rowLen, plane[:n]). mask is splitMask512.
//
//go:noescape
func splitPlaneAVX512(rows *byte, rowLen int, plane *byte, mask *[64]byte, n int)

// joinPlaneAVX512 is joinPlane(plane[:n], rows, rowLen). mask is joinMask512.
//
//go:noescape
func joinPlaneAVX512(plane, rows *byte, rowLen int, mask *[64]byte, n int)
