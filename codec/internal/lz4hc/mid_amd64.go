//go:build amd64 && !purego

package lz4hc

import "github.com/goblosc/blosc2/codec/internal/lz4block"

// scan does what scanGeneric does.
func (t *midTables) scan(b *block) (found, at int, best bool) {
	if generic || b.anchor > len(b.src)-lz4block.TailLength {
		return t.scanGeneric(b)
	}
	return scanKernel(t, b)
}

// scanKernel is scanGeneric where there may be a match. It also knows that there is no better one behind a match that was
// found by the hash of 4 bytes, mostly.
//
//go:noescape
func scanKernel(t *midTables, b *block) (found, at int, best bool)
