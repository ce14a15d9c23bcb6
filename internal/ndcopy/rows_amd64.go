//go:build amd64 && !purego

package ndcopy

import (
	"math"
	"math/bits"

	"github.com/goblosc/blosc2/internal/race"
)

// The widths of rows that copyRows is for. Wider ones are better copied by Go, whose rows a processor sees coming.
const (
	minRow = 32
	maxRow = 512
)

// rows copies n rows of width bytes, minRow to maxRow, ds bytes apart in dst from d on, and ss bytes apart in src from
// s on. dstAhead and srcAhead are how far from d and s the rows are that will be copied then, or 0.
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
// for a width of 16 or more. It brings dst[dstAhead:][:width] and src[srcAhead:][:width], which need not be there,
// into the cache on the way: memory takes longer to give a line than a row takes, and rows that lie apart are not
// foreseen by the processor.
//
//go:noescape
func copyRows(dst, src *byte, n, ds, ss, width, dstAhead, srcAhead int)
