//go:build !(amd64 && !purego)

package ndcopy

// No width is from minRow to maxRow: rows is never called.
const (
	minRow = 1
	maxRow = 0
)

func rows(dst, src []byte, d, s, n, ds, ss, width, dstAhead, srcAhead int) {}
