//go:build amd64 && !purego

package lz4hc

import "github.com/goblosc/blosc2/codec/internal/lz4block"

// scan does what scanGeneric does.
func (t *midTables) scan(b *block, pos int) (found, at int, long bool) {
	if generic || pos > len(b.src)-lz4block.TailLength {
		return t.scanGeneric(b, pos)
	}
	return scanKernel(t, b, pos)
}

// scanKernel is scanGeneric where pos may have a match.
//
//go:noescape
func scanKernel(t *midTables, b *block, pos int) (found, at int, long bool)
