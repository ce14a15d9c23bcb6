package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/goblosc/blosc2/examples/compare/cblosc"
	"github.com/goblosc/blosc2/shuffle"
)

var errDiffer = errors.New("the two sides differ")

// filter is a filter on both sides.
type filter struct {
	name string
	ours func(dst, src []byte, size int)
	c    func(dst, src []byte, size int)
}

var filters = []filter{
	{"shuffle", shuffle.Shuffle, cblosc.Shuffle},
	{"unshuffle", shuffle.Unshuffle, cblosc.Unshuffle},
	{"bitshuffle", shuffle.BitShuffle, cblosc.BitShuffle},
	{"bitunshuffle", shuffle.BitUnshuffle, cblosc.BitUnshuffle},
}

// kernels runs the filters on a block that fits in the second-level cache, and on a whole chunk.
func (c *config) kernels() (rows []row, err error) {
	for _, f := range filters {
		for _, size := range []int{2, 3, 4, 6, 7, 8, 12, 16, 24, 32} {
			for _, n := range []int{min(256<<10, c.size), c.size} {
				name := fmt.Sprintf("%s/%d/%dK", f.name, size, n>>10)
				if !c.wants("kernels/"+name) || n == c.size && c.size <= 256<<10 && len(rows) > 0 && rows[len(rows)-1].Name == name {
					continue
				}
				n -= n % (8 * size) // for a remainder, the functions of the C library differ from its filters
				src, ours, theirs := make([]byte, n), make([]byte, n), make([]byte, n)
				random(src)
				f.ours(ours, src, size)
				f.c(theirs, src, size)
				if !bytes.Equal(ours, theirs) {
					return rows, fmt.Errorf("kernels/%s: %w", name, errDiffer)
				}
				r, err := c.race("kernels", name, int64(n),
					func() error { f.ours(ours, src, size); return nil },
					func() error { f.c(ours, src, size); return nil })
				if err != nil {
					return rows, err
				}
				rows = append(rows, r)
			}
		}
	}
	return rows, nil
}
