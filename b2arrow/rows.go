package b2arrow

import (
	"context"
	"iter"

	"github.com/goblosc/blosc2/ndarray"
)

// window is the number of bytes around deleted rows that are read at once.
const window = 512 << 10

// span is the stored rows from to to-1.
type span struct{ from, to int64 }

// groups joins ranges of rows, in ascending order and not empty, to groups of up to size rows with the rows between
// them. A range of more rows is a group of its own.
func groups(ranges iter.Seq2[int64, int64], size int64) iter.Seq[[]span] {
	return func(yield func([]span) bool) {
		var g []span
		for from, to := range ranges {
			if len(g) > 0 && to-g[0].from > size {
				if !yield(g) {
					return
				}
				g = g[:0]
			}
			g = append(g, span{from, to})
		}
		if len(g) > 0 {
			yield(g)
		}
	}
}

// readRows reads ranges of rows of an array into dst, as they are stored. size is the number of bytes of a row.
func readRows(ctx context.Context, a *ndarray.Array, ranges iter.Seq2[int64, int64], size int64, dst []byte) error {
	var around []byte
	for g := range groups(ranges, window/max(size, 1)) {
		base, end := g[0].from, g[len(g)-1].to
		if len(g) == 1 {
			n := (end - base) * size
			if err := a.ReadBytes(ctx, dst[:n], ndarray.Span(base, end)); err != nil {
				return err
			}
			dst = dst[n:]
			continue
		}
		if around == nil {
			around = make([]byte, window)
		}
		if err := a.ReadBytes(ctx, around[:(end-base)*size], ndarray.Span(base, end)); err != nil {
			return err
		}
		for _, s := range g {
			dst = dst[copy(dst, around[(s.from-base)*size:(s.to-base)*size]):]
		}
	}
	return nil
}
