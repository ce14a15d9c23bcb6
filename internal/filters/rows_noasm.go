//go:build !((amd64 || arm64) && !purego)

package filters

// rowsLeast is not used: this build has no vectors.
const rowsLeast = vectorElements

func unshuffleRowsVector(dst, src []byte, width, n int, r *Rows) bool { return false }

func shuffleRowsVector(dst, src []byte, width, n int, r *Rows) bool { return false }

// shuffleRowsFaster returns false: the generic kernels need longer runs than rows to be faster.
func shuffleRowsFaster(width, length int) bool { return false }
