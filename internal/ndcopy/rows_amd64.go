//go:build amd64 && !purego

package ndcopy

import (
	"math"
	"math/bits"

	"github.com/goblosc/blosc2/internal/race"
)

// copyRows copies rows of minRow to maxRow bytes. Go's copy is faster for wider rows, which the hardware prefetcher
// detects.
const (
	minRow = 32
	maxRow = 512
)

// rows copies n rows of width bytes, minRow to maxRow. The first row is at d in dst and s in src. The rows are ds bytes
// apart in dst and ss bytes apart in src. dstAhead and srcAhead are the distances from d and s to the rows that are
// copied next, or 0.
func rows(dst, src []byte, d, s, n, ds, ss, width, dstAhead, srcAhead int) {
	if n <= 0 {
		return
	}
	// If the first and the last row lie inside, and the way between them does not overflow, all do.
	lastD, lastS := d+way(n-1, ds), s+way(n-1, ss)
	_, _ = dst[d:d+width], dst[lastD:lastD+width]
	_, _ = src[s:s+width], src[lastS:lastS+width]
	if race.Enabled {
		for i := range n {
			race.Read(src[s+i*ss:][:width])
			race.Write(dst[d+i*ds:][:width])
		}
	}
	copyRows(&dst[d], &src[s], n, ds, ss, width, dstAhead, srcAhead)
}

// way returns n steps. It panics if they overflow.
func way(n, step int) int {
	far := step
	if step < 0 {
		far = -step
	}
	if hi, lo := bits.Mul64(uint64(n), uint64(far)); hi > 0 || lo > math.MaxInt/2 {
		panic("ndcopy: rows lie outside of their buffers")
	}
	return n * step
}

// copyRows is the loop
//
//	for range n { copy(dst[:width], src[:width]); dst, src = dst[ds:], src[ss:] }
//
// for a width of 16 or more. It also prefetches dst[dstAhead:][:width] and src[srcAhead:][:width], which need not
// exist. Loading a cache line takes longer than copying a row, and the hardware prefetcher does not predict rows that
// are far apart.
//
//go:noescape
func copyRows(dst, src *byte, n, ds, ss, width, dstAhead, srcAhead int)
