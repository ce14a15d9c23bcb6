//go:build (!amd64 && !arm64) || purego

package filters

// unshuffleRowsVector does UnshuffleRows by vectors, if it can: here it cannot.
func unshuffleRowsVector([]byte, []byte, int, int, *Rows) bool { return false }

// shuffleRowsVector is that for ShuffleRows.
func shuffleRowsVector([]byte, []byte, int, int, *Rows) bool { return false }

// shuffleRowsPay is ShuffleRowsPay: the generic kernels are faster with longer runs than rows are.
func shuffleRowsPay(_, _ int) bool { return false }

// rowsPay is RowsPay for what the generic kernels do.
func rowsPay(_, length int) bool { return length >= rowsGeneric }
