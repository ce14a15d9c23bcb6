//go:build !((amd64 || arm64) && !purego)

package filters

import "github.com/goblosc/blosc2/internal/cpu"

// vectorLevel is a level that no machine has in a build without assembly, so that the Go versions always run.
const vectorLevel = cpu.Baseline

const vectorElements = 16

// gatherVector moves no elements.
func gatherVector(dst []byte, rowLen int, src []byte, stride, cols, n int) int { return 0 }

// scatterVector moves no elements.
func scatterVector(dst []byte, stride int, src []byte, rowLen, cols, n int) int { return 0 }

const planeBytes = 128

func splitPlaneKernel(rows []byte, rowLen int, plane []byte, n int) {
	splitPlane(rows, rowLen, plane[:n])
}

func joinPlaneKernel(plane, rows []byte, rowLen, n int) { joinPlane(plane[:n], rows, rowLen) }

func byteDiffKernel(dst, src []byte) { byteDiffGeneric(dst, src, 1) }

func byteSumKernel(dst, src []byte) { byteSumGeneric(dst, src, 0) }

// rowsLeast is not used: this build has no vectors.
const rowsLeast = vectorElements

func unshuffleRowsVector(dst, src []byte, width, n int, r *Rows) bool { return false }

func shuffleRowsVector(dst, src []byte, width, n int, r *Rows) bool { return false }

// ShuffleRowsFaster reports whether ShuffleRows is faster than copying all rows of a block, of length elements each,
// and [Shuffle]. It returns false: the generic kernels need longer runs than rows.
func ShuffleRowsFaster(width, length int) bool { return false }
