//go:build !(amd64 && !purego)

package ndcopy

// No width is one for rows.
const (
	minRow = 1
	maxRow = 0
)

func rows(dst, src []byte, d, s, n, ds, ss, width, dstAhead, srcAhead int) {}
