//go:build !((amd64 || arm64) && !purego)

package filters

// rowsLeast is the length of the shortest rows for vectors, of which there are none.
const rowsLeast = vectorElements

func unshuffleRowsVector(dst, src []byte, width, n int, r *Rows) bool { return false }

func shuffleRowsVector(dst, src []byte, width, n int, r *Rows) bool { return false }

// shuffleRowsFaster returns false: the generic kernels are faster with longer runs than rows are.
func shuffleRowsFaster(width, length int) bool { return false }
